//! Structured fields (RFC 9651), member by member as `sfv` finds them: no list is built, and what is
//! not kept is not allocated.
//!
//! A member may be seen before the rest turns out to be broken. Whoever looks must keep what it saw
//! apart until the whole field is known to be good (section 4.2: "the entire field value MUST be
//! ignored").

use core::fmt;

use sfv::visitor::{
    DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ListVisitor,
    ParameterVisitor,
};
use sfv::{BareItemFromInput, KeyRef, Parser};

/// An item of a list, and those of its parameters that speak about limits.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) item: BareItemFromInput<'a>,
    pub(super) q: Natural,
    pub(super) w: Natural,
    pub(super) window: Natural,
    pub(super) r: Natural,
    pub(super) t: Natural,
    pub(super) qu: Option<BareItemFromInput<'a>>,
}

/// What should be a whole number of at least zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Natural {
    #[default]
    Absent,
    Known(u64),
    /// A fraction, a negative number, a word.
    Wrong,
}

impl Natural {
    fn of(value: &BareItemFromInput<'_>) -> Self {
        natural(value).map_or(Self::Wrong, Self::Known)
    }

    /// `None` where it is wrong.
    pub(super) const fn optional(self) -> Option<Option<u64>> {
        match self {
            Self::Absent => Some(None),
            Self::Known(number) => Some(Some(number)),
            Self::Wrong => None,
        }
    }

    /// `None` where it is wrong or absent.
    pub(super) const fn required(self) -> Option<u64> {
        match self {
            Self::Known(number) => Some(number),
            Self::Absent | Self::Wrong => None,
        }
    }
}

/// A whole number of at least zero.
pub(super) fn natural(value: &BareItemFromInput<'_>) -> Option<u64> {
    match value {
        BareItemFromInput::Integer(number) => u64::try_from(i64::from(*number)).ok(),
        _ => None,
    }
}

/// A string or a token: the drafts changed their minds about which of them a name is.
pub(super) fn word<'a>(value: &'a BareItemFromInput<'_>) -> Option<&'a str> {
    match value {
        BareItemFromInput::String(word) => Some(word.as_str()),
        BareItemFromInput::Token(word) => Some(word.as_str()),
        _ => None,
    }
}

/// Shows every member of a list; `None` if the field is no list, or `each` refused a member.
pub(super) fn list<'a>(value: &'a [u8], each: impl FnMut(Member<'a>) -> Option<()>) -> Option<()> {
    Parser::new(value).parse_list_with_visitor(List(each)).ok()
}

/// The numbers that a dictionary has under some keys; `None` if the field is no dictionary.
pub(super) fn dictionary<const N: usize>(value: &[u8], keys: [&str; N]) -> Option<[Natural; N]> {
    let numbers = [Natural::Absent; N];
    let visitor = Numbers { keys, numbers };
    Parser::new(value)
        .parse_dictionary_with_visitor(visitor)
        .ok()
}

struct List<F>(F);

impl<'a, F: FnMut(Member<'a>) -> Option<()>> ListVisitor<'a> for List<F> {
    type Out = ();
    type Error = Refused;

    fn entry(&mut self) -> Result<impl EntryVisitor<'a>, Refused> {
        Ok(Entry(&mut self.0))
    }

    fn finish(self) -> Result<(), Refused> {
        Ok(())
    }
}

struct Entry<'f, F>(&'f mut F);

impl<'a, F: FnMut(Member<'a>) -> Option<()>> EntryVisitor<'a> for Entry<'_, F> {
    type Error = Refused;

    fn item(self) -> Result<impl ItemVisitor<'a>, Refused> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'a>, Refused> {
        Err::<Ignored, _>(Refused)
    }
}

impl<'a, F: FnMut(Member<'a>) -> Option<()>> ItemVisitor<'a> for Entry<'_, F> {
    type Out = ();
    type Error = Refused;

    fn bare_item(
        self,
        item: BareItemFromInput<'a>,
    ) -> Result<impl ParameterVisitor<'a, Out = ()>, Refused> {
        let member = Member {
            item,
            q: Natural::Absent,
            w: Natural::Absent,
            window: Natural::Absent,
            r: Natural::Absent,
            t: Natural::Absent,
            qu: None,
        };
        Ok(Parameters {
            member,
            each: self.0,
        })
    }
}

struct Parameters<'a, 'f, F> {
    member: Member<'a>,
    each: &'f mut F,
}

impl<'a, F: FnMut(Member<'a>) -> Option<()>> ParameterVisitor<'a> for Parameters<'a, '_, F> {
    type Out = ();
    type Error = Refused;

    /// The last of several with one key counts (RFC 9651 section 4.2.3.2).
    fn parameter(&mut self, key: &'a KeyRef, value: BareItemFromInput<'a>) -> Result<(), Refused> {
        let member = &mut self.member;
        match key.as_str() {
            "q" => member.q = Natural::of(&value),
            "w" => member.w = Natural::of(&value),
            "window" => member.window = Natural::of(&value),
            "r" => member.r = Natural::of(&value),
            "t" => member.t = Natural::of(&value),
            "qu" => member.qu = Some(value),
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Refused> {
        (self.each)(self.member).ok_or(Refused)
    }
}

struct Numbers<'k, const N: usize> {
    keys: [&'k str; N],
    numbers: [Natural; N],
}

impl<'a, const N: usize> DictionaryVisitor<'a> for Numbers<'_, N> {
    type Out = [Natural; N];
    type Error = Refused;

    fn entry(&mut self, key: &'a KeyRef) -> Result<impl EntryVisitor<'a>, Refused> {
        let at = self.keys.iter().position(|own| *own == key.as_str());
        Ok(at.map(|at| Value(&mut self.numbers[at])))
    }

    fn finish(self) -> Result<[Natural; N], Refused> {
        Ok(self.numbers)
    }
}

struct Value<'n>(&'n mut Natural);

impl<'a> EntryVisitor<'a> for Value<'_> {
    type Error = Refused;

    fn item(self) -> Result<impl ItemVisitor<'a>, Refused> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'a>, Refused> {
        *self.0 = Natural::Wrong;
        Ok(Ignored)
    }
}

impl<'a> ItemVisitor<'a> for Value<'_> {
    type Out = ();
    type Error = Refused;

    fn bare_item(
        self,
        item: BareItemFromInput<'a>,
    ) -> Result<impl ParameterVisitor<'a, Out = ()>, Refused> {
        *self.0 = Natural::of(&item);
        Ok(Ignored)
    }
}

/// A member that has no meaning in its field.
#[derive(Debug)]
struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member has no meaning in this field")
    }
}

impl core::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_q(value: &str) -> Option<Natural> {
        let mut q = Natural::Absent;
        list(value.as_bytes(), |member| {
            q = member.q;
            Some(())
        })?;
        Some(q)
    }

    #[test]
    fn the_last_of_several_parameters_counts() {
        assert_eq!(last_q("a;q=1.5;q=7"), Some(Natural::Known(7)));
        assert_eq!(last_q("a;q=7;q=-1"), Some(Natural::Wrong));
        assert_eq!(last_q("a;q"), Some(Natural::Wrong));
        assert_eq!(last_q("a;q=7, b"), Some(Natural::Absent));
    }

    #[test]
    fn the_last_of_several_keys_counts() {
        let read = |value: &str| dictionary(value.as_bytes(), ["a"]);
        assert_eq!(read("a=1.5, b=2, a=7;c=3"), Some([Natural::Known(7)]));
        assert_eq!(read("a=7, a=(1 2)"), Some([Natural::Wrong]));
        assert_eq!(read("a=(1 2), a=7"), Some([Natural::Known(7)]));
        assert_eq!(read("b"), Some([Natural::Absent]));
        assert_eq!(read("a=1, (b)"), None);
    }

    #[test]
    fn what_is_not_liked_ends_the_list() {
        assert_eq!(list(b"a, b", |_| None), None);
        assert_eq!(list(b"a, (b)", |_| Some(())), None);
        assert_eq!(list(b"", |_| None), Some(()));
    }
}
