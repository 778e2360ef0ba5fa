//! Arrivals: rate and burstiness at all time scales.
//!
//! Requests are counted in bins of 1/128 s, of twice that, and so on up to the whole trace. A complete bin is added to the
//! next scale, so that a request costs about two additions for any number of scales. With N requests, n bins of a scale,
//! c(i) requests in bin i:
//!
//! - index of dispersion \[1\]: variance over mean of the requests per second; 1 for a Poisson process.
//! - Hurst parameter \[1\]: 1 + s/2, where s is the slope of the logarithm of the variance of the mean rate of a bin over
//!   the logarithm of the bin's width, over all scales with 32 bins or more; 0.5 for a load without memory, towards 1 for
//!   a self-similar load.
//! - bias of the b-model \[1\]: b with -b log2 b - (1-b) log2(1-b) = D, where D is the slope of the entropy
//!   log2 N - (1/N) sum c(i) log2 c(i) over the scales with 4 requests or more per bin; 0.5 for an even load.
//!
//! Memory: 48 bytes for each of at most 42 scales.
//!
//! 1. W. E. Leland, M. S. Taqqu, W. Willinger, D. V. Wilson: On the Self-Similar Nature of Ethernet Traffic, IEEE/ACM
//!    Transactions on Networking 2(1), 1994.
//! 2. M. Wang, T. Madhyastha, N. H. Chan, S. Papadimitriou, C. Faloutsos: Data Mining Meets Performance Evaluation: Fast
//!    Algorithms for Modeling Bursty Traffic, ICDE, 2002.

use serde::Serialize;

/// Width of the finest bins \[ns\]: 1/128 s.
const FINEST: u64 = 7_812_500;

/// The scale with bins of one second.
const SECOND: usize = 7;

/// Minimum bins for a variance.
const BINS: f64 = 32.0;
/// Minimum requests per bin for an entropy.
const REQUESTS: f64 = 4.0;

/// The bins of one scale.
#[derive(Clone, Copy, Debug, Default)]
struct Scale {
    /// The current bin, and the requests in it so far.
    bin: u64,
    count: u64,
    /// Maximum, squares and entropy of the bins before.
    most: u64,
    squares: f64,
    entropy: f64,
}

impl Scale {
    /// Completes the current bin.
    #[inline]
    fn complete_bin(&mut self) {
        let count = self.count as f64;
        self.most = self.most.max(self.count);
        self.squares += count * count;
        if self.count > 1 {
            self.entropy += count * libm::log2(count);
        }
    }
}

/// Collects arrivals.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    first: u64,
    last: u64,
    count: u64,
    gap_squares: f64,
    scales: Vec<Scale>,
}

/// Rate and burstiness of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Mean requests per second.
    pub mean_per_s: Option<f64>,
    /// Requests in the second with the most, seconds counted from the first request.
    pub peak_per_s: u64,
    /// Standard deviation over mean of the times between requests; 1 for a Poisson process.
    pub gap_cv: Option<f64>,
    /// Variance over mean of the requests per second; 1 for a Poisson process.
    pub dispersion_1s: Option<f64>,
    /// Hurst parameter, from the decrease of the variance with the width of the bins.
    pub hurst: Option<f64>,
    /// Bias of the b-model, from the increase of the entropy with the number of bins.
    pub b_model_bias: Option<f64>,
}

impl Arrivals {
    /// Adds a request at `time` \[ns\], or at the time of the one before if that is later.
    #[inline]
    pub fn add(&mut self, time: u64) {
        if self.count == 0 {
            (self.first, self.last) = (time, time);
        }
        let time = time.max(self.last);
        let gap = (time - self.last) as f64;
        self.gap_squares += gap * gap;
        self.last = time;
        self.count += 1;
        self.put(0, (time - self.first) / FINEST, 1);
    }

    /// Adds requests to a bin of a scale, and completes the bin before it.
    #[inline]
    fn put(&mut self, at: usize, bin: u64, count: u64) {
        match self.scales.get_mut(at) {
            None => self.scales.push(Scale { bin, count, ..Scale::default() }),
            Some(scale) if scale.bin == bin => scale.count += count,
            Some(scale) => {
                let (over, held) = (scale.bin, scale.count);
                scale.complete_bin();
                (scale.bin, scale.count) = (bin, count);
                self.put(at + 1, over >> 1, held);
            }
        }
    }

    /// Rate and burstiness so far.
    pub fn rate(&self) -> Rate {
        let span = (self.last - self.first) as f64;
        let gaps = self.count.saturating_sub(1) as f64;
        let mean_gap = span / gaps;
        let gap_cv = (gaps > 1.0 && span > 0.0).then(|| {
            let variance = (self.gap_squares / gaps - mean_gap * mean_gap).max(0.0);
            variance.sqrt() / mean_gap
        });
        let mut whole = self.clone();
        let mut at = 0;
        while at < whole.scales.len() {
            let Scale { bin, count, .. } = whole.scales[at];
            whole.scales[at].complete_bin();
            if at + 1 < whole.scales.len() {
                whole.put(at + 1, bin >> 1, count);
            }
            at += 1;
        }
        let mean_per_s = (span > 0.0).then(|| self.count as f64 / (span / 1e9));
        let second = whole.scales.get(SECOND);
        Rate {
            mean_per_s,
            peak_per_s: second.map_or(self.count, |scale| scale.most),
            gap_cv,
            dispersion_1s: second.and_then(|scale| {
                let (bins, mean, variance) = self.whole_bins(SECOND, scale);
                (bins >= 2.0 && mean > 0.0).then(|| variance / mean)
            }),
            hurst: whole.hurst(),
            b_model_bias: whole.bias(),
        }
    }

    /// Bins of a scale, from the first request to the last.
    fn bins(&self, scale: usize) -> f64 {
        ((((self.last - self.first) / FINEST) >> scale) + 1) as f64
    }

    /// The bins of a scale except the last, which the end of the trace cuts off, and mean and variance of their counts.
    /// Precondition: all bins are complete.
    fn whole_bins(&self, at: usize, scale: &Scale) -> (f64, f64, f64) {
        let bins = self.bins(at) - 1.0;
        let last = scale.count as f64;
        let mean = (self.count as f64 - last) / bins;
        (bins, mean, (scale.squares - last * last) / bins - mean * mean)
    }

    fn hurst(&self) -> Option<f64> {
        let points = self.scales.iter().enumerate().filter_map(|(at, scale)| {
            let (bins, _, variance) = self.whole_bins(at, scale);
            (bins >= BINS && variance > 0.0).then(|| (at as f64, libm::log2(variance) - 2.0 * at as f64))
        });
        slope(points).map(|slope| 1.0 + slope / 2.0)
    }

    fn bias(&self) -> Option<f64> {
        let total = self.count as f64;
        let points = self.scales.iter().enumerate().filter_map(|(at, scale)| {
            let bins = self.bins(at);
            (bins >= 2.0 && total / bins >= REQUESTS)
                .then(|| (-(at as f64), libm::log2(total) - scale.entropy / total))
        });
        slope(points).map(|slope| bias_of(slope.clamp(0.0, 1.0)))
    }
}

/// The slope of the least-squares line through three points or more.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (at, value) in points {
        n += 1.0;
        x += at;
        y += value;
        xx += at * at;
        xy += at * value;
    }
    (n >= 3.0).then(|| (n * xy - x * y) / (n * xx - x * x))
}

/// The b of 0.5 to 1 whose binary entropy is `entropy`.
fn bias_of(entropy: f64) -> f64 {
    let (mut low, mut high) = (0.5, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let rest: f64 = 1.0 - middle;
        let found = -middle * libm::log2(middle) - if rest > 0.0 { rest * libm::log2(rest) } else { 0.0 };
        if found > entropy { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(times: impl IntoIterator<Item = u64>) -> Rate {
        let mut arrivals = Arrivals::default();
        times.into_iter().for_each(|time| arrivals.add(time));
        arrivals.rate()
    }

    /// Pseudo-random numbers, the same each time.
    fn noise(seed: u64) -> impl Iterator<Item = f64> {
        let mut state = seed;
        std::iter::from_fn(move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Some(((state >> 33) as f64 + 0.5) / (1_u64 << 31) as f64)
        })
    }

    #[test]
    fn an_even_load_has_no_dispersion() {
        let found = rate((0..100_000).map(|index| index * 10_000_000));
        assert!((found.mean_per_s.unwrap() - 100.001).abs() < 1e-3);
        assert_eq!(found.peak_per_s, 100);
        assert!(found.gap_cv.unwrap() < 1e-6);
        assert!(found.dispersion_1s.unwrap() < 1e-3);
        assert!(found.b_model_bias.unwrap() < 0.55, "{found:?}");
    }

    #[test]
    fn a_poisson_process_has_dispersion_1_and_hurst_0_5() {
        let mut time = 0.0;
        let times: Vec<u64> = noise(7)
            .take(400_000)
            .map(|draw| {
                time += -libm::log(draw) * 5e6;
                time as u64
            })
            .collect();
        let found = rate(times);
        assert!((found.gap_cv.unwrap() - 1.0).abs() < 0.01, "{found:?}");
        assert!((found.dispersion_1s.unwrap() - 1.0).abs() < 0.1, "{found:?}");
        assert!((found.hurst.unwrap() - 0.5).abs() < 0.08, "{found:?}");
        assert!(found.b_model_bias.unwrap() < 0.6, "{found:?}");
    }

    #[test]
    fn the_bias_of_a_b_model_is_recovered() {
        let mut counts = vec![1_000_000.0];
        for _ in 0..12 {
            counts = counts.iter().flat_map(|count| [count * 0.7, count * 0.3]).collect();
        }
        let times = counts
            .iter()
            .enumerate()
            .flat_map(|(bin, &count)| std::iter::repeat_n(bin as u64 * FINEST, count as usize));
        let found = rate(times);
        assert!((found.b_model_bias.unwrap() - 0.7).abs() < 0.01, "{found:?}");
        assert!(found.hurst.unwrap() > 0.7, "{found:?}");
    }

    #[test]
    fn seconds_are_counted_from_the_first_request() {
        let second = 1_000_000_000;
        let found = rate([5, 6, second + 4, second + 5, 9 * second]);
        assert_eq!(found.peak_per_s, 3);
        // Counts 3 and 1 in the eight seconds that are whole: mean 1/2, variance 10/8 - 1/4.
        assert!((found.dispersion_1s.unwrap() - 2.0).abs() < 1e-9, "{found:?}");
        let one = rate([5]);
        assert_eq!((one.peak_per_s, one.mean_per_s, one.gap_cv), (1, None, None));
    }
}
