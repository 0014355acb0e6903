//! Which segments of a path are words of an API, and which name one of many objects.

/// A word of an API has fewer digits: `v10`, `oauth2`, `sha256`.
const DIGITS_OF_AN_OBJECT: usize = 4;
/// What is written in letters of both cases and digits is a word below that length.
const MIXED: usize = 12;
/// No word is longer without a hyphen, a dot or an underscore in it.
const LONGEST_WORD: usize = 31;
/// Fewer hexadecimal digits may be a word: `feed`, `cafe2`.
const HEX: usize = 8;

/// Whether a segment names an object: a number, a UUID, a hash, an address, anything else that no API's author wrote.
/// Names made of plain words cannot be told from an API's own.
pub(super) fn names_an_object(segment: &str) -> bool {
    let bytes = segment.as_bytes();
    // `@me`, `@original` are words.
    let plain = |(i, b): (usize, &u8)| {
        b.is_ascii_alphanumeric()
            || matches!(b, b'-' | b'_' | b'.' | b':')
            || (i == 0 && *b == b'@')
    };
    if bytes.is_empty() || matches!(bytes, b"." | b"-" | b"_") {
        return false;
    }
    if !bytes.iter().enumerate().all(plain) {
        return true;
    }
    let count = |is: fn(&u8) -> bool| bytes.iter().filter(|b| is(b)).count();
    let digits = count(u8::is_ascii_digit);
    let (lower, upper) = (count(u8::is_ascii_lowercase), count(u8::is_ascii_uppercase));
    let hex = count(u8::is_ascii_hexdigit) + count(|b| *b == b'-');
    let mixed = digits > 0 && lower > 0 && upper > 0 && bytes.len() >= MIXED;
    let broken = bytes.iter().any(|b| matches!(b, b'-' | b'_' | b'.' | b':'));
    lower == 0
        || digits >= DIGITS_OF_AN_OBJECT
        || (digits > 0 && hex == bytes.len() && bytes.len() >= HEX)
        || mixed
        || (!broken && bytes.len() > LONGEST_WORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_and_objects_go() {
        for word in [
            "",
            "api",
            "v10",
            "v1.1",
            "chat.postMessage",
            "oauth2",
            "@me",
            "@original",
            "rate_limit",
            "code-scanning",
            "b2_list_file_names",
            "models:list",
            "sha256",
            "marketplaceParticipations",
            "conversations.history",
            "feed",
            "-",
            "s3",
        ] {
            assert!(!names_an_object(word), "{word}");
        }
        for object in [
            "1",
            "41771983423143937",
            "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
            "deadbeef1",
            "00ub0oNGTSWTBKOLGLNR",
            "PROJ-123",
            "PROJ",
            "a@b.example",
            "auth0%7C5f7c8ec7",
            "%F0%9F%91%8D",
            "1;2;3",
            "B07N4M94X4",
            "902-3159896-1390916",
            "2022-04-01",
            "user12345",
            "wxyzwxyzwxyzwxyzwxyzwxyzwxyzwxyzw",
            "*",
            "appAbCdEf1GhIjK",
        ] {
            assert!(names_an_object(object), "{object}");
        }
    }
}
