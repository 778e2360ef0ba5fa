//! Laws of all destage policies, over random operations, and helpers for hand-worked cases.

use proptest::prelude::*;

use super::{Destage, DestagePolicy, Occupancy, Policy, StripeId, WaterMarks, Write};

/// Gives stripes of array 0, each with the group of its own number, their first dirty line.
pub fn enter(policy: &mut impl DestagePolicy, stripes: &[u64]) {
    for &stripe in stripes {
        policy.enter(stripe as u32, StripeId { array: 0, stripe });
    }
}

/// Writes present stripes again, to their dirty line.
pub fn write(policy: &mut impl DestagePolicy, stripes: &[u64]) {
    for &stripe in stripes {
        let write = Write { lines: 1, is_sequential: false };
        policy.write(stripe as u32, StripeId { array: 0, stripe }, write);
    }
}

/// Removes and returns the next `count` stripes.
pub fn next(policy: &mut impl DestagePolicy, count: usize) -> Vec<u64> {
    let mut left = Vec::new();
    for _ in 0..count {
        let stripe = policy.choose(0, |_| false).unwrap();
        policy.leave(stripe as u32, StripeId { array: 0, stripe });
        left.push(stripe);
    }
    left
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write {
        array: u16,
        stripe: u64,
        is_sequential: bool,
    },
    /// The next group leaves, unless busy: stripes with this remainder by three are busy.
    Leave {
        array: u16,
        busy: u64,
    },
    /// A stripe is removed without being chosen, if present.
    Remove {
        array: u16,
        stripe: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let place = (0..2_u16, 0..24_u64);
    prop_oneof![
        4 => (place.clone(), any::<bool>())
            .prop_map(|((array, stripe), is_sequential)| Step::Write { array, stripe, is_sequential }),
        2 => (0..2_u16, 0..4_u64).prop_map(|(array, busy)| Step::Leave { array, busy }),
        1 => place.prop_map(|(array, stripe)| Step::Remove { array, stripe }),
    ]
}

/// A group of the naive model, in order of the last write.
#[derive(Clone, Copy, Debug)]
struct Dirty {
    array: u16,
    stripe: u64,
    lines: u32,
    /// Whether WOW would skip it.
    is_recent: bool,
}

/// The next stripe by the definition of each policy, over all dirty stripes.
fn expected(
    policy: Policy,
    dirty: &mut [Dirty],
    position: u64,
    array: u16,
    is_busy: impl Fn(u64) -> bool,
) -> Option<u64> {
    let mut round: Vec<usize> =
        (0..dirty.len()).filter(|&i| dirty[i].array == array && !is_busy(dirty[i].stripe)).collect();
    let turn = |stripe: u64| (stripe < position, stripe);
    match policy {
        Policy::LeastRecentlyWritten => {}
        Policy::CScan | Policy::IdleTime | Policy::Wow => {
            round.sort_by_key(|&i| turn(dirty[i].stripe));
        }
        Policy::LinearThreshold => {
            round.sort_by_key(|&i| (u32::MAX - dirty[i].lines, turn(dirty[i].stripe)));
        }
    }
    if policy == Policy::Wow {
        for &i in &round {
            if !dirty[i].is_recent {
                return Some(dirty[i].stripe);
            }
            dirty[i].is_recent = false;
        }
    }
    round.first().map(|&i| dirty[i].stripe)
}

proptest! {
    #[test]
    fn every_policy_follows_its_definition(steps in prop::collection::vec(step(), 1..200)) {
        for &name in Policy::ALL {
            let mut policy = Destage::new(name, 2, WaterMarks::new(8, 2));
            let mut dirty: Vec<Dirty> = Vec::new();
            let mut position = [0; 2];
            let group = |array: u16, stripe: u64| u32::from(array) * 100 + stripe as u32;
            for &step in &steps {
                match step {
                    Step::Write { array, stripe, is_sequential } => {
                        let found = dirty.iter().position(|d| (d.array, d.stripe) == (array, stripe));
                        let place = StripeId { array, stripe };
                        if let Some(at) = found {
                            let mut entry = dirty.remove(at);
                            entry.lines += u32::from(is_sequential);
                            entry.is_recent |= !is_sequential;
                            let write = Write { lines: entry.lines, is_sequential };
                            policy.write(group(array, stripe), place, write);
                            dirty.push(entry);
                        } else {
                            policy.enter(group(array, stripe), place);
                            dirty.push(Dirty { array, stripe, lines: 1, is_recent: false });
                        }
                    }
                    Step::Leave { array, busy } => {
                        let is_busy = |stripe: u64| stripe % 3 == busy;
                        let wanted = expected(name, &mut dirty, position[array as usize], array, is_busy);
                        let given = policy.choose(array, is_busy);
                        prop_assert_eq!(given, wanted, "{:?}", name);
                        if let Some(stripe) = wanted {
                            policy.leave(group(array, stripe), StripeId { array, stripe });
                            dirty.retain(|d| (d.array, d.stripe) != (array, stripe));
                            position[array as usize] = stripe + 1;
                        }
                    }
                    Step::Remove { array, stripe } => {
                        if dirty.iter().any(|d| (d.array, d.stripe) == (array, stripe)) {
                            policy.leave(group(array, stripe), StripeId { array, stripe });
                            dirty.retain(|d| (d.array, d.stripe) != (array, stripe));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_fuller_cache_never_allows_fewer(low in 0..40_u32, span in 0..40_u32, limit in 1..64_u32) {
        for &name in Policy::ALL {
            for (is_stalled, is_draining, is_idle) in
                [(false, false, false), (true, false, false), (false, true, false), (false, false, true)]
            {
                let mut policy = Destage::new(name, 1, WaterMarks::new((low + span).max(1), low));
                let mut last = 0;
                for used in 1..100 {
                    let occupancy = Occupancy { used, waiting: used, is_stalled, is_draining, is_idle, limit };
                    let allowed = policy.allow(&occupancy);
                    prop_assert!(last <= allowed && allowed <= limit, "{:?}", name);
                    prop_assert!(allowed == limit || !(is_stalled || is_draining), "{:?}", name);
                    prop_assert!(allowed > 0 || used < (low + span).max(1) || span == 0, "{:?}", name);
                    last = allowed;
                }
            }
        }
    }
}
