//! A record as anybody reads it who knows only CBOR.

use minicbor::Encoder;
use minicbor::data::Type;
use minicbor::decode::Decoder;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Array(Vec<Self>),
    Bytes(Vec<u8>),
    /// As it stands there.
    Other(Vec<u8>),
}

const NUMBERS: [u64; 8] = [
    0,
    1,
    7,
    u32::MAX as u64,
    u32::MAX as u64 / 8,
    u64::MAX / 8,
    u64::MAX / 2,
    u64::MAX,
];
const FLOATS: [f64; 10] = [
    f64::NAN,
    f64::INFINITY,
    -1.0,
    0.0,
    1.0,
    1e-300,
    1e18,
    -1e18,
    1e300,
    0.5,
];

impl Tree {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self::read(&mut Decoder::new(bytes))
    }

    fn read(d: &mut Decoder<'_>) -> Self {
        match d.datatype().expect("a value") {
            Type::Array => {
                let length = d.array().expect("an array").expect("of known length");
                Self::Array((0..length).map(|_| Self::read(d)).collect())
            }
            Type::Bytes => Self::Bytes(d.bytes().expect("bytes").to_vec()),
            _ => {
                let from = d.position();
                d.skip().expect("a value");
                Self::Other(d.input()[from..d.position()].to_vec())
            }
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut e = Encoder::new(Vec::new());
        self.write(&mut e);
        e.into_writer()
    }

    fn write(&self, e: &mut Encoder<Vec<u8>>) {
        match self {
            Self::Array(all) => {
                e.array(all.len() as u64).expect("a vector takes all");
                all.iter().for_each(|own| own.write(e));
            }
            Self::Bytes(bytes) => {
                e.bytes(bytes).expect("a vector takes all");
            }
            Self::Other(raw) => e.writer_mut().extend_from_slice(raw),
        }
    }

    /// The value at these places, each within the one before.
    pub(super) fn at(&mut self, places: &[usize]) -> &mut Self {
        places.iter().fold(self, |own, place| {
            own.array().get_mut(*place).expect("a place")
        })
    }

    pub(super) fn array(&mut self) -> &mut Vec<Self> {
        match self {
            Self::Array(all) => all,
            other => panic!("{other:?} is no array"),
        }
    }

    /// How many values there are in it, itself included.
    fn size(&self) -> usize {
        match self {
            Self::Array(all) => 1 + all.iter().map(Self::size).sum::<usize>(),
            _ => 1,
        }
    }

    fn nth(&mut self, mut n: usize) -> &mut Self {
        if n == 0 {
            return self;
        }
        n -= 1;
        for own in self.array() {
            let size = own.size();
            if n < size {
                return own.nth(n);
            }
            n -= size;
        }
        unreachable!("it is smaller than its parts")
    }

    /// One of its values becomes another of about the same kind.
    pub(super) fn spoil(&mut self, place: usize, kind: u8, value: u64) {
        let size = self.size();
        let own = self.nth(place % size);
        let value = value as usize;
        match own {
            Self::Array(all) if kind.is_multiple_of(3) => {
                if let Some(last) = all.last().cloned() {
                    all.extend(vec![last; value % 600]);
                }
            }
            Self::Array(all) => all.truncate(value % (all.len() + 1)),
            Self::Bytes(bytes) if bytes.len() >= 8 => {
                let place = value / 16 % (bytes.len() / 8) * 8;
                let number = match kind % 2 {
                    0 => FLOATS[value % FLOATS.len()].to_le_bytes(),
                    _ => NUMBERS[value % NUMBERS.len()].to_le_bytes(),
                };
                bytes[place..place + 8].copy_from_slice(&number);
            }
            Self::Bytes(bytes) => bytes.push(kind),
            Self::Other(raw) => {
                let float = raw[0] == 0xfb && !kind.is_multiple_of(8);
                *raw = match (float, kind % 8) {
                    (true, _) => minicbor::to_vec(FLOATS[value % FLOATS.len()]),
                    (_, 1) => minicbor::to_vec(Some(value.is_multiple_of(2))),
                    (_, 2) => minicbor::to_vec(None::<u64>),
                    (_, 3) => minicbor::to_vec(-1_i64),
                    _ => minicbor::to_vec(NUMBERS[value % NUMBERS.len()]),
                }
                .expect("a value is bytes");
            }
        }
    }
}
