//! The period of a limit: a duration that is never zero, and no longer than sums of it can be.

use core::time::Duration;

use minicbor::decode::{Decoder, Error};

pub(crate) use super::duration::encode;

const LONGEST: Duration = Duration::from_nanos(u64::MAX / 2);

pub(crate) fn decode<C>(d: &mut Decoder<'_>, c: &mut C) -> Result<Duration, Error> {
    let own = super::duration::decode(d, c)?;
    if own.is_zero() || own > LONGEST {
        return Err(Error::message("no period of a limit"));
    }
    Ok(own)
}
