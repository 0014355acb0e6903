#![no_main]

#[path = "../checks/dialect.rs"]
mod dialect;
#[expect(dead_code, reason = "what must not change a reading is asked of heads alone")]
#[path = "../checks/head.rs"]
mod head;

libfuzzer_sys::fuzz_target!(|data: &[u8]| dialect::check(data));
