//! What is large of a belief, as bytes.

pub(super) mod cells {
    //! The grid's cells, eight numbers each.

    use minicbor::decode::{Decoder, Error};
    use minicbor::encode::{self, Encoder, Write};

    use super::super::bucket::{NOISES, RATES};
    use super::super::cell::Cell;
    use super::super::line::Line;
    use super::super::part::Part;
    use crate::record::floats;

    type Cells = [[Cell; NOISES.len()]; RATES];

    pub(in super::super) fn encode<C, W: Write>(
        own: &Cells,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), encode::Error<W::Error>> {
        let mut all = [[0.0; 8]; NOISES.len() * RATES];
        for (cell, own) in all.iter_mut().zip(own.as_flattened()) {
            let Cell {
                low,
                high,
                part,
                weight,
            } = *own;
            *cell = [
                low.at, low.slope, high.at, high.slope, part.from, part.to, part.tilt, weight,
            ];
        }
        floats::write(all.as_flattened().iter().copied(), e)
    }

    pub(in super::super) fn decode<C>(d: &mut Decoder<'_>, _: &mut C) -> Result<Cells, Error> {
        let mut all = [[0.0; 8]; NOISES.len() * RATES];
        floats::read(all.as_flattened_mut(), d)?;
        let mut cells = [[Cell::default(); NOISES.len()]; RATES];
        for (cell, own) in all.into_iter().zip(cells.as_flattened_mut()) {
            let [at, slope, high_at, high_slope, from, to, tilt, weight] = cell;
            *own = Cell {
                low: Line { at, slope },
                high: Line {
                    at: high_at,
                    slope: high_slope,
                },
                part: Part { from, to, tilt },
                weight,
            };
        }
        Ok(cells)
    }
}

pub(super) mod recent {
    //! The latest sends, as many as are kept: sixteen bytes each.

    use minicbor::decode::{Decoder, Error};
    use minicbor::encode::{self, Encoder, Write};

    pub(in super::super) fn encode<C, W: Write, const N: usize>(
        own: &[(u64, f64); N],
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), encode::Error<W::Error>> {
        // Before the ring is full, what was never written is nothing.
        let used = own
            .iter()
            .rposition(|send| *send != (0, 0.0))
            .map_or(0, |last| last + 1);
        e.bytes_len(16 * used as u64)?;
        let writer = e.writer_mut();
        for (order, at) in &own[..used] {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&order.to_le_bytes());
            bytes[8..].copy_from_slice(&at.to_le_bytes());
            writer.write_all(&bytes).map_err(encode::Error::write)?;
        }
        Ok(())
    }

    pub(in super::super) fn decode<C, const N: usize>(
        d: &mut Decoder<'_>,
        _: &mut C,
    ) -> Result<[(u64, f64); N], Error> {
        let (sends, rest) = d.bytes()?.as_chunks::<16>();
        let mut all = [(0, 0.0); N];
        if sends.len() > N || !rest.is_empty() {
            return Err(Error::message("another number of sends"));
        }
        for (own, bytes) in all.iter_mut().zip(sends) {
            let (order, at) = bytes.as_chunks::<8>().0.split_at(1);
            *own = (u64::from_le_bytes(order[0]), f64::from_le_bytes(at[0]));
            if !own.1.is_finite() {
                return Err(Error::message("a time that is none"));
            }
        }
        Ok(all)
    }
}
