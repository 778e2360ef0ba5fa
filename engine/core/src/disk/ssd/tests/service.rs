//! Service of reads: die conflicts, retries, and suspension of programs and erasures.

use std::sync::Arc;

use serde_json::{Value, json};

use super::stream;
use crate::config;
use crate::disk::{Agenda, BlockDevice, Io, Ssd, SsdModel};
use crate::event::{Event, EventQueue};
use crate::units::{Lba, SimTime};

const READ: u64 = 50_000;
const PROGRAM: u64 = 500_000;
const SUSPENSION: u64 = 20_000;

/// An SSD with its events: pages of one unit of 4 KiB, so that page p is on die p modulo `dies`.
struct Bench {
    ssd: Ssd,
    events: EventQueue,
}

impl Bench {
    fn new(dies: u32, fields: &Value) -> Self {
        let mut ssd = json!({
            "capacity": u64::from(dies) << 19, "over_provisioning": 0.7, "channels": 1, "dies_per_channel": dies, "page": 4096,
            "pages_per_block": 8, "read_time": READ, "program_time": PROGRAM, "precondition": "sequential",
        });
        for (key, value) in fields.as_object().unwrap() {
            ssd[key] = value.clone();
        }
        let ssd: config::Ssd = serde_json::from_value(ssd).unwrap();
        let model = Arc::new(SsdModel::new(&ssd, 1).unwrap());
        Self { ssd: Ssd::new(model, &[], stream(1), stream(2)), events: EventQueue::new() }
    }

    fn submit(&mut self, now: u64, page: u64, is_write: bool) {
        let io = Io {
            lba: Lba(page * 8),
            sectors: 8,
            is_write,
            is_background: false,
            is_forced: true,
            operation: (now / 1_000) as u32,
        };
        self.ssd.submit(SimTime(now), io, &mut Agenda::new(&mut self.events, 0));
    }

    /// The times at which I/Os are complete, with whether each is a write; each of `later` is submitted at its time.
    fn run(&mut self, later: &[(u64, u64, bool)]) -> Vec<(u64, bool)> {
        for (index, &(time, ..)) in later.iter().enumerate() {
            self.events.schedule(SimTime(time), Event::Device { device: 1, slot: index as u32 });
        }
        let mut completed = Vec::new();
        while let Some((time, Event::Device { device, slot })) = self.events.next() {
            if device == 1 {
                let (at, page, is_write) = later[slot as usize];
                self.submit(at, page, is_write);
            } else {
                let served = self.ssd.act(time, slot, false, &mut Agenda::new(&mut self.events, 0));
                completed.extend(served.map(|served| (time.0, served.io.is_write)));
            }
        }
        completed
    }
}

/// The expected number of distinct dies of q random requests, D (1 - (1 - 1 / D)^q).
#[test]
fn random_reads_find_as_many_dies_as_balls_fill_boxes() {
    let mut draws = stream(3);
    for (dies, depth) in [(4_u32, 4_u32), (16, 4), (16, 32), (32, 8)] {
        let rounds = 4_000;
        let mut first = 0;
        for _ in 0..rounds {
            let mut bench = Bench::new(dies, &json!({}));
            for _ in 0..depth {
                bench.submit(0, draws.below(u64::from(dies) * 64), false);
            }
            let completed = bench.run(&[]);
            assert_eq!(completed.len(), depth as usize);
            first += completed.iter().filter(|(time, _)| *time == READ).count();
        }
        let (dies, mean) = (f64::from(dies), first as f64 / f64::from(rounds));
        let exact = dies * (1.0 - libm::pow(1.0 - 1.0 / dies, f64::from(depth)));
        assert!((mean / exact - 1.0).abs() < 0.02, "{dies} dies, {depth} reads: {mean} against {exact}");
    }
}

#[test]
fn a_share_of_the_reads_takes_as_many_reads_more() {
    let mut bench = Bench::new(1, &json!({"read_retry": {"share": 0.25, "reads": 3}}));
    let later: Vec<_> = (0..20_000).map(|read| (read * 10 * READ, read % 100, false)).collect();
    let mut retried = 0;
    for (index, &(at, page, _)) in later.iter().enumerate() {
        bench.submit(at, page, false);
        let times = bench.run(&[]);
        let time = times[0].0 - at;
        assert!(time == READ || time == 4 * READ, "read {index}: {time}");
        retried += u32::from(time > READ);
    }
    let share = f64::from(retried) / later.len() as f64;
    assert!((share - 0.25).abs() < 0.012, "{share}");
}

#[test]
fn a_read_suspends_a_program_which_loses_only_the_time_of_both() {
    let write = |fields: Value, later: &[(u64, u64, bool)]| {
        let mut bench = Bench::new(1, &fields);
        bench.submit(0, 1, true);
        bench.run(later)
    };
    let unprotected = json!({"power_loss_protection": false});
    let suspending = json!({"power_loss_protection": false, "suspension_time": SUSPENSION});
    let waits = write(unprotected, &[(100_000, 2, false)]);
    assert_eq!(waits, [(PROGRAM, true), (PROGRAM + READ, false)]);
    let begun = 100_000 + SUSPENSION + READ;
    assert_eq!(
        write(suspending.clone(), &[(100_000, 2, false)]),
        [(begun, false), (PROGRAM + SUSPENSION + READ, true)]
    );
    // A second read follows the first, and a third suspends the rest.
    assert_eq!(
        write(suspending.clone(), &[(100_000, 2, false), (110_000, 3, false), (300_000, 4, false)]),
        [
            (begun, false),
            (begun + READ, false),
            (300_000 + SUSPENSION + READ, false),
            (PROGRAM + 2 * SUSPENSION + 3 * READ, true)
        ]
    );
    // Near its end, a program is not suspended.
    let late = PROGRAM - SUSPENSION;
    assert_eq!(write(suspending, &[(late, 2, false)]), [(PROGRAM, true), (PROGRAM + READ, false)]);
}
