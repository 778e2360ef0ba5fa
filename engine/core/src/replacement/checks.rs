//! Checks of every policy against a naive model over plain lists in its test module.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{Replace, Room};

/// A policy over lists, written for clarity.
pub trait Naive {
    /// An empty cache.
    fn new(room: Room) -> Self;
    /// Uses `key`, and admits it if it is not held; returns whether it was held.
    fn access(&mut self, key: u64) -> bool;
    /// Forgets `key`.
    fn remove(&mut self, key: u64);
    /// The held keys, in any order.
    fn held(&self) -> Vec<u64>;
}

/// A cache of `capacity` with the paper's parts.
pub fn parts<P: Replace>(capacity: usize) -> Room {
    Room { capacity, probation: P::PROBATION.unwrap_or(0.0), ghosts: P::GHOSTS.unwrap_or(0.0) }
}

/// The positions of hits in the string `keys`, in which each character is a key.
pub fn hits<P: Replace>(capacity: usize, keys: &str) -> Vec<usize> {
    let mut cache = P::new(parts::<P>(capacity));
    let mut hits = Vec::new();
    for (place, key) in keys.bytes().enumerate() {
        if cache.access(u64::from(key)).is_some() {
            hits.push(place);
        } else {
            cache.admit(u64::from(key));
        }
    }
    hits
}

const KEYS: u64 = 48;

/// Compares a policy with its model over random accesses and removals, and checks the guarantees of the trait.
pub fn check<P: Replace, N: Naive>() {
    let capacity = prop_oneof![1_usize..4, 4_usize..30];
    let share = 0.02_f64..0.9;
    let key = prop_oneof![0..KEYS, 0..KEYS / 4];
    let operations = prop::collection::vec((0_u8..12, key), 0..500);
    let strategy = (capacity, prop::option::of((share, 0.0_f64..1.5)), operations);
    TestRunner::new(Config::with_cases(400))
        .run(&strategy, |(capacity, shares, operations)| {
            let mut room = parts::<P>(capacity);
            if let Some((probation, ghosts)) = shares {
                (room.probation, room.ghosts) = (probation, ghosts);
            }
            compare::<P, N>(room, &operations)
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

fn compare<P: Replace, N: Naive>(room: Room, operations: &[(u8, u64)]) -> Result<(), TestCaseError> {
    let (mut cache, mut model) = (P::new(room), N::new(room));
    // The key in each slot, as a user of the cache tracks it.
    let mut slots: BTreeMap<u32, u64> = BTreeMap::new();
    for (step, &(kind, key)) in operations.iter().enumerate() {
        if kind == 0 {
            let removed = cache.remove(key);
            let known = slots.iter().find(|&(_, &other)| other == key).map(|(&slot, _)| slot);
            prop_assert_eq!(removed, known, "removal at step {}", step);
            removed.inspect(|slot| {
                slots.remove(slot);
            });
            model.remove(key);
        } else {
            let slot = cache.access(key);
            prop_assert_eq!(slot.is_some(), model.access(key), "hit at step {} of key {}", step, key);
            if let Some(slot) = slot {
                prop_assert_eq!(slots.get(&slot), Some(&key), "slot at step {}", step);
            } else {
                let was_full = cache.held() == room.capacity;
                let admission = cache.admit(key);
                prop_assert_eq!(was_full, admission.evicted.is_some(), "eviction at step {}", step);
                if let Some(evicted) = admission.evicted {
                    prop_assert!(slots.remove(&evicted).is_some(), "evicted slot at step {}", step);
                }
                prop_assert!(slots.insert(admission.slot, key).is_none(), "new slot at step {}", step);
            }
        }
        prop_assert!(cache.held() <= room.capacity);
        let mut held: Vec<u64> = (0..KEYS).filter(|&key| cache.find(key).is_some()).collect();
        prop_assert_eq!(cache.held(), held.len());
        let mut known: Vec<u64> = slots.values().copied().collect();
        let mut modelled = model.held();
        for keys in [&mut held, &mut known, &mut modelled] {
            keys.sort_unstable();
        }
        prop_assert_eq!(&held, &known, "slots at step {}", step);
        prop_assert_eq!(&held, &modelled, "held at step {}", step);
    }
    Ok(())
}
