use proptest::prelude::*;

use super::*;
use crate::replacement::Policy;
use crate::trace::Columns;

/// A trace of requests, each a write or not, first sector, sectors.
fn trace(requests: &[(bool, u64, u32)]) -> Trace {
    let count = requests.len();
    Trace::from_columns(Columns {
        time_ns: (0..count as u64).collect(),
        process: vec![0; count],
        lba: requests.iter().map(|request| request.1).collect(),
        sectors: requests.iter().map(|request| request.2).collect(),
        op: requests.iter().map(|request| u8::from(request.0)).collect(),
        flags: vec![0; count],
        ..Columns::default()
    })
    .unwrap()
}

fn options(block: u64, policy: Policy, sample: Option<Sample>, sizes: Option<Vec<u64>>) -> CurveOptions {
    CurveOptions { block: Sectors(block), policy, sample, sizes }
}

fn misses(curve: &Curve) -> Vec<f64> {
    curve.points.iter().map(|point| point.miss_ratio * curve.accesses as f64).collect()
}

#[test]
fn a_request_touches_each_block_that_it_covers() {
    // Blocks of 4 sectors: sectors 3 to 8 touch blocks 0, 1 and 2; sector 8 touches block 2 again.
    let trace = trace(&[(false, 3, 6), (true, 8, 1), (false, 8, 1)]);
    let [reads, writes, both] =
        miss_ratio_curves(&trace, &options(4, Policy::Lru, None, Some(vec![1, 2]))).unwrap();
    assert_eq!((reads.accesses, reads.distinct, misses(&reads)), (4, 3, vec![3.0, 3.0]));
    assert_eq!((writes.accesses, writes.distinct, misses(&writes)), (1, 1, vec![1.0, 1.0]));
    assert_eq!((both.accesses, both.distinct, misses(&both)), (5, 3, vec![3.0, 3.0]));
}

#[test]
fn bad_options_are_errors() {
    let trace = trace(&[(false, 0, 1)]);
    let error = |options| miss_ratio_curves(&trace, &options).unwrap_err();
    assert_eq!(error(options(0, Policy::Lru, None, None)), CurveError::BadBlock);
    for rate in [0.0, -1.0, 1.5, f64::NAN] {
        let code = error(options(8, Policy::Lru, Some(Sample { rate, seed: 0 }), None)).code();
        assert_eq!(code, "trace.bad-sampling-rate", "{rate}");
    }
    let small = error(options(8, Policy::Lru, Some(Sample { rate: 0.01, seed: 0 }), Some(vec![2000, 999])));
    assert_eq!(small, CurveError::SizeTooSmall { blocks: 999, least: 1000 });
    assert_eq!((small.code(), small.place()), ("trace.bad-cache-size", "sizes"));
    assert_eq!(small.data(), serde_json::json!({"blocks": 999, "least": 1000}));
}

#[test]
fn sizes_include_powers_of_two_and_both_ends() {
    assert_eq!(log_sizes(1, 20, 1), [1, 2, 4, 8, 16, 20]);
    assert_eq!(log_sizes(3, 10, 4), [3, 4, 5, 6, 7, 8, 10]);
    assert_eq!(log_sizes(7, 7, 4), [7]);
}

fn requests() -> impl Strategy<Value = Vec<(bool, u64, u32)>> {
    prop::collection::vec((any::<bool>(), prop_oneof![0_u64..60, 0_u64..2000], 1_u32..24), 1..120)
}

/// Hits of an LRU list of `size` blocks.
fn hits_by_list(keys: &[u64], size: usize) -> u64 {
    let mut list: Vec<u64> = Vec::new();
    let mut hits = 0;
    for &key in keys {
        hits += u64::from(list.contains(&key));
        list.retain(|&other| other != key);
        list.insert(0, key);
        list.truncate(size);
    }
    hits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn exact_curves_are_those_of_a_list_and_never_rise(requests in requests(), block in 1_u64..20) {
        let trace = trace(&requests);
        let curves = miss_ratio_curves(&trace, &options(block, Policy::Lru, None, None)).unwrap();
        for curve in &curves {
            let keys: Vec<u64> = requests
                .iter()
                .filter(|request| curve.side == Side::Both || (curve.side == Side::Writes) == request.0)
                .flat_map(|&(_, first, sectors)| (first..first + u64::from(sectors)).map(|sector| sector / block))
                .collect();
            // The list sees each sector; those that follow the first of a block are hits at every size.
            prop_assert!(curve.points.is_sorted_by(|a, b| a.miss_ratio >= b.miss_ratio && a.blocks < b.blocks));
            for point in curve.points.iter().step_by(3) {
                let hits = hits_by_list(&keys, point.blocks as usize);
                let misses = libm::round(point.miss_ratio * curve.accesses as f64) as u64;
                prop_assert_eq!(keys.len() as u64 - hits, misses, "{:?}", curve.side);
            }
        }
    }

    #[test]
    fn one_side_alone_has_the_curve_of_both(requests in requests(), writes: bool, is_sampled: bool) {
        // The same requests with one of the other side have all three curves computed; its block is one of its own.
        let alone: Vec<_> = requests.iter().map(|&(_, first, sectors)| (writes, first, sectors)).collect();
        let mixed = [alone.as_slice(), &[(!writes, 1 << 40, 1)]].concat();
        let sample = is_sampled.then_some(Sample { rate: 0.5, seed: 1 });
        let options = options(8, Policy::Lru, sample, Some(vec![20, 60, 200]));
        let [reads, writes_curve, both] = miss_ratio_curves(&trace(&alone), &options).unwrap();
        let [reads_mixed, writes_mixed, _] = miss_ratio_curves(&trace(&mixed), &options).unwrap();
        let (side, other, expected) =
            if writes { (writes_curve, reads, writes_mixed) } else { (reads, writes_curve, reads_mixed) };
        prop_assert_eq!(&side, &expected);
        prop_assert_eq!(Curve { side: Side::Both, ..side }, both);
        prop_assert_eq!((other.accesses, other.distinct, other.points.len()), (0, 0, 0));
    }

    #[test]
    fn a_sample_of_all_blocks_is_exact(requests in requests(), index in 0..Policy::ALL.len()) {
        let (trace, policy, sizes) = (trace(&requests), Policy::ALL[index], Some(vec![10, 30, 100, 1000]));
        let sample = Some(Sample { rate: 1.0, seed: 3 });
        let all = miss_ratio_curves(&trace, &options(8, policy, None, sizes.clone())).unwrap();
        let sampled = miss_ratio_curves(&trace, &options(8, policy, sample, sizes)).unwrap();
        for (one, other) in all.iter().zip(&sampled) {
            prop_assert_eq!((one.accesses, one.distinct), (other.accesses, other.distinct));
            for (exact, estimate) in one.points.iter().zip(&other.points) {
                prop_assert!((exact.miss_ratio - estimate.miss_ratio).abs() < 1e-12);
            }
        }
    }
}
