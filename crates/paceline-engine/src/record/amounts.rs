//! Amounts by word, each once and in order, if there are any.

use std::sync::Arc;

use minicbor::decode::{Decoder, Error};
use minicbor::encode::{self, Encoder, Write};

type Amounts = Option<Arc<[(Box<str>, u64)]>>;

pub(crate) fn encode<C, W: Write>(
    own: &Amounts,
    e: &mut Encoder<W>,
    _: &mut C,
) -> Result<(), encode::Error<W::Error>> {
    e.encode(own.as_deref())?.ok()
}

pub(crate) fn decode<C>(d: &mut Decoder<'_>, _: &mut C) -> Result<Amounts, Error> {
    let own: Option<Vec<(Box<str>, u64)>> = d.decode()?;
    if own.iter().any(|own| !own.is_sorted_by(|a, b| a.0 < b.0)) {
        return Err(Error::message("amounts that are not each once, by word"));
    }
    Ok(own.map(Into::into))
}
