//! Times of transfers at a bandwidth of the run, without a division each.

use crate::divisor::Divisor;
use crate::units::{Bandwidth, Bytes, SimDuration};

/// A bandwidth with its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferRate(Divisor);

impl From<Bandwidth> for TransferRate {
    fn from(bandwidth: Bandwidth) -> Self {
        Self(Divisor::new(bandwidth.0))
    }
}

impl TransferRate {
    /// The time to transfer `size`, as [`Bandwidth::time_for`].
    #[inline]
    pub(crate) fn time_for(self, size: Bytes) -> SimDuration {
        let (whole, rest) = self.0.div_rem(size.0 * 1_000_000_000);
        SimDuration(whole + u64::from(rest > 0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_agrees_with_the_division(bandwidth in 1_u64..1 << 40, size in 0_u64..1 << 33) {
            let bandwidth = Bandwidth(bandwidth);
            prop_assert_eq!(TransferRate::from(bandwidth).time_for(Bytes(size)), bandwidth.time_for(Bytes(size)));
        }
    }
}
