#![no_main]

#[path = "../checks/limit.rs"]
mod limit;

libfuzzer_sys::fuzz_target!(|data: &[u8]| limit::check(data));
