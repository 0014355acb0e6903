//! A part of which nothing is known yet is nothing.

use minicbor::data::Type;
use minicbor::decode::{Decode, Decoder, Error};
use minicbor::encode::{self, Encode, Encoder, Write};

pub(crate) fn encode<C, T: Default + PartialEq + Encode<C>, W: Write>(
    own: &T,
    e: &mut Encoder<W>,
    c: &mut C,
) -> Result<(), encode::Error<W::Error>> {
    if *own == T::default() {
        e.null()?.ok()
    } else {
        own.encode(e, c)
    }
}

pub(crate) fn decode<'b, C, T: Default + Decode<'b, C>>(
    d: &mut Decoder<'b>,
    c: &mut C,
) -> Result<T, Error> {
    if d.datatype()? == Type::Null {
        d.null()?;
        return Ok(T::default());
    }
    T::decode(d, c)
}
