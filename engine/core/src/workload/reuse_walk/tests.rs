//! Laws of the hierarchical reuse walk, and the figures of an SPC-1 generator.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::rng::Purpose;

fn stream(user: u32) -> RandomStream {
    RandomStream::named(1, 0, "walk", user, Purpose::Address)
}

/// A walk over `leaves` leaves of 32 KiB with the fields of `given`.
fn walk(leaves: u64, users: u32, given: &serde_json::Value) -> ReuseWalk {
    let mut fields = serde_json::json!({"kind": "hierarchical_reuse", "footprint": leaves << 15});
    for (key, value) in given.as_object().unwrap() {
        fields[key] = value.clone();
    }
    ReuseWalk::new(&serde_json::from_value(fields).unwrap(), leaves * 64, users)
}

fn assert_share(hits: usize, total: usize, share: f64) {
    let (hits, total) = (hits as f64, total as f64);
    let width = 4.0 * (total * share * (1.0 - share)).sqrt();
    assert!((hits - total * share).abs() <= width, "{hits} of {total} for {share}");
}

#[test]
fn a_climb_reaches_each_level_with_its_probability() {
    // From leaf 0 of 4: level 0 with 1/2 (leaf 0), level 1 with 1/4 (two leaves), level 2 with 1/4 (four leaves).
    let walk = walk(4, 1, &serde_json::json!({"levels": 0, "climb_probability": 0.5}));
    let mut stream = stream(0);
    let mut counts = [0; 4];
    for _ in 0..40_000 {
        counts[walk.next_leaf(0, &mut stream) as usize] += 1;
    }
    for (count, share) in counts.into_iter().zip([0.6875, 0.1875, 0.0625, 0.0625]) {
        assert_share(count, 40_000, share);
    }
}

#[test]
fn a_climb_stays_among_the_leaves_below_its_node() {
    let walk = walk(100, 1, &serde_json::json!({"levels": 3, "climb_probability": 0.0}));
    let mut stream = stream(0);
    let reached = |leaf: u64, stream: &mut RandomStream| -> BTreeSet<u64> {
        (0..500).map(|_| walk.next_leaf(leaf, stream)).collect()
    };
    assert_eq!(reached(13, &mut stream), (8..16).collect());
    // The last node of the level has four leaves.
    assert_eq!(reached(98, &mut stream), (96..100).collect());
}

#[test]
fn all_leaves_are_equally_frequent_in_the_long_run() {
    // 100 is not a power of two.
    let walk = walk(100, 1, &serde_json::json!({"levels": 2}));
    let mut stream = stream(0);
    let mut at = walk.start(0, &mut stream);
    let mut counts = [0_u32; 100];
    for _ in 0..1_000_000 {
        counts[walk.next_block(&mut at, &mut stream, false) as usize / 8] += 1;
    }
    // Successive leaves are related: a climb to the root, after which they are not, takes about 1 / 0.44^5 = 61 requests.
    assert!(counts.iter().all(|count| (8_500..11_500).contains(count)), "{counts:?}");
}

#[test]
fn reads_pass_through_all_blocks_of_a_leaf() {
    let walk = walk(64, 2, &serde_json::json!({}));
    let mut stream = stream(0);
    let mut users = [walk.start(0, &mut stream), walk.start(1, &mut stream)];
    let mut next = [0; 64];
    for count in 0..20_000 {
        // Users who share a footprint share the positions, and writes do not move them.
        let (user, is_write) = (count % 2, count % 3 == 0);
        let block = walk.next_block(&mut users[user], &mut stream, is_write) as usize;
        if !is_write {
            assert_eq!(block % 8, next[block / 8]);
            next[block / 8] = (next[block / 8] + 1) % 8;
        }
    }
}

#[test]
fn writes_go_to_few_leaves_and_to_the_block_read_last() {
    let given = serde_json::json!({"write_spacing": 4, "last_read_fraction": 0.6, "repeat_fraction": 0.0});
    let walk = walk(1000, 1, &given);
    let mut stream = stream(0);
    let mut at = walk.start(0, &mut stream);
    let mut last_read = vec![7; 1000];
    let (mut writes, mut hits) = (0, 0);
    for count in 0..60_000 {
        let is_write = count % 2 == 0;
        let block = walk.next_block(&mut at, &mut stream, is_write);
        let (leaf, within) = ((block / 8) as usize, block % 8);
        if is_write {
            assert_eq!(leaf % 4, 0);
            writes += 1;
            hits += usize::from(within == last_read[leaf]);
        } else {
            last_read[leaf] = within;
        }
    }
    assert_share(hits, writes, 0.6 + 0.4 / 8.0);
}

#[test]
fn a_repeated_write_goes_to_the_block_of_the_previous_write() {
    // Each of 2^23 blocks is equally likely, so that chance repeats one hardly ever.
    let given = serde_json::json!({"levels": 20, "write_spacing": 1, "last_read_fraction": 0.0,
        "repeat_fraction": 0.25});
    let walk = walk(1 << 20, 1, &given);
    let mut stream = stream(0);
    let mut at = walk.start(0, &mut stream);
    let (mut before, mut writes, mut repeats) = (None, 0, 0);
    for count in 0..60_000 {
        let is_write = count % 3 > 0;
        let block = walk.next_block(&mut at, &mut stream, is_write);
        if is_write {
            writes += 1;
            repeats += usize::from(before == Some(block));
            before = Some(block);
        }
    }
    // A repetition is not repeated: r of the others are followed by one, r / (1 + r) of all.
    assert_share(repeats, writes, 0.25 / 1.25);
}

#[test]
fn a_walk_depends_on_its_stream_and_on_no_other_footprint() {
    let blocks = |users: &[u32]| -> BTreeMap<u32, Vec<u64>> {
        let walk = walk(256, 4, &serde_json::json!({"per_user": true}));
        let mut drawn: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let mut own: Vec<_> = users
            .iter()
            .map(|&user| {
                let mut stream = stream(user);
                (user, walk.start(user, &mut stream), stream)
            })
            .collect();
        for count in 0..2000 {
            for (user, at, stream) in &mut own {
                drawn.entry(*user).or_default().push(walk.next_block(at, stream, count % 2 == 0));
            }
        }
        drawn
    };
    let all = blocks(&[0, 1, 2, 3]);
    assert_eq!(all, blocks(&[0, 1, 2, 3]));
    assert_eq!(all[&2], blocks(&[2])[&2]);
    assert_ne!(all[&2], all[&3]);
}

/// The miss ratio of an LRU cache of `size` blocks.
fn miss_ratio(blocks: &[u64], size: usize) -> f64 {
    let (mut last_use, mut order) = (BTreeMap::new(), BTreeMap::new());
    let mut misses = 0;
    for (now, &block) in blocks.iter().enumerate() {
        if let Some(before) = last_use.insert(block, now) {
            order.remove(&before);
        } else {
            misses += 1;
            if last_use.len() > size
                && let Some((_, oldest)) = order.pop_first()
            {
                last_use.remove(&oldest);
            }
        }
        order.insert(now, block);
    }
    f64::from(misses) / blocks.len() as f64
}

/// The hot spot of 1 GiB at 15 % of SPC-1's first storage unit, for five business scaling units: 0.281 of 400,000 requests.
///
/// The figures are those of the generator of S. Daniel (github.com/lpabon/spc1, version 2 of the walk) for 25 seeds: mean
/// and standard deviation over the seeds. Its unseeded run has 56,398 writes on 19,788 blocks, a share of 0.3509.
#[test]
fn reuse_is_that_of_an_spc_1_generator() {
    const FIGURES: [(&str, f64, f64); 6] = [
        ("different blocks among the reads", 0.99922, 0.00053),
        ("different blocks among the writes", 0.35677, 0.00441),
        ("write miss ratio at 1 MiB", 0.73, 0.0028),
        ("write miss ratio at 4 MiB", 0.66146, 0.00694),
        ("write miss ratio at 16 MiB", 0.54499, 0.01152),
        ("write miss ratio at 64 MiB", 0.36605, 0.00573),
    ];
    let distinct = |blocks: &[u64]| blocks.iter().collect::<BTreeSet<_>>().len() as f64 / blocks.len() as f64;
    for seed in 1..4 {
        let walk = walk(1 << 15, 5, &serde_json::json!({}));
        let mut stream = RandomStream::named(seed, 0, "asu1_2", 0, Purpose::Address);
        let mut users: Vec<_> = (0..5).map(|user| walk.start(user, &mut stream)).collect();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for _ in 0..112_400 {
            let (user, is_write) = (stream.below(5) as usize, stream.unit() < 0.5);
            let block = walk.next_block(&mut users[user], &mut stream, is_write);
            if is_write { &mut writes } else { &mut reads }.push(block);
        }
        let sizes = [256, 1024, 4096, 16_384].map(|size| miss_ratio(&writes, size));
        let seen = [distinct(&reads), distinct(&writes)].into_iter().chain(sizes);
        for ((name, mean, deviation), seen) in FIGURES.into_iter().zip(seen) {
            assert!((seen - mean).abs() <= 4.0 * deviation, "{name}: {seen} for {mean} +- {deviation}");
        }
    }
}
