//! Any budget, any durations.

use proptest::prelude::*;

use super::*;

/// A budget and what a request takes of it, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Case {
    amount: u64,
    period: u64,
    takes: u64,
}

impl Case {
    fn shift(self) -> Shift {
        let secs = |millis: u64| format!("{}.{:03}s", millis / 1000, millis % 1000);
        Shift::new(&format!(
            "{} server time / {}",
            secs(self.amount),
            secs(self.period)
        ))
    }

    /// As many as could ever be under way at once.
    fn workers(self) -> usize {
        usize::try_from(self.amount / self.takes + 2).expect("a few")
    }

    fn nanos(self) -> u128 {
        u128::from(self.amount) * 1_000_000
    }

    /// How much of what there is was used from the sixth period to the end of the tenth.
    fn used(self, shift: &Shift) -> f64 {
        let worked = shift.worked(at(5 * self.period), at(10 * self.period));
        worked as f64 / (5 * self.nanos()) as f64
    }
}

/// Requests take a part of the budget, from one such of them to the other.
fn case(parts: core::ops::Range<u64>) -> impl Strategy<Value = Case> {
    (100..40_000_u64, 200..20_000_u64, parts).prop_map(|(amount, period, part)| Case {
        amount: amount.min(2 * period),
        period,
        takes: (amount.min(period) / part).max(1),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 50, ..ProptestConfig::default() })]

    /// However the server counts: when a request begins, while it goes on, or when it ends.
    #[test]
    fn what_all_take_alike_never_comes_to_more(case in case(1..20)) {
        let mut shift = case.shift();
        shift.work(case.workers(), at(5 * case.period), |_| ms(case.takes));
        let period = ms(case.period);
        prop_assert!(shift.most_going_on(period) <= case.nanos());
        prop_assert!(shift.most_begun(period) <= case.nanos());
        prop_assert!(shift.most_ended(period) <= case.nanos());
    }

    /// All but what goes by while nobody knows yet how the server counts: one request in a period.
    #[test]
    fn and_what_there_is_is_used(case in case(20..30)) {
        let mut shift = case.shift();
        shift.work(case.workers(), at(10 * case.period), |_| ms(case.takes));
        let used = case.used(&shift);
        prop_assert!((0.9..=1.0).contains(&used), "{used}");
    }

    /// From a tenth of what is usual to twice that, and one in ten ten times.
    #[test]
    fn whatever_each_takes_nobody_starts_where_more_was_worked(case in case(10..20), seed in any::<u64>()) {
        let mut dice = fastrand::Rng::with_seed(seed);
        let takes = |_| {
            let part = ms(case.takes) * dice.u32(1..=20) / 10;
            if dice.u8(..10) == 0 { part * 10 } else { part }
        };
        let mut shift = case.shift();
        shift.work(case.workers(), at(5 * case.period), takes);
        prop_assert!(shift.most_over_by_a_start(ms(case.period)) <= case.nanos());
    }

    #[test]
    fn nor_where_the_server_has_become_quick(case in case(2..10), quick in 2..10_u32) {
        let mut shift = case.shift();
        shift.work(case.workers(), at(3 * case.period), |_| ms(case.takes));
        shift.work(case.workers(), at(5 * case.period), |_| ms(case.takes) / quick);
        prop_assert!(shift.most_over_by_a_start(ms(case.period)) <= case.nanos());
    }
}
