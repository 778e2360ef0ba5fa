//! The steady state of a die under uniform random writes, without simulating all writes.
//!
//! In the limit of large blocks, greedy collection takes blocks in the order in which they were filled, and a block of
//! relative age a (0 for the newest, 1 for the next victim) keeps the share
//!
//! ```text
//!   u(a) = exp(-c a),   with (1 - exp(-c)) / c = utilisation of the full blocks
//! ```
//!
//! of its units \[1\]. A sample of blocks starts from this state and is written and collected, functionally, until every
//! block has been collected about twice, which adds the effect of finite blocks. The die's blocks repeat the sample.
//!
//! 1. Xiang, Kurkoski: An improved analytic expression for write amplification in NAND flash, ICNC 2012; Desnoyers:
//!    Analytic modeling of SSD write performance, SYSTOR 2012.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use super::blocks::{Blocks, Writer};
use crate::rng::RandomStream;

/// Maximum number of full blocks simulated to find the state of a die.
const SAMPLE: u32 = 256;

/// Maximum number of writes to the sample: large blocks are near the limit from the start.
const MAX_WRITES: f64 = 2e6;

/// Collections per block of the sample.
const ROUNDS: f64 = 2.0;

/// States that each thread keeps, of some kilobytes each: those of a few SSDs and all replicates of a study.
const KEPT: usize = 64;

/// [`steady_state`], kept: it takes far longer than a short run, and the runs of a sweep that differ in anything but the
/// SSD, the seed and the replicate have the same state.
pub(super) fn shared_steady_state(full: u32, units: u32, valid: u64, stream: RandomStream) -> Arc<[u32]> {
    type Key = (u32, u32, u64, RandomStream);
    thread_local! {
        static STATES: RefCell<VecDeque<(Key, Arc<[u32]>)>> = const { RefCell::new(VecDeque::new()) };
    }
    STATES.with_borrow_mut(|states| {
        let key = (full, units, valid, stream);
        if let Some((_, state)) = states.iter().find(|(known, _)| *known == key) {
            return Arc::clone(state);
        }
        let state: Arc<[u32]> = steady_state(full, units, valid, &mut key.3.clone()).into();
        if states.len() == KEPT {
            states.pop_front();
        }
        states.push_back((key, Arc::clone(&state)));
        state
    })
}

/// The valid units of `full` full blocks of `units` each that hold `valid` in all.
pub(super) fn steady_state(full: u32, units: u32, valid: u64, stream: &mut RandomStream) -> Vec<u32> {
    let sample = full.min(SAMPLE);
    let share = (valid as f64 / (f64::from(full) * f64::from(units))).min(1.0);
    let sample_valid = (share * f64::from(sample) * f64::from(units)) as u64;
    let exponent = exponent_of(share);
    let by_age = (0..sample).map(|age| {
        let kept = libm::exp(-exponent * (f64::from(age) + 0.5) / f64::from(sample));
        (kept * f64::from(units)) as u32
    });
    // Two blocks are open, one is erased for copies.
    let mut blocks = Blocks::new(sample + 3, units, 2);
    for count in fit(by_age.collect(), units, sample_valid) {
        blocks.fill_anonymously(count);
    }
    let gain = 1.0 - libm::exp(-exponent);
    let writes = (ROUNDS * f64::from(sample) * f64::from(units) * gain).min(MAX_WRITES);
    for _ in 0..writes as u64 {
        overwrite(&mut blocks, stream);
    }
    let mut counts: Vec<u32> = blocks.valid_of_full().collect();
    counts.sort_unstable();
    let repeated = (0..full as usize).map(|block| counts[block * counts.len() / full as usize]).collect();
    fit(repeated, units, valid)
}

/// One uniform random functional write: an anonymous unit is overwritten, and due collection is done.
pub(super) fn overwrite(blocks: &mut Blocks, stream: &mut RandomStream) {
    while blocks.is_collection_due() {
        if blocks.is_victim_empty() {
            blocks.erase();
        } else {
            blocks.copy(1, |_| false, |_, _| ());
        }
    }
    blocks.invalidate_anonymous(stream);
    blocks.write_anonymous(Writer::Host);
}

/// The solution c of (1 - exp(-c)) / c = `share`.
fn exponent_of(share: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 700.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if -libm::expm1(-middle) / middle > share {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Distributes the excess or deficit of `counts` over all of them, so that their sum is `valid`.
fn fit(mut counts: Vec<u32>, units: u32, valid: u64) -> Vec<u32> {
    let mut sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    while sum != valid {
        let before = sum;
        for count in &mut counts {
            if sum < valid && *count < units {
                *count += 1;
                sum += 1;
            } else if sum > valid && *count > 0 {
                *count -= 1;
                sum -= 1;
            }
        }
        assert!(sum != before, "{valid} units do not fit into {} blocks of {units}", counts.len());
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn the_exponent_solves_its_equation() {
        for share in [0.5_f64, 0.78, 0.9, 0.99] {
            let c = exponent_of(share);
            assert!(((1.0 - libm::exp(-c)) / c - share).abs() < 1e-12, "{share}: {c}");
        }
    }

    #[test]
    fn a_state_that_is_kept_is_that_of_its_parameters_and_stream() {
        let stream_of = |replicate| RandomStream::named(1, replicate, "ssd", 0, Purpose::Flash);
        let mut kept = Vec::new();
        for round in 0..2 {
            // More than are kept, so that the first ones are found again after they were dropped.
            for replicate in 0..KEPT as u32 + 8 {
                for valid in [3_000, 3_100] {
                    let state = shared_steady_state(64, 64, valid, stream_of(replicate));
                    assert_eq!(
                        *state,
                        *steady_state(64, 64, valid, &mut stream_of(replicate)),
                        "round {round}"
                    );
                    kept.push(state);
                }
            }
        }
        let again = shared_steady_state(64, 64, 3_100, stream_of(KEPT as u32 + 7));
        assert!(Arc::ptr_eq(&again, kept.last().unwrap()));
    }

    #[test]
    fn the_state_has_the_requested_valid_units() {
        let mut stream = RandomStream::named(1, 0, "ssd", 0, Purpose::Flash);
        for full in [10_u32, 100, 1000] {
            let valid = u64::from(full) * 64 * 4 / 5;
            let counts = steady_state(full, 64, valid, &mut stream);
            assert_eq!(counts.len(), full as usize);
            assert_eq!(counts.iter().map(|&count| u64::from(count)).sum::<u64>(), valid);
            assert!(counts.iter().all(|&count| count <= 64));
        }
    }
}
