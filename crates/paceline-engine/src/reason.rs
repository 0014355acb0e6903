//! Why a request waits, or why it was not sent, or not sent again.

use core::fmt;

macro_rules! reasons {
    ($($(#[$doc:meta])+ $name:ident = $code:literal, $says:literal;)+) => {
        /// Why a ticket waits, or why a request ended as it did.
        ///
        /// Part of every wait, error, event, metric and status line. The codes are stable: scripts and dashboards use them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])+ $name,)+
        }

        impl Reason {
            /// Every reason, in the order of this page.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The stable code, as in JSON and metric labels.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// What it means, as a fragment that follows "waiting: " or "gave up: ".
            pub const fn explanation(self) -> &'static str {
                match self {
                    $(Self::$name => $says,)+
                }
            }
        }
    };
}

reasons! {
    /// A configured rate is used up for now.
    Limit = "limit", "the configured limit is used up for now";
    /// A configured number of requests is in flight.
    InFlight = "in_flight", "as many requests are in flight as the configuration allows";
    /// A window that the upstream reported has nothing left.
    Window = "window", "the upstream said that its window is used up";
    /// The upstream asked for a stop.
    Pause = "pause", "the upstream asked for a pause";
    /// A person asked for a stop.
    ByHand = "by_hand", "somebody paused it by hand";
    /// The pace that was learned from refusals.
    Belief = "belief", "the pace that the upstream was found to allow";
    /// The upstream refuses or fails everything; one probe at a time asks it again.
    Circuit = "circuit", "the upstream refuses or fails everything";
    /// Others arrived before, or matter more.
    Turn = "turn", "others are before it in the line";
    /// The request's own delay before it is sent again.
    Backoff = "backoff", "the request's own delay before its next attempt";

    /// The wait could not end before the caller's deadline.
    Deadline = "deadline", "its time would end before its turn came";
    /// The line is as long as it may be.
    QueueFull = "queue_full", "too many requests are waiting already";
    /// The request costs more than a limit ever allows.
    TooCostly = "too_costly", "it costs more than a limit ever allows";
    /// It may not wait at all.
    BestEffort = "best_effort", "it could not go at once, and it may not wait";
    /// As many attempts failed as the policy allows.
    Attempts = "attempts", "all attempts are used";
    /// Retries of this upstream have used up their share of its successes.
    Budget = "budget", "retries have used up their share of the upstream's successes";
    /// This request is refused while its neighbours are served.
    Poisoned = "poisoned", "it is refused while others are served";
    /// A quota or a bill is exhausted: no wait of a useful length would change it.
    Quota = "quota", "the upstream's quota is used up, and waiting a little is pointless";
    /// The answer is final: trying again would not change it.
    Final = "final", "the answer is final";
    /// The method may not be repeated without the caller's word.
    NotIdempotent = "not_idempotent", "repeating it might do it twice";
    /// The body went out once and cannot be sent again.
    BodyGone = "body_gone", "its body can be sent only once";
    /// The upstream could not be reached or broke off.
    Failure = "failure", "the upstream could not be reached or broke off";
    /// The caller went away.
    Cancelled = "cancelled", "the caller went away";
    /// The pace line was shut down.
    Shutdown = "shutdown", "the pace line was shut down";
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.explanation())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_plain() {
        for (i, reason) in Reason::ALL.iter().enumerate() {
            assert!(
                reason
                    .code()
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b == b'_')
            );
            assert!(
                !Reason::ALL[..i]
                    .iter()
                    .any(|other| other.code() == reason.code())
            );
        }
    }
}
