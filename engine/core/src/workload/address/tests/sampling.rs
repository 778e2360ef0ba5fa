//! Laws of sampling without replacement, of strided zones and of normal ranks.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

/// Requests of these sizes, one after another: start and length of each in sectors.
fn extents(address: &Address, sizes: &[u64], alignment: Option<u64>, count: usize) -> Vec<(u64, u64)> {
    let mut stream = RandomStream::named(7, 0, "a", 0, Purpose::Address);
    let largest = sizes.iter().copied().max().unwrap();
    let bounds = (Sectors(largest), alignment.map(Sectors));
    let model = AddressModel::new(address, Sectors(1 << 20), bounds, 1, &mut stream);
    let mut state = model.state(0, &mut stream);
    let draw = |index: usize| {
        let size = sizes[index % sizes.len()];
        let start = model.draw(&mut state, &mut stream, size, alignment.unwrap_or(size)).0;
        (start, state.clip(size))
    };
    (0..count).map(draw).collect()
}

fn uniform(footprint: u64, sampling: &str) -> Address {
    let address = serde_json::json!({"kind": "uniform", "footprint": footprint * 512, "sampling": sampling});
    serde_json::from_value(address).unwrap()
}

proptest! {
    #[test]
    fn a_pass_accesses_every_place_once(places in 1_u64..600, is_cyclic in any::<bool>()) {
        let name = if is_cyclic { "cyclic" } else { "without_replacement" };
        let drawn = extents(&uniform(places * 8 + 3, name), &[8], None, 3 * places as usize);
        let passes: Vec<_> = drawn.chunks(places as usize).collect();
        for pass in &passes {
            let mut starts: Vec<_> = pass.iter().map(|(start, _)| start / 8).collect();
            starts.sort_unstable();
            prop_assert!(starts.into_iter().eq(0..places));
        }
        if places > 20 {
            prop_assert_eq!(passes[0] == passes[1], is_cyclic);
        }
    }

    #[test]
    fn a_pass_of_several_sizes_accesses_every_sector_once(units in 1_u64..400, sizes in prop::collection::vec(1_u64..17, 1..5)) {
        let units = units.max(16);
        let sizes: Vec<_> = sizes.iter().chain(&[16]).map(|units| units * 8).collect();
        let drawn = extents(&uniform(units * 8, "without_replacement"), &sizes, Some(8), 2000);
        let (mut accessed, mut passes) = (HashSet::new(), 0);
        for (index, (start, length)) in drawn.into_iter().enumerate() {
            if accessed.len() as u64 == units * 8 {
                accessed.clear();
                passes += 1;
            }
            prop_assert!(length > 0 && length <= sizes[index % sizes.len()] && length % 8 == 0);
            for sector in start..start + length {
                prop_assert!(sector < units * 8);
                prop_assert!(accessed.insert(sector), "sector {} twice in pass {}", sector, passes);
            }
        }
        prop_assert!(passes > 1);
    }

    #[test]
    fn sources_draw_passes_of_their_own(user in 1_u32..50) {
        let address = uniform(512 * 8, "without_replacement");
        let order = |user: u32| {
            let mut stream = RandomStream::named(7, 0, "a", user, Purpose::Address);
            let model = model(&address, &mut RandomStream::named(1, 0, "a", 0, Purpose::Placement));
            let mut state = model.state(user, &mut stream);
            (0..256).map(|_| model.draw(&mut state, &mut stream, 16, 16).0).collect::<Vec<_>>()
        };
        prop_assert_ne!(order(0), order(user));
    }
}

/// The places of 8 KiB that a walk over zones of four of them draws.
fn walk(fields: &serde_json::Value, count: usize) -> Vec<u64> {
    let mut address = serde_json::json!({"kind": "strided_zones", "zone": 4 * 8192, "skip": 12 * 8192});
    for (key, value) in fields.as_object().unwrap() {
        address[key] = value.clone();
    }
    draws(&process(&address), count).iter().map(|lba| lba / 16).collect()
}

#[test]
fn zones_follow_each_other_and_wrap() {
    let places = walk(&serde_json::json!({}), 68);
    let expected: Vec<u64> = (0..17).flat_map(|zone| (0..4).map(move |at| zone % 16 * 16 + at)).collect();
    assert_eq!(places, expected);
    let half = walk(&serde_json::json!({"accessed": 2 * 8192}), 6);
    assert_eq!(half, [0, 1, 16, 17, 32, 33]);
    let twice = walk(&serde_json::json!({"accessed": 8 * 8192}), 12);
    assert_eq!(twice, [0, 1, 2, 3, 0, 1, 2, 3, 16, 17, 18, 19]);
}

#[test]
fn random_zones_are_passed_without_replacement() {
    let fields = serde_json::json!({"accessed": 8 * 8192, "sampling": "without_replacement"});
    for (visit, places) in walk(&fields, 160).chunks(8).enumerate() {
        for pass in places.chunks(4) {
            let mut within: Vec<_> = pass.iter().map(|place| place - visit as u64 % 16 * 16).collect();
            within.sort_unstable();
            assert_eq!(within, [0, 1, 2, 3]);
        }
    }
    let free = walk(&serde_json::json!({"sampling": "independent"}), 4000);
    assert!(free.chunks(4).any(|visit| visit[0] == visit[1]));
    assert!(free.iter().all(|place| place % 16 < 4));
}

#[test]
fn shares_of_normal_ranks_are_those_of_the_sum() {
    // A bell alone, and a uniform part that outweighs it.
    for (deviation, width) in [(1.0 / 12.0, 0.0), (0.001, 0.5)] {
        let address =
            serde_json::json!({"kind": "normal", "deviation": deviation, "width": width, "block": 8192});
        let mut counts = vec![0.0; 256];
        for lba in draws(&process(&address), 100_000) {
            counts[lba as usize / 16] += 1e-5;
        }
        counts.sort_by(|a, b| f64::total_cmp(b, a));
        let (half, whole) = (counts[..64].iter().sum::<f64>(), counts[..128].iter().sum::<f64>());
        // The 64 blocks in the middle are an eighth of the footprint to each side, 1.5 deviations; 128 are a quarter.
        let expected = if width > 0.0 { (0.5, 1.0) } else { (0.8664, 0.9973) };
        assert!((half - expected.0).abs() < 0.02 && (whole - expected.1).abs() < 0.01, "{half} and {whole}");
    }
}

#[test]
fn a_request_larger_than_its_block_starts_where_the_block_does() {
    let address = process(&serde_json::json!({"kind": "zipf", "exponent": 1.1, "block": 4096}));
    let drawn = extents(&address, &[8, 64], Some(8), 20_000);
    assert!(drawn.iter().all(|(start, length)| start % 8 == 0 && start + length <= 256 * 16));
    let mut starts = [vec![0.0; 512], vec![0.0; 512]];
    for (start, length) in drawn {
        starts[usize::from(length > 8)][(start / 8) as usize] += 1.0;
    }
    let hottest = |counts: &[f64]| (0..512).max_by(|&a, &b| counts[a].total_cmp(&counts[b]));
    assert_eq!(hottest(&starts[0]), hottest(&starts[1]));
}
