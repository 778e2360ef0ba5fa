//! Flash under functional writes: conservation, newest versions, and the laws of write amplification.

mod service;
mod write_cache;

use proptest::prelude::*;

use super::SsdModel;
use super::blocks::Blocks;
use super::steady_state::{overwrite, steady_state};
use super::translation::Translation;
use crate::config::Ssd;
use crate::rng::{Purpose, RandomStream};

fn stream(seed: u64) -> RandomStream {
    RandomStream::named(seed, 0, "ssd", 0, Purpose::Flash)
}

fn model(precondition: &str, capacity: u64, over_provisioning: f64, pages_per_block: u32) -> SsdModel {
    let ssd: Ssd = serde_json::from_value(serde_json::json!({
        "capacity": capacity, "over_provisioning": over_provisioning, "channels": 1, "dies_per_channel": 2,
        "page": 8192, "pages_per_block": pages_per_block, "read_time": 0, "program_time": 0,
        "precondition": precondition, "gc_low_mark": 2,
    }))
    .unwrap();
    SsdModel::new(&ssd, 1).unwrap()
}

/// An SSD without time.
struct Flash {
    translation: Translation,
    page: u32,
    copied: u64,
    erased: u64,
}

impl Flash {
    fn new(model: &SsdModel, seed: u64) -> Self {
        let state = model.initial_state(stream(!seed));
        let translation = Translation::new(model, &state, stream(seed));
        Self { translation, page: model.units_per_page, copied: 0, erased: 0 }
    }

    /// Writes `units`, all on one die, as one page.
    fn write(&mut self, units: &[u32]) {
        let (die, _) = self.translation.locate(units[0]);
        for &unit in units {
            self.translation.buffer(unit);
        }
        while self.translation.is_collection_due(die) {
            if self.translation.is_victim_empty(die) {
                self.translation.erase(die);
                self.erased += 1;
            } else {
                self.copied += u64::from(self.translation.copy(die));
            }
        }
        for &unit in units {
            self.translation.program(unit);
        }
        self.translation.pad(die);
    }

    /// Writes the whole of a logical page.
    fn write_page(&mut self, page: u32) {
        let units: Vec<_> = (page * self.page..(page + 1) * self.page).collect();
        self.write(&units);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// The debug build's oracle compares each place with the version that was written last.
    #[test]
    fn every_unit_is_found_in_its_newest_version(
        state in prop_oneof![Just("random"), Just("sequential"), Just("empty")],
        seed in 0..1000_u64,
        writes in prop::collection::vec((0..128_u32, any::<bool>()), 1..400),
    ) {
        let mut flash = Flash::new(&model(state, 1 << 20, 0.6, 4), seed);
        for (page, is_whole) in writes {
            if is_whole {
                flash.write_page(page);
            } else {
                flash.write(&[page * 2 + 1]);
            }
            flash.translation.pages_of(page * 2, page * 2 + 1);
        }
        flash.translation.check();
        for unit in 0..256 {
            flash.translation.pages_of(unit, unit);
        }
    }
}

// Only a build with debug assertions has the oracle of versions.
#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "not in its newest version")]
fn an_outdated_map_entry_panics() {
    let mut flash = Flash::new(&model("empty", 1 << 20, 0.6, 4), 1);
    flash.write(&[0]);
    flash.translation.miss_a_version();
    flash.translation.pages_of(0, 0);
}

#[test]
fn sequential_writes_copy_nothing() {
    for state in ["sequential", "empty"] {
        let model = model(state, 4 << 20, 0.3, 8);
        let mut flash = Flash::new(&model, 1);
        let pages = model.units_per_die / model.units_per_page * model.dies;
        for page in (0..pages).cycle().take(20 * pages as usize) {
            flash.write_page(page);
        }
        assert_eq!(flash.copied, 0, "{state}");
        assert!(flash.erased > 0, "{state}");
        flash.translation.check();
    }
}

/// Write amplification of greedy collection under uniform random writes in the limit of many blocks of b units, when the
/// share u of the units of all full blocks is valid.
///
/// A block falls from j valid units to j - 1 at the rate j mu. Blocks above the least level m lose units at equal flow,
/// so the share of blocks at level j is kappa / j; what is left of the blocks is at level m, of which some are collected
/// and some fall to m - 1 and are collected at once:
///
/// ```text
///   kappa = (u b - m) / (b - m - m (H_b - H_m)),   p_m = 1 - kappa (H_b - H_m) in 0 ..= kappa / m
///   victim's valid units = m - m p_m / kappa,      write amplification = b / (b - that)
/// ```
///
/// Desnoyers: Analytic modeling of SSD write performance, SYSTOR 2012 (greedy cleaning).
fn greedy(units: u32, share: f64) -> f64 {
    let b = f64::from(units);
    (1..units)
        .find_map(|level| {
            let m = f64::from(level);
            let harmonic: f64 = (level + 1..=units).map(|j| 1.0 / f64::from(j)).sum();
            let kappa = (share * b - m) / (b - m - m * harmonic);
            let least = 1.0 - kappa * harmonic;
            (kappa > 0.0 && (0.0..=kappa / m).contains(&least)).then(|| b / (b - m + m * least / kappa))
        })
        .unwrap()
}

/// Write amplification of `blocks` over `rounds` writes of each of `valid` units.
fn amplification(blocks: &mut Blocks, valid: u64, rounds: u64, stream: &mut RandomStream) -> f64 {
    let before = blocks.copies();
    for _ in 0..rounds * valid {
        overwrite(blocks, stream);
    }
    1.0 + (blocks.copies() - before) as f64 / (rounds * valid) as f64
}

#[test]
fn write_amplification_follows_the_analysis() {
    let (count, units) = (4096_u32, 64_u32);
    for over_provisioning in [0.07, 0.15, 0.28] {
        let valid = (f64::from(count * units) / (1.0 + over_provisioning)) as u64;
        let mut stream = stream(3);
        // Besides the full blocks there are two erased ones and, on average, two halves of open ones.
        let mut blocks = Blocks::new(count + 3, units, 2);
        for valid in steady_state(count, units, valid, &mut stream) {
            blocks.fill_anonymously(valid);
        }
        let share = valid as f64 / f64::from(count * units);
        let exact = greedy(units, share);
        let first = amplification(&mut blocks, valid, 1, &mut stream);
        let later = amplification(&mut blocks, valid, 2, &mut stream);
        assert!((later / exact - 1.0).abs() < 0.01, "OP {over_provisioning}: {later} against {exact}");
        assert!(
            (first / later - 1.0).abs() < 0.02,
            "the state is steady from the start: {first}, then {later}"
        );
    }
}

#[test]
fn anonymous_units_behave_as_known_ones() {
    // The same writes, once on a map that knows every unit, once on one that knows none.
    let wa = |precondition: &str| {
        let model = model(precondition, 64 << 20, 0.2, 8);
        let mut flash = Flash::new(&model, 5);
        let units = u64::from(model.units_per_die * model.dies);
        let mut draws = stream(9);
        let mut run = |flash: &mut Flash, rounds: u64| {
            let before = flash.copied;
            let mut waiting = vec![Vec::new(); model.dies as usize];
            for _ in 0..rounds * units {
                let unit = draws.below(units) as u32;
                let (die, _) = flash.translation.locate(unit);
                let of_die: &mut Vec<u32> = &mut waiting[die as usize];
                if !of_die.contains(&unit) {
                    of_die.push(unit);
                }
                if of_die.len() as u32 == model.units_per_page {
                    flash.write(of_die);
                    of_die.clear();
                }
            }
            1.0 + (flash.copied - before) as f64 / (rounds * units) as f64
        };
        if precondition != "random" {
            run(&mut flash, 6);
        }
        run(&mut flash, 10)
    };
    let (known, anonymous) = (wa("empty"), wa("random"));
    println!("known {known:.4}, anonymous {anonymous:.4}");
    assert!((known / anonymous - 1.0).abs() < 0.02, "known {known}, anonymous {anonymous}");
}
