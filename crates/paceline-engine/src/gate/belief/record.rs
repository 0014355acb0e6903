//! What is large of a belief, as bytes.

use minicbor::decode::{Decoder, Error};
use minicbor::encode::{self, Encoder, Write};
use minicbor::{Decode, Encode};

use super::bucket::{Buckets, Cells, FASTEST, NOISES, RATES, SLOWEST};
use super::cell::Cell;
use super::line::Line;
use super::part::Part;
use crate::record::floats;
use crate::record::sound::{Flaw, Sound, ensure};

/// Three numbers of the whole grid, one of each rate, one of each noise, eight of each cell.
const NUMBERS: usize = 3 + RATES + NOISES.len() + 8 * RATES * NOISES.len();

impl<C> Encode<C> for Buckets {
    fn encode<W: Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), encode::Error<W::Error>> {
        let mut all = [0.0; NUMBERS];
        let (grid, rest) = all.split_at_mut(3);
        let (capacity, rest) = rest.split_at_mut(RATES);
        let (free, cells) = rest.split_at_mut(NOISES.len());
        grid.copy_from_slice(&[self.at, self.lowest, self.step]);
        capacity.copy_from_slice(&self.capacity);
        free.copy_from_slice(&self.free);
        for (cell, own) in cells
            .as_chunks_mut::<8>()
            .0
            .iter_mut()
            .zip(self.cells.as_flattened())
        {
            *cell = numbers_of(own);
        }
        e.array(1)?;
        floats::write(&all, e)
    }
}

impl<'b, C> Decode<'b, C> for Buckets {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, Error> {
        let Some(places @ 1..) = d.array()? else {
            return Err(Error::message("a grid without numbers"));
        };
        let mut all = [0.0; NUMBERS];
        floats::read(&mut all, d)?;
        for _ in 1..places {
            d.skip()?;
        }
        let (grid, rest) = all.split_at(3);
        let (capacity, rest) = rest.split_at(RATES);
        let (free, rest) = rest.split_at(NOISES.len());
        let mut cells: Cells = [[Cell::default(); NOISES.len()]; RATES];
        for (own, cell) in cells
            .as_flattened_mut()
            .iter_mut()
            .zip(rest.as_chunks::<8>().0)
        {
            *own = cell_of(*cell);
        }
        let (Some([at, lowest, step]), Some(capacity), Some(free)) = (
            grid.as_array::<3>(),
            capacity.as_array::<RATES>(),
            free.as_array(),
        ) else {
            return Err(Error::message("another number of numbers"));
        };
        Ok(Self::of(*at, [*lowest, *step], cells, *capacity, *free))
    }
}

const fn numbers_of(own: &Cell) -> [f64; 8] {
    let Cell {
        low,
        high,
        part,
        weight,
    } = *own;
    [
        low.at, low.slope, high.at, high.slope, part.from, part.to, part.tilt, weight,
    ]
}

const fn cell_of(own: [f64; 8]) -> Cell {
    let [at, slope, high_at, high_slope, from, to, tilt, weight] = own;
    Cell {
        low: Line { at, slope },
        high: Line {
            at: high_at,
            slope: high_slope,
        },
        part: Part { from, to, tilt },
        weight,
    }
}

impl Sound for Buckets {
    fn check(&self) -> Result<(), Flaw> {
        // Rounding may have put it a little beyond what is looked for.
        let (slowest, fastest) = (self.rate(0) * 2.0, self.rate(RATES - 1) / 2.0);
        ensure(
            self.step > 0.0 && slowest > SLOWEST && fastest < FASTEST,
            "rates that nobody looks for",
        )?;
        let mut cells = self.cells.as_flattened().iter();
        let sound = |cell: &Cell| {
            let Part { from, to, .. } = cell.part;
            (0.0..=2.0).contains(&cell.weight) && -1.0 < from && from <= to
        };
        ensure(
            cells.all(sound) && self.free.iter().all(|weight| (0.0..=2.0).contains(weight)),
            "a weight or a part that is none",
        )
    }
}

pub(super) mod recent {
    //! The latest sends, as many as are kept: sixteen bytes each.

    use minicbor::decode::{Decoder, Error};
    use minicbor::encode::{self, Encoder, Write};

    use crate::record::sound::{NO_NUMBER, is_number};

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
        let mut bytes = [[[0; 8]; 2]; N];
        for (bytes, (order, at)) in bytes.iter_mut().zip(&own[..used]) {
            *bytes = [order.to_le_bytes(), at.to_le_bytes()];
        }
        e.bytes(bytes[..used].as_flattened().as_flattened())?.ok()
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
            if !is_number(own.1) {
                return Err(Error::message(NO_NUMBER));
            }
        }
        Ok(all)
    }
}
