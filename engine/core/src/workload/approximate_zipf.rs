//! Zipf-distributed ranks by the approximation that load generators use.
//!
//! Gray et al.: Quickly generating billion-record synthetic databases, SIGMOD 1994, section 3.2. The first two ranks
//! have their shares; the others follow a power of one uniform draw.

use crate::rng::RandomStream;

/// Terms of the normalising sum at most, as in fio.
const MOST_TERMS: u64 = 10_000_000;
/// Terms that are added one by one; the rest is an integral.
const EXACT_TERMS: u64 = 1000;

/// An approximate Zipf distribution of ranks.
#[derive(Clone, Copy, Debug)]
pub struct ApproximateZipf {
    count: u64,
    /// 1 + 1/2^exponent: the normalising sum of two ranks.
    sum_of_two: f64,
    sum: f64,
    eta: f64,
    alpha: f64,
}

impl ApproximateZipf {
    /// Ranks 1 to `count` (at least 1) with an `exponent` of 0 or more, other than 1.
    pub fn new(count: u64, exponent: f64) -> Self {
        let sum = normalising_sum(count.min(MOST_TERMS), exponent);
        let sum_of_two = 1.0 + libm::exp2(-exponent);
        let eta = (1.0 - libm::pow(2.0 / count as f64, 1.0 - exponent)) / (1.0 - sum_of_two / sum);
        Self { count, sum_of_two, sum, eta, alpha: 1.0 / (1.0 - exponent) }
    }

    /// Draws a rank from 1 to `count`.
    pub fn rank(&self, stream: &mut RandomStream) -> u64 {
        let draw = stream.unit();
        let area = draw * self.sum;
        let rank = if area < 1.0 {
            1
        } else if area < self.sum_of_two {
            2
        } else {
            1 + (self.count as f64 * libm::pow(self.eta * draw - self.eta + 1.0, self.alpha)) as u64
        };
        rank.min(self.count)
    }
}

/// The sum of k^-exponent for k from 1 to `count`.
fn normalising_sum(count: u64, exponent: f64) -> f64 {
    let term = |k: f64| libm::pow(k, -exponent);
    let exact: f64 = (1..=count.min(EXACT_TERMS)).map(|k| term(k as f64)).sum();
    if count <= EXACT_TERMS {
        return exact;
    }
    let (from, to) = (EXACT_TERMS as f64, count as f64);
    let power = 1.0 - exponent;
    let integral = (libm::pow(to, power) - libm::pow(from, power)) / power;
    exact + integral + 0.5 * (term(to) - term(from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn the_sum_is_that_of_all_terms() {
        for exponent in [0.0, 0.5, 0.9, 1.1, 2.0] {
            let all: f64 = (1..=100_000).map(|k| libm::pow(f64::from(k), -exponent)).sum();
            let sum = normalising_sum(100_000, exponent);
            assert!((sum - all).abs() < 1e-6 * all, "{exponent}: {sum} for {all}");
        }
    }

    #[test]
    fn the_first_two_ranks_have_their_shares() {
        for exponent in [0.6, 0.9, 1.2] {
            let zipf = ApproximateZipf::new(1000, exponent);
            let mut stream = RandomStream::named(3, 0, "zipf", 0, Purpose::Address);
            let mut counts = [0.0; 1001];
            for _ in 0..200_000 {
                counts[zipf.rank(&mut stream) as usize] += 1.0 / 200_000.0;
            }
            for rank in [1, 2] {
                let share = libm::pow(rank as f64, -exponent) / normalising_sum(1000, exponent);
                assert!((counts[rank] - share).abs() < 0.004, "rank {rank}: {} for {share}", counts[rank]);
            }
            assert!(counts[500..].iter().sum::<f64>() > 0.01);
        }
    }
}
