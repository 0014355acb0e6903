//! Numbers as header fields write them: ASCII digits, maybe a fraction, and nothing else.
//!
//! `str::parse` is not used: Rust accepts `+5`, other languages accept `1_000`, `0x10`, `inf` and
//! Arabic-Indic digits, and none of these is what a server meant.

/// A number that is not negative, in whole units and billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Decimal {
    /// Whole units; too many digits for a `u64` saturate.
    pub(super) whole: u64,
    /// Billionths, below 10^9, rounded up: who waits this long never wakes early.
    pub(super) billionths: u32,
}

impl Decimal {
    /// A whole number.
    pub(super) const fn whole(whole: u64) -> Self {
        Self {
            whole,
            billionths: 0,
        }
    }

    /// The number in units of `1 / per_unit`, rounded down; `per_unit` is at most 10^9.
    pub(super) fn scaled(self, per_unit: u64) -> u128 {
        u128::from(self.whole) * u128::from(per_unit)
            + u128::from(self.billionths) * u128::from(per_unit) / u128::from(BILLION)
    }

    /// The next whole number that is not less.
    pub(super) fn rounded_up(self) -> u64 {
        self.whole.saturating_add(u64::from(self.billionths > 0))
    }

    /// So many times as much.
    pub(super) fn times(self, factor: u32) -> Self {
        let billionths = u64::from(self.billionths) * u64::from(factor);
        let whole = self.whole.saturating_mul(u64::from(factor));
        Self {
            whole: whole.saturating_add(billionths / BILLION),
            billionths: u32::try_from(billionths % BILLION).unwrap_or(0),
        }
    }

    /// What is left of it, nothing if `used` is more.
    pub(super) fn minus(self, used: Self) -> Option<Self> {
        let billionths = self.scaled(BILLION).saturating_sub(used.scaled(BILLION));
        Some(Self {
            whole: u64::try_from(billionths / u128::from(BILLION)).ok()?,
            billionths: u32::try_from(billionths % u128::from(BILLION)).ok()?,
        })
    }

    /// The same in thousandths.
    pub(super) fn milli(self) -> u128 {
        self.scaled(1000)
    }
}

/// One member of a list of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// A number.
    Known(Decimal),
    /// A minus sign and a number: what it means depends on the field.
    Negative,
    /// A word, a blank, anything else.
    Malformed,
}

/// The value without the whitespace that a field may have around it: space and tab, nothing wider.
pub(super) fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// `12` or `1.5`.
pub(super) fn decimal(value: &[u8]) -> Option<Decimal> {
    let mut parts = value.splitn(2, |&byte| byte == b'.');
    let whole = digits(parts.next()?)?;
    let billionths = parts.next().map_or(Some(0), fraction)?;
    Some(if billionths == BILLION {
        Decimal::whole(whole.saturating_add(1))
    } else {
        Decimal {
            whole,
            billionths: u32::try_from(billionths).ok()?,
        }
    })
}

/// One or more digits; more than fit are [`u64::MAX`].
pub(super) fn digits(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(value.iter().fold(0_u64, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(u64::from(digit - b'0'))
    }))
}

/// The digits after the point, in billionths rounded up.
fn fraction(value: &[u8]) -> Option<u64> {
    digits(value)?;
    let (kept, dropped) = value.split_at(value.len().min(9));
    let scale = 10_u64.pow(9 - u32::try_from(kept.len()).ok()?);
    let up = u64::from(dropped.iter().any(|&digit| digit != b'0'));
    Some(digits(kept)? * scale + up)
}

/// `5,000`: groups of three, no space, and therefore one number rather than a list.
pub(super) fn thousands(value: &[u8]) -> Option<u64> {
    let mut groups = value.split(|&byte| byte == b',');
    let first = groups.next()?;
    if !(1..=3).contains(&first.len()) || first[0] == b'0' {
        return None;
    }
    let mut number = digits(first)?;
    let mut more = false;
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        number = number.saturating_mul(1000).saturating_add(digits(group)?);
        more = true;
    }
    more.then_some(number)
}

/// The members of a comma-separated list of counts.
pub(super) fn counts(value: &[u8]) -> impl Iterator<Item = Count> {
    value.split(|&byte| byte == b',').map(|member| {
        let member = trim(member);
        match (decimal(member), member) {
            (Some(number), _) => Count::Known(number),
            (None, [b'-', number @ ..]) if decimal(number).is_some() => Count::Negative,
            _ => Count::Malformed,
        }
    })
}

const BILLION: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_and_one_point_are_a_number() {
        assert_eq!(decimal(b"000007"), Some(Decimal::whole(7)));
        assert_eq!(
            decimal(b"1.5"),
            Some(Decimal {
                whole: 1,
                billionths: 500_000_000
            })
        );
        for bad in [
            "", "+5", "-5", "1_000", "0x10", "1e3", "1.", ".5", "1.2.3", " 1", "inf",
        ] {
            assert_eq!(decimal(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn too_many_digits_saturate_and_small_fractions_round_up() {
        assert_eq!(decimal(&[b'9'; 400]), Some(Decimal::whole(u64::MAX)));
        assert_eq!(
            decimal(b"0.0000000001"),
            Some(Decimal {
                whole: 0,
                billionths: 1
            })
        );
        assert_eq!(decimal(b"1.9999999999"), Some(Decimal::whole(2)));
    }

    #[test]
    fn groups_of_three_are_one_number_and_other_commas_a_list() {
        assert_eq!(thousands(b"5,000"), Some(5000));
        assert_eq!(thousands(b"1,234,567"), Some(1_234_567));
        for list in ["5000", "991, 98", "991,98", "0,000", "1234,567", ",000"] {
            assert_eq!(thousands(list.as_bytes()), None, "{list:?}");
        }
        assert_eq!(
            counts(b"991, -1,x").collect::<Vec<_>>(),
            [
                Count::Known(Decimal::whole(991)),
                Count::Negative,
                Count::Malformed
            ]
        );
    }

    #[test]
    fn only_space_and_tab_are_trimmed() {
        assert_eq!(trim(b" \t60\t "), b"60");
        assert_eq!(trim(b"60\xA0"), b"60\xA0");
        assert_eq!(trim(b" \t"), b"");
    }
}
