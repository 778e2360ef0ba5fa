use proptest::prelude::*;

use super::*;

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &value in values {
        histogram.record(SimDuration(value));
    }
    histogram
}

/// Lower edge and width of the bucket that holds `value`.
fn bucket(value: u64) -> (u64, u64) {
    let found = of(&[value]).buckets().next().unwrap();
    (found.lower.0, found.upper.0 - found.lower.0)
}

#[test]
fn bucket_widths_worked_by_hand() {
    assert_eq!(bucket(0), (0, 1));
    assert_eq!(bucket(255), (255, 1));
    // From 256 on in steps of 2, from 512 on in steps of 4.
    assert_eq!(bucket(256), (256, 2));
    assert_eq!(bucket(511), (510, 2));
    assert_eq!(bucket(515), (512, 4));
    // 1 ms lies in [2^19, 2^20), in steps of 4096: 1,000,000 / 4096 = 244.1.
    assert_eq!(bucket(1_000_000), (244 * 4096, 4096));
    assert_eq!(bucket(u64::MAX).0, 255 << 56);
    assert_eq!(index(u64::MAX), BUCKETS - 1);
}

#[test]
fn buckets_are_contiguous() {
    for bucket in 1..BUCKETS {
        assert_eq!(index(lower_edge(bucket)), bucket);
        assert_eq!(index(lower_edge(bucket) - 1), bucket - 1);
    }
}

#[test]
fn small_values_have_exact_quantiles() {
    let histogram = of(&[30, 10, 20, 40]);
    assert_eq!(histogram.quantile(0.0), Some(10.0));
    assert_eq!(histogram.quantile(0.25), Some(10.0));
    assert_eq!(histogram.quantile(0.26), Some(20.0));
    assert_eq!(histogram.quantile(0.5), Some(20.0));
    assert_eq!(histogram.quantile(1.0), Some(40.0));
    assert_eq!(histogram.mean(), Some(25.0));
    assert_eq!((histogram.min(), histogram.max()), (Some(SimDuration(10)), Some(SimDuration(40))));
}

#[test]
fn a_quantile_is_interpolated_within_its_bucket() {
    // [1024, 1032) holds four of eight; half of the values is its end, a quarter its middle.
    let histogram = of(&[1024, 1025, 1030, 1031, 5000, 5000, 5000, 5000]);
    assert_eq!(histogram.quantile(0.5), Some(1031.0));
    assert_eq!(histogram.quantile(0.25), Some(1027.5));
    // One value alone is exact, since the extremes are.
    assert_eq!(of(&[1_000_003]).quantile(0.95), Some(1_000_003.0));
}

#[test]
fn an_empty_histogram_has_no_statistics() {
    let mut histogram = Histogram::new();
    assert_eq!((histogram.quantile(0.5), histogram.mean(), histogram.max()), (None, None, None));
    assert_eq!(histogram.buckets().count(), 0);
    histogram.record(SimDuration(7));
    histogram.clear();
    assert_eq!(histogram, Histogram::default());
}

#[test]
fn the_largest_values_are_counted_without_overflow() {
    let histogram = of(&[u64::MAX, u64::MAX]);
    assert_eq!(histogram.max(), Some(SimDuration(u64::MAX)));
    assert!((histogram.mean().unwrap() / u64::MAX as f64 - 1.0).abs() < 1e-12);
}

fn values() -> impl Strategy<Value = Vec<u64>> {
    // Even over the octaves, as latencies are.
    prop::collection::vec(
        (0_u32..45, 0.0_f64..1.0).prop_map(|(e, x)| ((1.0 + x) * (1_u64 << e) as f64) as u64),
        1..300,
    )
}

proptest! {
    #[test]
    fn quantiles_agree_with_sorting(mut values in values(), q in 0.0_f64..=1.0) {
        let histogram = of(&values);
        values.sort_unstable();
        let rank = ((q * values.len() as f64).ceil() as usize).max(1);
        let exact = values[rank - 1] as f64;
        let measured = histogram.quantile(q).unwrap();
        prop_assert!((measured - exact).abs() <= exact / 128.0, "{} for {}", measured, exact);
        prop_assert_eq!(histogram.count(), values.len() as u64);
        prop_assert_eq!(histogram.buckets().map(|bucket| bucket.count).sum::<u64>(), values.len() as u64);
        let sum: u64 = values.iter().sum();
        prop_assert_eq!(histogram.mean(), Some(sum as f64 / values.len() as f64));
    }

    #[test]
    fn merging_is_recording_both(left in values(), right in values()) {
        let mut merged = of(&left);
        merged.merge(&of(&right));
        prop_assert_eq!(merged, of(&[left, right].concat()));
    }

    #[test]
    fn quantiles_never_fall(values in values(), a in 0.0_f64..1.0, b in 0.0_f64..1.0) {
        let histogram = of(&values);
        prop_assert!(histogram.quantile(a.min(b)) <= histogram.quantile(a.max(b)));
    }
}
