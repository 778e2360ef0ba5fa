//! Histogram: the distribution of a duration in fixed memory, log-linear as in `HdrHistogram`.
//!
//! Each octave \[2^e, 2^(e+1)\) ns is divided into 128 buckets of equal width, so the width of a bucket is at most 1/128
//! of its lower edge; below 256 ns each nanosecond has its own bucket. So the error of a quantile is below 0.8 %, and
//! mean, minimum and maximum are exact.
//!
//! Assumed: values are evenly distributed within a bucket (quantiles interpolate linearly).
//!
//! Cost: a few instructions to record; 1 KiB for each octave up to the greatest duration, at most 59 KiB.

use crate::units::SimDuration;

/// Buckets per octave, as a power of two.
const SUB_BITS: u32 = 7;
/// Values below this have a bucket each.
const EXACT: u64 = 2 << SUB_BITS;
/// Number of buckets, which cover every `u64`.
const BUCKETS: usize = ((64 - SUB_BITS + 1) << SUB_BITS) as usize;

/// Counts of durations by size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// By bucket, up to the last octave recorded: a run has several histograms that stay empty.
    counts: Vec<u64>,
    count: u64,
    /// \[ns\]
    sum: u128,
    least: u64,
    greatest: u64,
}

/// A non-empty bucket: durations from `lower` up to, but not including, `upper`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Lower edge \[ns\].
    pub lower: SimDuration,
    /// Upper edge \[ns\].
    pub upper: SimDuration,
    /// Durations recorded.
    pub count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    pub const fn new() -> Self {
        Self { counts: Vec::new(), count: 0, sum: 0, least: u64::MAX, greatest: 0 }
    }

    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, duration: SimDuration) {
        let index = index(duration.0);
        if index >= self.counts.len() {
            self.grow(index);
        }
        self.counts[index] += 1;
        self.count += 1;
        self.sum += u128::from(duration.0);
        self.least = self.least.min(duration.0);
        self.greatest = self.greatest.max(duration.0);
    }

    /// Extends the counts to the octave of bucket `index`.
    #[cold]
    fn grow(&mut self, index: usize) {
        self.counts.resize((index | ((1 << SUB_BITS) - 1)) + 1, 0);
    }

    /// Durations recorded.
    #[inline]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Exact mean \[ns\]; `None` while nothing is recorded.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Maximum duration recorded.
    pub fn max(&self) -> Option<SimDuration> {
        (self.count > 0).then_some(SimDuration(self.greatest))
    }

    /// Minimum duration recorded.
    pub fn min(&self) -> Option<SimDuration> {
        (self.count > 0).then_some(SimDuration(self.least))
    }

    /// The quantile `q` (0 to 1) of the recorded durations \[ns\].
    ///
    /// It is in the bucket of the ceil(q n)-th smallest of n durations, and within the exact extremes.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = q.clamp(0.0, 1.0) * self.count as f64;
        let mut below = 0.0;
        for bucket in self.buckets() {
            let count = bucket.count as f64;
            if below + count >= rank {
                let (lower, last) = (bucket.lower.0 as f64, (bucket.upper.0 - 1) as f64);
                let value = lower + (rank - below) / count * (last - lower);
                return Some(value.clamp(self.least as f64, self.greatest as f64));
            }
            below += count;
        }
        self.max().map(|greatest| greatest.0 as f64)
    }

    /// Adds the durations of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// Removes all durations; keeps the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
        (self.count, self.sum, self.least, self.greatest) = (0, 0, u64::MAX, 0);
    }

    /// The non-empty buckets, by rising duration.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let from = if self.count > 0 { index(self.least) } else { BUCKETS };
        let to = index(self.greatest);
        (from..=to).filter(|&index| self.counts[index] > 0).map(|index| Bucket {
            lower: SimDuration(lower_edge(index)),
            upper: SimDuration(if index + 1 == BUCKETS { u64::MAX } else { lower_edge(index + 1) }),
            count: self.counts[index],
        })
    }
}

/// The bucket of `value`: its leading 8 bits, after the 128 buckets for each octave below.
#[inline]
const fn index(value: u64) -> usize {
    let octave = (value | (EXACT - 1)).ilog2() - SUB_BITS;
    ((octave as usize) << SUB_BITS) + (value >> octave) as usize
}

/// The minimum of bucket `index`.
const fn lower_edge(index: usize) -> u64 {
    if (index as u64) < EXACT {
        return index as u64;
    }
    let octave = (index >> SUB_BITS) as u32 - 1;
    ((index as u64 & ((1 << SUB_BITS) - 1)) | (1 << SUB_BITS)) << octave
}

#[cfg(test)]
mod tests;
