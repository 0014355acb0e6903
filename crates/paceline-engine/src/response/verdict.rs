//! Which kind of outcome a response is, from its status and what was found in its head.

use http::StatusCode;

use crate::Verdict;

/// What besides the status speaks for a refusal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// There was a Retry-After that could be read.
    pub(super) hint: bool,
    /// It was longer than nothing.
    pub(super) positive_hint: bool,
    /// A window reported that nothing is left.
    pub(super) exhausted: bool,
}

/// Classes a response. Without evidence a 403 stays a question of permission and a 418 a joke.
pub(super) fn classify(status: StatusCode, evidence: Evidence) -> Verdict {
    match status.as_u16() {
        429 | 420 => Verdict::RateLimited,
        418 if evidence.hint => Verdict::RateLimited,
        403 if evidence.positive_hint || evidence.exhausted => Verdict::RateLimited,
        503 | 529 => Verdict::Overloaded,
        500..=599 if evidence.hint => Verdict::Overloaded,
        // Not modified is an answer, not a pointer to one.
        100..=299 | 304 => Verdict::Ok,
        300..=399 => Verdict::Redirect,
        _ => Verdict::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_alone() {
        let plain = |status| {
            let status = StatusCode::from_u16(status).expect("a status");
            classify(status, Evidence::default())
        };
        for (status, verdict) in [
            (200, Verdict::Ok),
            (101, Verdict::Ok),
            (304, Verdict::Ok),
            (301, Verdict::Redirect),
            (403, Verdict::Other),
            (418, Verdict::Other),
            (420, Verdict::RateLimited),
            (429, Verdict::RateLimited),
            (500, Verdict::Other),
            (502, Verdict::Other),
            (503, Verdict::Overloaded),
            (529, Verdict::Overloaded),
            (999, Verdict::Other),
        ] {
            assert_eq!(plain(status), verdict, "{status}");
        }
    }

    #[test]
    fn evidence_turns_a_status_into_a_refusal() {
        let zero_hint = Evidence {
            hint: true,
            ..Evidence::default()
        };
        let exhausted = Evidence {
            exhausted: true,
            ..Evidence::default()
        };
        assert_eq!(classify(StatusCode::FORBIDDEN, zero_hint), Verdict::Other);
        assert_eq!(
            classify(StatusCode::FORBIDDEN, exhausted),
            Verdict::RateLimited
        );
        assert_eq!(
            classify(StatusCode::IM_A_TEAPOT, zero_hint),
            Verdict::RateLimited
        );
        assert_eq!(
            classify(StatusCode::BAD_GATEWAY, zero_hint),
            Verdict::Overloaded
        );
        assert_eq!(classify(StatusCode::NOT_FOUND, zero_hint), Verdict::Other);
        assert_eq!(classify(StatusCode::OK, exhausted), Verdict::Ok);
    }
}
