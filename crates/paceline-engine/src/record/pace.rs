//! So much in so long, if that is known.

use core::time::Duration;

use minicbor::decode::{Decoder, Error};
use minicbor::encode::{self, Encoder, Write};

pub(crate) fn encode<C, W: Write>(
    own: &Option<(u64, Duration)>,
    e: &mut Encoder<W>,
    _: &mut C,
) -> Result<(), encode::Error<W::Error>> {
    let own = own.map(|(count, length)| (count, super::duration::nanos(length)));
    e.encode(own)?.ok()
}

pub(crate) fn decode<C>(d: &mut Decoder<'_>, _: &mut C) -> Result<Option<(u64, Duration)>, Error> {
    let own: Option<(u64, u64)> = d.decode()?;
    Ok(own.map(|(count, nanos)| (count, Duration::from_nanos(nanos))))
}
