//! Logarithm and exponential function with bounded errors, in a fraction of the time of the exact ones.
//!
//! Draws are rounded: to a nanosecond, to a rank. If a value is far enough from where the rounding changes, an approximate
//! one gives the same result; otherwise the caller computes the exact one of `libm`. So results do not depend on this file.
//!
//! ```text
//!   ln(2^e m)  = e ln 2 - ln(c) + ln(m c)        c: the reciprocal of m to seven bits, so that m c is near 1
//!   exp(t)     = 2^(k / 64) exp(t - k ln 2 / 64)
//! ```
//!
//! Tables and short series: P. T. P. Tang, Table-driven implementation of the logarithm function in IEEE floating-point
//! arithmetic, ACM TOMS 16(4), 1990.

use std::f64::consts::LN_2;

/// Bits of the mantissa that choose an entry of the logarithm's table.
const LOG_BITS: u32 = 7;
/// Steps per doubling of the exponential function's table, as a power of two.
const EXP_BITS: u32 = 6;
/// Stored bits of a mantissa.
const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;

/// Maximum error of [`ln`] from 2^-53 to 2^53.
pub(crate) const LN_ERROR: f64 = 2e-14;
/// Maximum relative error of [`exp`] from -1 to 50.
pub(crate) const EXP_ERROR: f64 = 2e-14;

/// By the first bits of a mantissa: an approximate reciprocal, and its logarithm.
static RECIPROCALS: [(f64, f64); 1 << LOG_BITS] = {
    let mut table = [(0.0, 0.0); 1 << LOG_BITS];
    let mut index = 0;
    while index < table.len() {
        let reciprocal = 1.0 / (1.0 + (index as f64 + 0.5) / table.len() as f64);
        // ln c = -2 artanh((1 - c) / (1 + c))
        let z = (1.0 - reciprocal) / (1.0 + reciprocal);
        let (mut power, mut sum, mut term) = (z, 0.0, 1.0);
        while term < 40.0 {
            sum += power / term;
            power *= z * z;
            term += 2.0;
        }
        table[index] = (reciprocal, -2.0 * sum);
        index += 1;
    }
    table
};

/// 2^(k / 64) for k from 0 to 63.
static POWERS: [f64; 1 << EXP_BITS] = {
    let mut table = [1.0; 1 << EXP_BITS];
    let mut index = 0;
    while index < table.len() {
        let exponent = index as f64 * (LN_2 / table.len() as f64);
        let (mut power, mut term) = (1.0, 1.0);
        while term < 25.0 {
            power *= exponent / term;
            table[index] += power;
            term += 1.0;
        }
        index += 1;
    }
    table
};

/// The logarithm of `x`, within [`LN_ERROR`].
#[inline]
pub(crate) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> MANTISSA_BITS) as i32 - 1023;
    let mantissa = f64::from_bits(bits & ((1 << MANTISSA_BITS) - 1) | 1.0_f64.to_bits());
    let index = bits >> (MANTISSA_BITS - LOG_BITS) & ((1 << LOG_BITS) - 1);
    let (reciprocal, log) = RECIPROCALS[index as usize];
    // At most 2^-8, so that the first term left out is below 2^-58.
    let r = mantissa * reciprocal - 1.0;
    let square = r * r;
    let series = r - square * ((0.5 - r * (1.0 / 3.0)) + square * ((0.25 - r * 0.2) + square * (1.0 / 6.0)));
    (f64::from(exponent) * LN_2 - log) + series
}

/// The exponential function of `t`, within [`EXP_ERROR`] of its value.
#[inline]
pub(crate) fn exp(t: f64) -> f64 {
    const STEP: f64 = LN_2 / (1 << EXP_BITS) as f64;
    let steps = (t * (1.0 / STEP)) as i64;
    // Within 0.011 of 0, so that the first term left out is below 2^-48.
    let r = t - steps as f64 * STEP;
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0)))));
    let power = POWERS[(steps & ((1 << EXP_BITS) - 1)) as usize] * series;
    f64::from_bits(power.to_bits().wrapping_add_signed(steps >> EXP_BITS << MANTISSA_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn the_logarithm_is_within_its_error(mantissa in 1.0_f64..2.0, exponent in -53_i32..53) {
            let x = mantissa * libm::exp2(f64::from(exponent));
            // The exact function has an error too.
            prop_assert!((ln(x) - libm::log(x)).abs() < LN_ERROR * 0.9);
        }

        #[test]
        fn the_exponential_function_is_within_its_error(t in -1.0_f64..50.0) {
            prop_assert!((exp(t) / libm::exp(t) - 1.0).abs() < EXP_ERROR * 0.9);
        }
    }

    #[test]
    fn the_edges_are_within_their_errors() {
        let last = 1.0 - f64::EPSILON / 2.0;
        for x in [f64::EPSILON / 2.0, 0.5, last, 1.0, 1.0 + f64::EPSILON, 2.0] {
            assert!((ln(x) - libm::log(x)).abs() < LN_ERROR, "{x}");
        }
        for t in [-1.0, 0.0, STEP_ABOVE, 50.0] {
            assert!((exp(t) / libm::exp(t) - 1.0).abs() < EXP_ERROR, "{t}");
        }
    }

    const STEP_ABOVE: f64 = LN_2 / 64.0;
}
