//! A number of 128 bits: as one of 64 if it is, else as two.

use minicbor::data::Type;
use minicbor::decode::{Decoder, Error};
use minicbor::encode::{self, Encoder, Write};

pub(crate) fn encode<C, W: Write>(
    own: &i128,
    e: &mut Encoder<W>,
    _: &mut C,
) -> Result<(), encode::Error<W::Error>> {
    match i64::try_from(*own) {
        Ok(own) => e.i64(own)?.ok(),
        Err(_) => e.encode(((own >> 64) as i64, *own as u64))?.ok(),
    }
}

pub(crate) fn decode<C>(d: &mut Decoder<'_>, _: &mut C) -> Result<i128, Error> {
    if d.datatype()? != Type::Array {
        return d.i64().map(i128::from);
    }
    let (high, low): (i64, u64) = d.decode()?;
    Ok(i128::from(high) << 64 | i128::from(low))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_same_number_in_few_bytes(number: i128, shift in 0..128_u32) {
            let number = number >> shift;
            let mut e = Encoder::new(Vec::new());
            encode(&number, &mut e, &mut ()).expect("a vector takes all");
            let bytes = e.into_writer();
            prop_assert!(bytes.len() <= 9 || shift < 64, "{number}: {bytes:?}");
            prop_assert_eq!(decode(&mut Decoder::new(&bytes), &mut ()).ok(), Some(number));
        }
    }
}
