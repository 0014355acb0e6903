//! Many numbers at once, as one string of bytes: eight each, the lowest first. Only finite ones are read.

use minicbor::decode::{Decoder, Error};
use minicbor::encode::{self, Encoder, Write};

pub(crate) fn encode<C, W: Write, const N: usize>(
    own: &[f64; N],
    e: &mut Encoder<W>,
    _: &mut C,
) -> Result<(), encode::Error<W::Error>> {
    write(own.iter().copied(), e)
}

pub(crate) fn decode<C, const N: usize>(d: &mut Decoder<'_>, _: &mut C) -> Result<[f64; N], Error> {
    let mut all = [0.0; N];
    read(&mut all, d)?;
    Ok(all)
}

pub(crate) fn write<W: Write>(
    own: impl ExactSizeIterator<Item = f64>,
    e: &mut Encoder<W>,
) -> Result<(), encode::Error<W::Error>> {
    e.bytes_len(8 * own.len() as u64)?;
    let writer = e.writer_mut();
    for number in own {
        let bytes = number.to_le_bytes();
        writer.write_all(&bytes).map_err(encode::Error::write)?;
    }
    Ok(())
}

pub(crate) fn read(into: &mut [f64], d: &mut Decoder<'_>) -> Result<(), Error> {
    let (bytes, rest) = d.bytes()?.as_chunks::<8>();
    if bytes.len() != into.len() || !rest.is_empty() {
        return Err(Error::message("another number of numbers"));
    }
    for (own, bytes) in into.iter_mut().zip(bytes) {
        *own = f64::from_le_bytes(*bytes);
        if !own.is_finite() {
            return Err(Error::message("a number that is none"));
        }
    }
    Ok(())
}
