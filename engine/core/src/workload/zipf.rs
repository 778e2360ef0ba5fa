//! Zipf-distributed ranks: rank k of n with probability proportional to k^-exponent.
//!
//! Rejection-inversion: Hormann, Derflinger: Rejection-inversion to generate variates from monotone discrete
//! distributions, ACM TOMACS 6(3), 1996. Constant memory; fewer than 1.2 trials per draw, most of them decided by an
//! estimate with a bounded error.

use crate::rng::{RandomStream, elementary};

/// A Zipf distribution of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    count: u64,
    exponent: f64,
    /// Area under the hat up to the first rank, and up to the last.
    first: f64,
    last: f64,
    shortcut: f64,
    /// 1 / (1 - exponent), infinite for an exponent of 1.
    inverse: f64,
    /// Maximum relative error of an estimated inverse area.
    error: f64,
}

impl Zipf {
    /// Ranks 1 to `count` (at least 1) with `exponent` of 0 or more.
    pub fn new(count: u64, exponent: f64) -> Self {
        let inverse = 1.0 / (1.0 - exponent);
        // That of the logarithm is multiplied; the rest is that of the arithmetic, here and in the exact computation.
        let error = elementary::EXP_ERROR + 1.5 * elementary::LN_ERROR * inverse.abs() + 8e-14;
        let mut zipf = Self { count, exponent, first: 0.0, last: 0.0, shortcut: 0.0, inverse, error };
        zipf.first = zipf.area(1.5) - 1.0;
        zipf.last = zipf.area(count as f64 + 0.5);
        zipf.shortcut = 2.0 - zipf.inverse_area(zipf.area(2.5) - zipf.density(2.0));
        zipf
    }

    /// Draws a rank from 1 to `count`.
    #[inline]
    pub fn rank(&self, stream: &mut RandomStream) -> u64 {
        loop {
            let area = self.last + stream.unit() * (self.first - self.last);
            if let Some(rank) = self.estimate_rank(area).or_else(|| self.exact_rank(area)) {
                return rank;
            }
        }
    }

    /// The rank at an area, if an estimate decides it.
    #[inline]
    fn estimate_rank(&self, area: f64) -> Option<u64> {
        let power = 1.0 + area * (1.0 - self.exponent);
        if power < f64::EPSILON {
            return None;
        }
        let x = elementary::exp(elementary::ln(power) * self.inverse);
        let rank = (x + 0.5) as i64;
        // From where the rank begins; it is accepted from half less the shortcut on.
        let within = x + 0.5 - rank as f64;
        let margin = x * self.error;
        let is_accepted = within - margin > (0.5 - self.shortcut).max(0.0) && within + margin < 1.0;
        (is_accepted && rank >= 1 && rank as u64 <= self.count).then_some(rank as u64)
    }

    /// The rank at an area; none if it is rejected.
    #[inline(never)]
    fn exact_rank(&self, area: f64) -> Option<u64> {
        let x = self.inverse_area(area);
        let rank = ((x + 0.5) as u64).clamp(1, self.count);
        let k = rank as f64;
        (k - x <= self.shortcut || area >= self.area(k + 0.5) - self.density(k)).then_some(rank)
    }

    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.exponent * libm::log(x))
    }

    /// Integral of the density, up to a constant.
    fn area(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let power = (1.0 - self.exponent) * log;
        if power.abs() > 1e-8 { libm::expm1(power) / power * log } else { (1.0 + power * 0.5) * log }
    }

    fn inverse_area(&self, area: f64) -> f64 {
        // Rounding may push the argument just below -1.
        let power = (area * (1.0 - self.exponent)).max(-1.0);
        let log =
            if power.abs() > 1e-8 { libm::log1p(power) / power * area } else { (1.0 - power * 0.5) * area };
        libm::exp(log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn estimates_are_exact_where_they_decide() {
        let mut decided = 0;
        for exponent in [0.0, 0.5, 0.9, 0.99, 1.0, 1.0 + 1e-9, 1.2, 3.0] {
            for count in [1, 2, 1000, 1_000_000, 1 << 40] {
                let zipf = Zipf::new(count, exponent);
                let mut stream = RandomStream::named(4, 0, "zipf", 0, Purpose::Address);
                for _ in 0..10_000 {
                    let area = zipf.last + stream.unit() * (zipf.first - zipf.last);
                    if let Some(rank) = zipf.estimate_rank(area) {
                        assert_eq!(Some(rank), zipf.exact_rank(area), "exponent {exponent}, {count} ranks");
                        decided += 1;
                    }
                }
            }
        }
        assert!(decided > 200_000, "{decided}");
    }

    #[test]
    fn shares_of_ranks_are_exact() {
        let draws = 400_000_u32;
        for exponent in [0.0, 0.8, 1.0, 1.2] {
            let zipf = Zipf::new(1000, exponent);
            let mut stream = RandomStream::named(3, 0, "zipf", 0, Purpose::Address);
            let mut counts = [0_u32; 1001];
            for _ in 0..draws {
                counts[zipf.rank(&mut stream) as usize] += 1;
            }
            let weight = |k: usize| libm::pow(k as f64, -exponent);
            let total: f64 = (1..=1000).map(weight).sum();
            for k in [1, 2, 3, 10, 1000] {
                let expected = weight(k) / total;
                let seen = f64::from(counts[k]) / f64::from(draws);
                let sigma = (expected / f64::from(draws)).sqrt();
                assert!(
                    (seen - expected).abs() < 4.0 * sigma,
                    "exponent {exponent} rank {k}: {seen} against {expected}"
                );
            }
        }
    }
}
