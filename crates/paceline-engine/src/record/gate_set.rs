//! Which gates, in order.

use minicbor::decode::{Decoder, Error};
use minicbor::encode::{self, Encoder, Write};
use minicbor::{Decode, Encode};

use crate::GateSet;

impl<C> Encode<C> for GateSet {
    fn encode<W: Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), encode::Error<W::Error>> {
        let count = self.iter().count();
        e.array(count as u64)?;
        for index in self.iter() {
            e.u32(index as u32)?;
        }
        Ok(())
    }
}

impl<'b, C> Decode<'b, C> for GateSet {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, Error> {
        let mut set = Self::default();
        for index in d.array_iter::<u16>()? {
            set = set
                .with(index?)
                .ok_or_else(|| Error::message("more gates than one request may have"))?;
        }
        Ok(set)
    }
}
