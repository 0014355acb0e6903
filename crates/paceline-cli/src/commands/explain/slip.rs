//! Slips of the hand: a key that is almost one of those that are known.

/// The known word that was meant by one that is a letter away, two letters swapped, or in another case. Words that are
/// further away are somebody else's.
pub(super) fn slip(word: &str, known: &[&'static str]) -> Option<&'static str> {
    if known.contains(&word) {
        return None;
    }
    let lower = word.to_lowercase();
    // Of two letters almost everything is a slip.
    let near = |own: &&&str| lower == **own || (own.len() > 2 && is_near(&lower, own));
    known.iter().find(near).copied()
}

fn is_near(word: &str, known: &str) -> bool {
    let (word, known): (Vec<_>, Vec<_>) = (word.chars().collect(), known.chars().collect());
    let begin = word.iter().zip(&known).take_while(|(a, b)| a == b).count();
    let (word, known) = (&word[begin..], &known[begin..]);
    let end = word
        .iter()
        .rev()
        .zip(known.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (word, known) = (&word[..word.len() - end], &known[..known.len() - end]);
    match (word, known) {
        ([], [_]) | ([_], [] | [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_seen_and_words_of_others_are_left_alone() {
        let known = ["id", "now", "status", "headers", "body"];
        for (word, meant) in [
            ("bdy", Some("body")),
            ("bodyy", Some("body")),
            ("boby", Some("body")),
            ("stauts", Some("status")),
            ("header", Some("headers")),
            ("Status", Some("status")),
            ("ID", Some("id")),
            ("body", None),
            ("note", None),
            ("source", None),
            ("state", None),
            ("idx", None),
            ("", None),
            ("\u{fc}ber", None),
        ] {
            assert_eq!(slip(word, &known), meant, "{word}");
        }
    }
}
