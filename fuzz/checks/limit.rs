//! A limit that was read is written so that the same limit is read again.

use paceline_engine::Limit;

pub(crate) fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    match text.parse::<Limit>() {
        Ok(limit) => {
            let written = limit.to_string();
            let again = written.parse::<Limit>();
            assert_eq!(again.as_ref(), Ok(&limit), "{text:?} is {written:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
