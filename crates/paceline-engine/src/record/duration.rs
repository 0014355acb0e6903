//! A duration in nanoseconds; those of 584 years and more are the longest there is.

use core::time::Duration;

use minicbor::decode::{Decoder, Error};
use minicbor::encode::{self, Encoder, Write};

pub(crate) fn encode<C, W: Write>(
    own: &Duration,
    e: &mut Encoder<W>,
    _: &mut C,
) -> Result<(), encode::Error<W::Error>> {
    e.u64(nanos(*own))?.ok()
}

pub(crate) fn decode<C>(d: &mut Decoder<'_>, _: &mut C) -> Result<Duration, Error> {
    d.u64().map(|own| match own {
        u64::MAX => Duration::MAX,
        nanos => Duration::from_nanos(nanos),
    })
}

pub(super) fn nanos(own: Duration) -> u64 {
    u64::try_from(own.as_nanos()).unwrap_or(u64::MAX)
}
