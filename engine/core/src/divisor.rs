//! Division by a constant of the run, by multiplication: address mappings divide several times per I/O, and hardware
//! division takes several times as long.

/// A divisor with its reciprocal in fixed point. Exact for every dividend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    divisor: u64,
    /// floor((2^64 - 1) / divisor), whose quotient is exact or one too small.
    reciprocal: u64,
}

impl Divisor {
    /// Precondition: `divisor` is at least one.
    pub(crate) const fn new(divisor: u64) -> Self {
        Self { divisor, reciprocal: u64::MAX / divisor }
    }

    /// The divisor.
    #[inline]
    pub(crate) const fn get(self) -> u64 {
        self.divisor
    }

    /// Quotient and remainder of `n`.
    #[inline]
    pub(crate) const fn div_rem(self, n: u64) -> (u64, u64) {
        let estimate = ((n as u128 * self.reciprocal as u128) >> 64) as u64;
        let rest = n - estimate * self.divisor;
        if rest >= self.divisor { (estimate + 1, rest - self.divisor) } else { (estimate, rest) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_edges_divide_exactly() {
        for divisor in [1, 2, 3, 5, 1 << 32, (1 << 32) + 1, 1 << 63, u64::MAX - 1, u64::MAX] {
            for n in [0, 1, 2, divisor - 1, divisor, divisor.saturating_add(1), u64::MAX - 1, u64::MAX] {
                assert_eq!(Divisor::new(divisor).div_rem(n), (n / divisor, n % divisor), "{n} / {divisor}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_machine(n: u64, divisor in prop_oneof![1_u64..5000, 1_u64..=u64::MAX]) {
            prop_assert_eq!(Divisor::new(divisor).div_rem(n), (n / divisor, n % divisor));
        }
    }
}
