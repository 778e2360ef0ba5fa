//! The volatile write cache: writes complete before the flash has them; flushes and forced writes do not.

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::stream;
use crate::config;
use crate::disk::{Agenda, BlockDevice, Io, Ssd, SsdModel};
use crate::event::{Event, EventQueue};
use crate::units::{Lba, SimTime};

const LATENCY: u64 = 1_000;
const PROGRAM: u64 = 500_000;
const COMMIT: u64 = 150_000;

/// An SSD with its events: two dies of pages of two units of 4 KiB.
struct Bench {
    ssd: Ssd,
    events: EventQueue,
    now: SimTime,
}

impl Bench {
    fn new(protected: bool, write_cache: bool, precondition: &str) -> Self {
        let ssd: config::Ssd = serde_json::from_value(json!({
            "capacity": 2 << 20, "over_provisioning": 0.7, "channels": 1, "dies_per_channel": 2, "page": 8192,
            "pages_per_block": 4, "read_time": 0, "program_time": PROGRAM, "command_latency": LATENCY,
            "power_loss_protection": protected, "write_cache": write_cache, "commit_time": COMMIT,
            "precondition": precondition,
        }))
        .unwrap();
        let model = Arc::new(SsdModel::new(&ssd, 1).unwrap());
        let state = model.initial_state(stream(3));
        Self {
            ssd: Ssd::new(model, &state, stream(1), stream(2)),
            events: EventQueue::new(),
            now: SimTime::ZERO,
        }
    }

    fn submit(&mut self, lba: u64, sectors: u32, is_forced: bool) {
        let operation = self.now.0 as u32;
        let io = Io { lba: Lba(lba), sectors, is_write: true, is_background: false, is_forced, operation };
        self.ssd.submit(self.now, io, &mut Agenda::new(&mut self.events, 0));
    }

    /// Handles the next event, if any; returns the I/O that it completes, if any.
    fn step(&mut self) -> Option<Io> {
        let Some((time, Event::Device { slot, .. })) = self.events.next() else { return None };
        self.now = time;
        let served = self.ssd.act(time, slot, false, &mut Agenda::new(&mut self.events, 0));
        served.map(|served| served.io)
    }

    /// The time that one write takes.
    fn write(&mut self, lba: u64, sectors: u32, is_forced: bool) -> u64 {
        let start = self.now.0;
        self.submit(lba, sectors, is_forced);
        assert!((0..10_000).any(|_| self.step().is_some()), "a write never completes");
        self.now.0 - start
    }

    fn flush(&mut self) -> u64 {
        self.write(0, 0, true)
    }

    fn lose_power(&mut self) -> HashSet<u64> {
        let mut lost = HashSet::new();
        self.ssd.lose_power(self.now, &mut |lba, sectors| lost.extend(lba.0..lba.0 + sectors.0));
        self.ssd.check();
        self.events = EventQueue::new();
        lost
    }
}

#[test]
fn only_a_cache_completes_a_write_before_the_flash_has_it() {
    for (protected, write_cache, forced, time) in [
        (true, false, true, LATENCY),
        (false, true, false, LATENCY),
        (false, true, true, PROGRAM + COMMIT + LATENCY),
        (false, false, false, PROGRAM + COMMIT + LATENCY),
    ] {
        let mut bench = Bench::new(protected, write_cache, "sequential");
        assert_eq!(bench.write(0, 8, forced), time, "{protected} {write_cache} {forced}");
    }
}

/// Programs of different dies end together, their commits one after another.
#[test]
fn commits_follow_one_another() {
    let mut bench = Bench::new(false, false, "sequential");
    bench.submit(0, 8, false);
    bench.submit(16, 8, false);
    let mut done = Vec::new();
    while done.len() < 2 {
        if bench.step().is_some() {
            done.push(bench.now.0);
        }
    }
    assert_eq!(done, [PROGRAM + COMMIT + LATENCY, PROGRAM + 2 * COMMIT + LATENCY]);
}

#[test]
fn a_flush_waits_for_all_that_was_completed() {
    let mut bench = Bench::new(false, true, "sequential");
    // Half a page on one die; on the other, one page and a half.
    for lba in [0, 16, 24, 48] {
        assert_eq!(bench.write(lba, 8, false), LATENCY);
    }
    let start = bench.now.0;
    assert!((PROGRAM + COMMIT..=2 * PROGRAM + COMMIT + LATENCY).contains(&bench.flush()), "{start}");
    assert!(bench.lose_power().is_empty());
    let mut bench = Bench::new(false, true, "sequential");
    assert_eq!(bench.flush(), LATENCY);
}

#[test]
fn a_power_cut_loses_the_sectors_that_the_flash_does_not_have() {
    let mut bench = Bench::new(false, true, "sequential");
    bench.write(8, 1, false);
    bench.flush();
    bench.write(32, 2, false);
    bench.write(34, 1, false);
    bench.write(38, 1, false);
    assert_eq!(bench.lose_power(), HashSet::from([32, 33, 34, 38]));
    // The old versions are there, and nothing is lost twice.
    assert_eq!(bench.lose_power(), HashSet::new());
    assert_eq!(bench.write(32, 2, true), PROGRAM + COMMIT + LATENCY);
}

#[test]
fn a_protected_buffer_loses_nothing() {
    let mut bench = Bench::new(true, true, "random");
    assert!(!bench.ssd.is_volatile());
    bench.write(0, 3, false);
    assert_eq!(bench.flush(), LATENCY);
    assert!(bench.lose_power().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_loses_at_most_what_was_written_since_the_last_flush(
        state in prop_oneof![Just("random"), Just("sequential"), Just("empty")],
        steps in prop::collection::vec((0_u64..256, 1_u32..40, 0_u32..8, 0_u32..4), 1..120),
    ) {
        let mut bench = Bench::new(false, true, state);
        let mut volatile = HashSet::new();
        for (lba, sectors, kind, events) in steps {
            let range = lba..lba + u64::from(sectors);
            match kind {
                0 => {
                    bench.flush();
                    volatile.clear();
                }
                1 => {
                    bench.write(lba, sectors, true);
                    volatile.retain(|lba| !range.contains(lba));
                }
                2 => {
                    let lost = bench.lose_power();
                    prop_assert!(lost.is_subset(&volatile), "{lost:?} of {volatile:?}");
                    volatile.clear();
                }
                _ => {
                    bench.write(lba, sectors, false);
                    volatile.extend(range);
                }
            }
            for _ in 0..events {
                bench.step();
            }
        }
        bench.flush();
        prop_assert!(bench.lose_power().is_empty());
    }
}
