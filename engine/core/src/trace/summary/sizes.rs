//! Request sizes: exact up to 2 MiB, by powers of two beyond.

use serde::Serialize;

/// Largest size that is counted by itself \[sectors\].
const EXACT: usize = 4096;

/// Counts requests by size.
#[derive(Debug)]
pub(super) struct SizeCounts {
    exact: Box<[u64]>,
    /// By the power of two that is not exceeded.
    large: [u64; 33],
    largest: u64,
    sum: u64,
    count: u64,
}

impl Default for SizeCounts {
    fn default() -> Self {
        Self { exact: vec![0; EXACT + 1].into(), large: [0; 33], largest: 0, sum: 0, count: 0 }
    }
}

/// A summary of request sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SizeSummary {
    pub mean_bytes: f64,
    pub p50_bytes: u64,
    pub p90_bytes: u64,
    pub p99_bytes: u64,
    pub max_bytes: u64,
    /// Requests by size class: its largest size \[bytes\], and the number of requests in it.
    pub histogram: Vec<(u64, u64)>,
}

impl SizeCounts {
    /// Adds a request of `sectors`.
    #[inline]
    pub fn add(&mut self, sectors: u64) {
        match self.exact.get_mut(sectors as usize) {
            Some(count) => *count += 1,
            None => self.large[(sectors - 1).ilog2() as usize + 1] += 1,
        }
        self.largest = self.largest.max(sectors);
        self.sum += sectors;
        self.count += 1;
    }

    /// The sizes that occur \[sectors\], ascending, with their counts.
    fn steps(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let exact = self.exact.iter().enumerate().map(|(sectors, &count)| (sectors as u64, count));
        let large =
            self.large.iter().enumerate().map(|(power, &count)| (self.largest.min(1 << power), count));
        exact.chain(large).filter(|&(_, count)| count > 0)
    }

    fn quantile(&self, share: f64) -> u64 {
        let rank = share * self.count as f64;
        let mut below = 0;
        for (sectors, count) in self.steps() {
            below += count;
            if below as f64 >= rank {
                return sectors * 512;
            }
        }
        self.largest * 512
    }

    /// The summary; none without a request.
    pub fn summary(&self) -> Option<SizeSummary> {
        let mut classes = [0_u64; 34];
        for (sectors, count) in self.steps() {
            classes[sectors.next_power_of_two().ilog2() as usize] += count;
        }
        let histogram = classes.iter().enumerate().filter(|&(_, &count)| count > 0);
        (self.count > 0).then(|| SizeSummary {
            mean_bytes: self.sum as f64 * 512.0 / self.count as f64,
            p50_bytes: self.quantile(0.5),
            p90_bytes: self.quantile(0.9),
            p99_bytes: self.quantile(0.99),
            max_bytes: self.largest * 512,
            histogram: histogram.map(|(power, &count)| (512 << power, count)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact_up_to_2_mib() {
        let mut sizes = SizeCounts::default();
        for sectors in [1, 8, 8, 8, 9, 16, 4096, 4097, 8192, 100_000] {
            sizes.add(sectors);
        }
        let found = sizes.summary().unwrap();
        assert_eq!((found.p50_bytes, found.p90_bytes, found.max_bytes), (9 * 512, 8192 * 512, 100_000 * 512));
        assert!((found.mean_bytes - 116_435.0 / 10.0 * 512.0).abs() < 1e-6);
        let expected = [(512, 1), (4096, 3), (8192, 2), (2 << 20, 1), (4 << 20, 2), (64 << 20, 1)];
        assert_eq!(found.histogram, expected);
        assert_eq!(SizeCounts::default().summary(), None);
        sizes.add(u32::MAX.into());
        assert_eq!(sizes.summary().unwrap().max_bytes, u64::from(u32::MAX) * 512);
    }
}
