//! Many numbers at once, as one string of bytes: eight each, the lowest first. Only finite ones are read.

use minicbor::decode::{Decoder, Error};
use minicbor::encode::{self, Encoder, Write};

use super::sound::{NO_NUMBER, is_number};

pub(crate) fn encode<C, W: Write, const N: usize>(
    own: &[f64; N],
    e: &mut Encoder<W>,
    _: &mut C,
) -> Result<(), encode::Error<W::Error>> {
    write(own, e)
}

pub(crate) fn decode<C, const N: usize>(d: &mut Decoder<'_>, _: &mut C) -> Result<[f64; N], Error> {
    let mut all = [0.0; N];
    read(&mut all, d)?;
    Ok(all)
}

pub(crate) fn write<W: Write, const N: usize>(
    own: &[f64; N],
    e: &mut Encoder<W>,
) -> Result<(), encode::Error<W::Error>> {
    let bytes = own.map(f64::to_le_bytes);
    e.bytes(bytes.as_flattened())?.ok()
}

pub(crate) fn read(into: &mut [f64], d: &mut Decoder<'_>) -> Result<(), Error> {
    let (bytes, rest) = d.bytes()?.as_chunks::<8>();
    if bytes.len() != into.len() || !rest.is_empty() {
        return Err(Error::message("another number of numbers"));
    }
    for (own, bytes) in into.iter_mut().zip(bytes) {
        *own = f64::from_le_bytes(*bytes);
        if !is_number(*own) {
            return Err(Error::message(NO_NUMBER));
        }
    }
    Ok(())
}
