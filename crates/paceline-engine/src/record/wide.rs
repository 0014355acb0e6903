//! A number of 128 bits, as two.

use minicbor::decode::{Decoder, Error};
use minicbor::encode::{self, Encoder, Write};

pub(crate) fn encode<C, W: Write>(
    own: &i128,
    e: &mut Encoder<W>,
    _: &mut C,
) -> Result<(), encode::Error<W::Error>> {
    e.encode(((own >> 64) as i64, *own as u64))?.ok()
}

pub(crate) fn decode<C>(d: &mut Decoder<'_>, _: &mut C) -> Result<i128, Error> {
    let (high, low): (i64, u64) = d.decode()?;
    Ok(i128::from(high) << 64 | i128::from(low))
}
