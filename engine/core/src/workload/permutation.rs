//! A pseudo-random permutation of 0..n in constant memory: scatters ranks and extents.
//!
//! Four Feistel rounds over the next power of four, repeated until the value is below n (cycle walking; Black and
//! Rogaway 2002).

use crate::rng::RandomStream;

/// A permutation of 0 to `count` - 1.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// A permutation of `count` values (at least 1), drawn from `stream`.
    pub fn new(count: u64, stream: &mut RandomStream) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        Self {
            count,
            half_bits: bits.div_ceil(2).max(1),
            keys: [stream.bits(), stream.bits(), stream.bits(), stream.bits()],
        }
    }

    /// The image of `value`, which is below `count`.
    #[inline]
    pub fn apply(&self, value: u64) -> u64 {
        let mut value = value;
        loop {
            value = self.round_trip(value);
            if value < self.count {
                return value;
            }
        }
    }

    fn round_trip(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            let mixed = (right ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            (left, right) = (right, left ^ (mixed >> 32 & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_image_occurs_once(count in 1_u64..3000, seed in 0_u64..1000) {
            let mut stream = RandomStream::named(seed, 0, "p", 0, Purpose::Placement);
            let permutation = Permutation::new(count, &mut stream);
            let mut seen = vec![false; count as usize];
            for value in 0..count {
                let image = permutation.apply(value) as usize;
                prop_assert!(!seen[image]);
                seen[image] = true;
            }
        }
    }
}
