//! Several limiters at once: each must admit, then each is charged.

use core::time::Duration;

use super::Model;

#[derive(Clone, Debug)]
pub(super) struct AllOf {
    parts: Vec<Model>,
}

impl AllOf {
    pub(super) fn new(parts: Vec<Model>) -> Self {
        Self { parts }
    }

    /// The longest wait of those that refuse. Every part is asked, also after one has refused, so
    /// that the dice of one do not depend on the state of another; a sliding log that counts
    /// refusals counts only its own.
    pub(super) fn ask(&mut self, now: u64, request: Option<u64>) -> Result<(), Duration> {
        let refusals = self
            .parts
            .iter_mut()
            .filter_map(|part| part.ask(now, request).err());
        refusals
            .map(|refusal| refusal.exact_wait)
            .max()
            .map_or(Ok(()), Err)
    }

    pub(super) fn charge(&mut self, now: u64) {
        for part in &mut self.parts {
            part.charge(now);
        }
    }

    pub(super) fn release(&mut self, now: u64) {
        for part in &mut self.parts {
            part.release(now);
        }
    }

    pub(super) fn silence(&mut self) {
        self.parts.iter_mut().for_each(Model::silence);
    }

    pub(super) fn holds_slots(&self) -> bool {
        self.parts.iter().any(Model::holds_slots)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::lab::{Lab, ms, secs};
    use crate::{RetryAfter, ServerSpec};

    fn ten_a_second_and_fifteen_a_minute() -> Lab {
        let parts = [
            ServerSpec::token_bucket(10.0, 10),
            ServerSpec::fixed_window(15, secs(60), Duration::ZERO),
        ];
        Lab::new(
            ServerSpec::all_of(parts)
                .retry_after(RetryAfter::Ceil)
                .status(503),
        )
    }

    #[test]
    fn the_refusal_names_the_longest_wait_in_the_words_of_the_whole() {
        let mut lab = ten_a_second_and_fifteen_a_minute();
        lab.at(secs(0))
            .admits(10)
            .refuses_for(ms(100))
            .saying("1")
            .with_status(503);
        lab.at(ms(500))
            .admits(5)
            .refuses_for(ms(59_500))
            .saying("60")
            .with_status(503);
    }

    #[test]
    fn a_part_that_refuses_charges_none() {
        let mut lab = ten_a_second_and_fifteen_a_minute();
        // Were the window charged for these hundred, only 10 would be admitted in the minute.
        lab.at(secs(0)).admits(10).refuses(100);
        lab.at(ms(500)).admits(5).refuses(100);
        // Were the bucket charged for those hundred, it would not be full after a minute.
        lab.at(secs(60)).admits(10).refuses(1);
    }
}
