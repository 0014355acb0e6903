#![no_main]

#[path = "../checks/head.rs"]
mod head;

libfuzzer_sys::fuzz_target!(|data: &[u8]| head::check(data));
