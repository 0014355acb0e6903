#![no_main]

#[path = "../checks/scenario.rs"]
mod scenario;

libfuzzer_sys::fuzz_target!(|data: &[u8]| scenario::check(data));
