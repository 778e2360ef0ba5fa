//! Tests of the address processes.

mod sampling;

use super::*;
use crate::config::Placement;
use crate::rng::Purpose;
use crate::units::Fraction;

fn model(address: &Address, stream: &mut RandomStream) -> AddressModel {
    AddressModel::new(address, Sectors(1 << 20), (Sectors(16), None), 1, stream)
}

fn draws(address: &Address, count: usize) -> Vec<u64> {
    let mut stream = RandomStream::named(1, 0, "a", 0, Purpose::Address);
    let model = model(address, &mut stream);
    let mut state = model.state(0, &mut stream);
    (0..count).map(|_| model.draw(&mut state, &mut stream, 16, 16).0).collect()
}

#[test]
fn uniform_stays_in_its_footprint_and_covers_it() {
    let address = Address::Uniform {
        sampling: Sampling::Independent,
        footprint: Some(Bytes(64 * 8192)),
        placement: Placement::Contiguous { offset: Bytes(1 << 20) },
        per_user: false,
    };
    let mut places = draws(&address, 4000);
    places.sort_unstable();
    places.dedup();
    let expected: Vec<u64> = (0..64).map(|i| 2048 + i * 16).collect();
    assert_eq!(places, expected);
}

#[test]
fn sequential_runs_continue_and_wrap() {
    let endless = Address::Sequential {
        run: None,
        jump_fraction: None,
        common: false,
        footprint: Some(Bytes(4 * 8192)),
        placement: Placement::default(),
        per_user: false,
    };
    assert_eq!(draws(&endless, 6), [0, 16, 32, 48, 0, 16]);
    let runs = Address::Sequential {
        run: Some(Bytes(4 * 8192)),
        jump_fraction: None,
        common: false,
        footprint: None,
        placement: Placement::default(),
        per_user: false,
    };
    let places = draws(&runs, 400);
    let breaks = places.windows(2).filter(|pair| pair[1] != pair[0] + 16).count();
    assert!((98..=100).contains(&breaks), "{breaks} breaks in 100 runs of four");
}

#[test]
fn endless_sequences_of_other_users_start_elsewhere() {
    let address = Address::Sequential {
        run: None,
        jump_fraction: None,
        common: false,
        footprint: Some(Bytes(64 << 20)),
        placement: Placement::default(),
        per_user: false,
    };
    let mut stream = RandomStream::named(1, 0, "a", 1, Purpose::Address);
    let model = model(&address, &mut stream);
    let mut state = model.state(1, &mut stream);
    let places: Vec<_> = (0..3).map(|_| model.draw(&mut state, &mut stream, 16, 16).0).collect();
    assert_ne!(places[0], 0);
    assert_eq!([places[1] - places[0], places[2] - places[1]], [16, 16]);
}

#[test]
fn a_block_larger_than_the_footprint_stays_in_it() {
    let address = Address::Zipf {
        exponent: 1.0,
        approximate: false,
        block: Bytes(64 << 10),
        footprint: Some(Bytes(16 << 10)),
        placement: Placement::default(),
        per_user: false,
    };
    let mut places = draws(&address, 200);
    places.sort_unstable();
    places.dedup();
    assert_eq!(places, [0, 16]);
}

#[test]
fn spread_extents_have_equal_distances() {
    let address = Address::Uniform {
        sampling: Sampling::Independent,
        footprint: Some(Bytes(4 << 20)),
        placement: Placement::Spread { extent: Bytes(1 << 20), share: Fraction(1.0) },
        per_user: false,
    };
    let mut extents: Vec<u64> = draws(&address, 2000).iter().map(|lba| lba / 2048).collect();
    extents.sort_unstable();
    extents.dedup();
    assert_eq!(extents, [0, 128, 256, 384]);
}

#[test]
fn scattered_extents_match_the_footprint_in_number() {
    let address = Address::Uniform {
        sampling: Sampling::Independent,
        footprint: Some(Bytes(8 << 20)),
        placement: Placement::Scattered { extent: Bytes(1 << 20), share: Fraction(1.0) },
        per_user: false,
    };
    let mut extents: Vec<u64> = draws(&address, 2000).iter().map(|lba| lba / 2048).collect();
    extents.sort_unstable();
    extents.dedup();
    assert_eq!(extents.len(), 8);
    assert!(extents.iter().all(|&extent| extent < 512));
}

/// An address process over 256 places of 8 KiB.
fn process(fields: &serde_json::Value) -> Address {
    let mut address = serde_json::json!({"footprint": 256 * 8192});
    for (key, value) in fields.as_object().unwrap() {
        address[key] = value.clone();
    }
    serde_json::from_value(address).unwrap()
}

/// The number of `draws` in each of the ranges that end at the places `ends`.
fn shares(draws: &[u64], ends: &[u64]) -> Vec<f64> {
    let mut before = 0;
    let share = |&end: &u64| {
        let count = draws.iter().filter(|&&lba| (before..end * 16).contains(&lba)).count();
        before = end * 16;
        count as f64
    };
    ends.iter().map(share).collect()
}

fn assert_shares(seen: &[f64], expected: &[f64]) {
    let total: f64 = seen.iter().sum();
    for (seen, share) in seen.iter().zip(expected) {
        let sigma = (total * share * (1.0 - share)).sqrt();
        assert!((seen - total * share).abs() <= 4.0 * sigma + 1e-9, "{seen} of {total} for {share}");
    }
}

#[test]
fn zones_get_their_shares_and_are_uniform() {
    let hot = process(&serde_json::json!({"kind": "hot_cold", "hot_fraction": 0.25, "access_fraction": 0.9}));
    let places = draws(&hot, 40_000);
    assert_shares(&shares(&places, &[32, 64, 160, 256]), &[0.45, 0.45, 0.05, 0.05]);
    // JESD219: 50 % of the accesses to 5 % of the places, 30 % to the next 15 %, 20 % to the others.
    let shares_of_zones = serde_json::json!([{"size": 5, "accesses": 50}, {"size": 15, "accesses": 30}, {"size": 80, "accesses": 20}]);
    let places = draws(&process(&serde_json::json!({"kind": "zoned", "zones": shares_of_zones})), 40_000);
    // Bounds are rounded down to whole places: 12.8 and 51.2.
    assert_shares(&shares(&places, &[12, 51, 256]), &[0.5, 0.3, 0.2]);
}

#[test]
fn pareto_shares_hold_at_every_scale() {
    for h in [0.1, 0.2, 0.5] {
        let address = process(&serde_json::json!({"kind": "pareto", "hot_fraction": h, "block": 8192}));
        let draws = draws(&address, 100_000);
        let mut counts = vec![0.0; 256];
        for lba in draws {
            counts[lba as usize / 16] += 1.0;
        }
        counts.sort_by(|a, b| f64::total_cmp(b, a));
        for depth in 1..3 {
            let blocks = libm::pow(h, f64::from(depth)) * 256.0;
            let share = libm::pow(1.0 - h, f64::from(depth));
            // The share of whole blocks: a fraction x of the blocks gets x^(ln(1 - h) / ln h).
            let whole = blocks.floor() as usize;
            let law = libm::pow(blocks.floor() / 256.0, libm::log1p(-h) / libm::log(h));
            assert!(law <= share + 1e-9);
            let seen = counts[..whole].iter().sum::<f64>() / 1e5;
            // At 0.5 all blocks are equal, and sorting picks the most frequent.
            let tolerance = if h < 0.5 { 0.008 } else { 0.03 };
            assert!((seen - law).abs() < tolerance, "{h}: {seen} for {law}");
        }
    }
}

#[test]
fn strides_cover_the_footprint() {
    let address = process(&serde_json::json!({"kind": "strided", "stride": 64 * 8192}));
    let places: Vec<u64> = draws(&address, 260).iter().map(|lba| lba / 16).collect();
    assert_eq!(places[..9], [0, 64, 128, 192, 1, 65, 129, 193, 2]);
    assert_eq!(places[252..], [63, 127, 191, 255, 0, 64, 128, 192]);
    let mut all = places[..256].to_vec();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..256));
}

#[test]
fn jumps_have_their_rate_and_sequences_continue_there() {
    let address = process(&serde_json::json!({"kind": "sequential", "jump_fraction": 0.3}));
    let places = draws(&address, 20_000);
    let breaks = places.windows(2).filter(|pair| pair[1] != (pair[0] + 16) % 4096).count() as f64;
    let share = 0.3 * 255.0 / 256.0;
    assert!((breaks - 19_999.0 * share).abs() < 4.0 * (2e4 * share * (1.0 - share)).sqrt(), "{breaks}");
}

#[test]
fn each_user_stays_in_its_own_footprint() {
    for kind in ["uniform", "sequential", "stack_distance", "hot_cold", "strided", "hierarchical_reuse"] {
        let mut fields = serde_json::json!({"kind": kind, "footprint": 64 * 8192, "per_user": true,
            "placement": {"kind": "contiguous", "offset": 8192}});
        match kind {
            "stack_distance" => {
                fields["curve"] = serde_json::json!([{"size": 65_536, "hit_ratio": 0.5}]);
            }
            "strided" => fields["stride"] = serde_json::json!(24_576),
            "hierarchical_reuse" => fields["block"] = serde_json::json!(8192),
            "hot_cold" => {
                fields["hot_fraction"] = serde_json::json!(0.5);
                fields["access_fraction"] = serde_json::json!(0.5);
            }
            _ => {}
        }
        let address = process(&fields);
        let mut stream = RandomStream::named(1, 0, "a", 0, Purpose::Address);
        let model = AddressModel::new(&address, Sectors(1 << 20), (Sectors(16), None), 4, &mut stream);
        for user in 0..4 {
            let mut state = model.state(user, &mut stream);
            let base = 16 + 1024 * u64::from(user);
            for count in 0..500 {
                let lba = model.draw(&mut state, &mut stream, 16, 16).0;
                assert!((base..base + 1024).contains(&lba), "{kind}: user {user} at {lba}");
                assert!(count > 0 || !["sequential", "strided"].contains(&kind) || lba == base);
            }
        }
    }
}

#[test]
fn all_users_append_to_a_common_log() {
    let address = process(&serde_json::json!({"kind": "sequential", "common": true}));
    let mut stream = RandomStream::named(1, 0, "a", 0, Purpose::Address);
    let model = model(&address, &mut stream);
    let mut states = [model.state(0, &mut stream), model.state(1, &mut stream)];
    let places: Vec<u64> = (0..300).map(|i| model.draw(&mut states[i % 2], &mut stream, 16, 16).0).collect();
    assert!(places.iter().enumerate().all(|(index, &lba)| lba == index as u64 % 256 * 16));
}
