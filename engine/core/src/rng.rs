//! Random streams, one per source of randomness and seeded by name, so that adding a user or a disk changes no other draw.

pub(crate) mod elementary;

use std::hash::Hasher;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use siphasher::sip128::{Hasher128, SipHasher24};

use crate::units::SimDuration;

/// Purpose of a random stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Think times and gaps between arrivals.
    Arrival,
    /// Read or write, and durability.
    Operation,
    /// Sizes.
    Size,
    /// Addresses.
    Address,
    /// All draws of the functional warm-up.
    WarmUp,
    /// The scatter of a footprint's extents over an array.
    Placement,
    /// Phase and speed of a spindle.
    Spindle,
    /// Service times of an abstract server, and read retries of an SSD.
    Service,
    /// Initial state of an SSD, and the choice of anonymous units that are overwritten.
    Flash,
    /// Processor times of the firmware.
    Firmware,
    /// Position of a user in the start interval.
    Start,
    /// Next kind of request of a mix.
    Kind,
    /// Initial order of an LRU stack.
    Stack,
    /// Processor times of interactions.
    Processor,
}

/// A random stream: xoshiro256++ (Blackman and Vigna 2021), seeded by name.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomStream {
    generator: Xoshiro256PlusPlus,
}

impl RandomStream {
    /// The stream H(root seed, replicate, name, index, purpose).
    pub fn named(root: u64, replicate: u32, name: &str, index: u32, purpose: Purpose) -> Self {
        let mut hasher = SipHasher24::new_with_keys(root, u64::from(replicate));
        hasher.write(name.as_bytes());
        hasher.write_u8(0);
        hasher.write_u32(index);
        hasher.write_u8(purpose as u8);
        let hash = hasher.finish128();
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&hash.h1.to_le_bytes());
        seed[8..16].copy_from_slice(&hash.h2.to_le_bytes());
        seed[16..24].copy_from_slice(&(hash.h1 ^ 0x9E37_79B9_7F4A_7C15).to_le_bytes());
        seed[24..].copy_from_slice(&(hash.h2 ^ 0xD1B5_4A32_D192_ED03).to_le_bytes());
        let mut generator = Xoshiro256PlusPlus::from_seed(seed);
        // The first outputs depend visibly on the seed.
        for _ in 0..4 {
            generator.next_u64();
        }
        Self { generator }
    }

    /// A uniform draw from 0 to 2^64 - 1.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A uniform draw from [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A uniform draw from 0 to `bound` - 1; `bound` is at least 1 (Lemire 2019, without the rare rejection:
    /// the bias is below `bound` / 2^64).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// An exponential draw with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log1p(-self.unit())
    }

    /// An exponential draw with mean `mean`, to the nearest nanosecond.
    #[inline]
    pub fn exponential_duration(&mut self, mean: SimDuration) -> SimDuration {
        let (unit, mean) = (self.unit(), mean.0 as f64);
        // The difference is exact.
        let estimate = 0.5 - mean * elementary::ln(1.0 - unit);
        let error = mean * DURATION_ERROR;
        let whole = estimate as i64;
        let fraction = estimate - whole as f64;
        if fraction > error && fraction < 1.0 - error {
            return SimDuration(whole as u64);
        }
        exact_duration(unit, mean)
    }

    /// A standard normal draw (Box and Muller 1958; one of the pair is used).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }
}

/// Maximum difference, in means, between an exponential duration and its estimate: the error of the estimated logarithm, of
/// the exact one (a unit in the last place of at most 37), and of the arithmetic that follows either.
const DURATION_ERROR: f64 = elementary::LN_ERROR + 8e-14;

/// The exponential duration of a uniform draw \[ns\].
#[cold]
fn exact_duration(unit: f64, mean: f64) -> SimDuration {
    SimDuration((mean * -libm::log1p(-unit) + 0.5) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_exact_logarithms() {
        for (index, mean) in (0..).zip([0, 1, 999, 2_500_000, 10_000_000_000, u64::MAX >> 8]) {
            let mut stream = RandomStream::named(5, 0, "durations", index, Purpose::Arrival);
            let mut twin = stream.clone();
            for _ in 0..50_000 {
                let exact = (mean as f64 * twin.exponential() + 0.5) as u64;
                assert_eq!(stream.exponential_duration(SimDuration(mean)), SimDuration(exact));
            }
        }
    }

    #[test]
    fn streams_differ_by_every_part_of_their_name() {
        let first = |root, replicate, name, index, purpose| {
            RandomStream::named(root, replicate, name, index, purpose).bits()
        };
        let base = first(1, 0, "a", 0, Purpose::Arrival);
        assert_eq!(base, first(1, 0, "a", 0, Purpose::Arrival));
        for other in [
            first(2, 0, "a", 0, Purpose::Arrival),
            first(1, 1, "a", 0, Purpose::Arrival),
            first(1, 0, "b", 0, Purpose::Arrival),
            first(1, 0, "a", 1, Purpose::Arrival),
            first(1, 0, "a", 0, Purpose::Address),
        ] {
            assert_ne!(base, other);
        }
    }
}
