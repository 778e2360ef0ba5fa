//! Fuzzing of scenarios: every run ends with a row or with an error that states the reason, without a panic or an endless loop.
//!
//! A random scenario of the oracle's is changed at a few places. New values are drawn from the JSON Schema, so that every
//! field and every branch of every union occurs with its bounds; or they are nonsense. Most of the results are rejected;
//! the others are run for a bounded number of events, checked by the oracle.
//!
//! `DESTAGE_FUZZ_CASES` is the number of cases, `DESTAGE_FUZZ_FIRST` the first of them; `DESTAGE_FUZZ_SAY` prints each
//! before it is run, to find one that never ends.

mod document;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::probe::oracle;
use super::{COLUMNS, Outcome, simulate};
use crate::config::{self, Scenario};
use crate::error::RunError;
use crate::rng::{Purpose, RandomStream};
use crate::trace::{Columns, Trace};
use document::Mutator;

/// Events of one run.
const EVENTS: u64 = 5_000;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The valid scenario that case number `case` begins with.
fn valid(case: u64) -> Value {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&case.to_le_bytes());
    let generator = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), generator);
    let mut scenario = oracle::scenarios::scenario().new_tree(&mut runner).unwrap().current();
    if case.is_multiple_of(5) {
        let mode = ["open", "asap", "dependent"][(case / 5 % 3) as usize];
        let copies = [Value::Null, json!({}), json!({"shift": "none", "shared_fraction": 0.5})];
        let arrival = json!({"kind": "trace", "file": "a", "mode": mode, "depth": 3, "map": "wrap",
            "copies": copies[(case / 15 % 3) as usize]});
        let stream = &mut scenario["workload"]["streams"][1];
        *stream = json!({"name": "t", "array": stream["array"], "arrival": arrival});
    }
    scenario
}

/// Runs the scenario in `text`.
fn outcome(text: &str) -> Result<Outcome, RunError> {
    let scenario = Scenario::from_json(text).map_err(RunError::Configuration)?;
    if let Ok(normal) = scenario.clone().normalise() {
        let canonical = normal.to_canonical_json();
        let again = Scenario::from_json(&canonical).unwrap().normalise().unwrap();
        assert_eq!(again.to_canonical_json(), canonical, "the normal form is not its own normal form");
    }
    simulate(scenario, &*TRACES)
}

/// A trace of a few processes, under each name that a scenario may give.
static TRACES: LazyLock<BTreeMap<String, Arc<Trace>>> = LazyLock::new(|| {
    let indices = || 0..400_u64;
    let is_flush = |index: u64| index % 7 == 3;
    let trace = Trace::from_columns(Columns {
        time_ns: indices().map(|index| index * index * 1000).collect(),
        process: indices().map(|index| (index % 3) as u32).collect(),
        lba: indices().map(|index| index * 37 % 900).collect(),
        sectors: indices().map(|index| if is_flush(index) { 0 } else { 1 + index as u32 % 9 }).collect(),
        op: indices().map(|index| if is_flush(index) { 2 } else { (index % 2) as u8 }).collect(),
        flags: vec![0; 400],
        ..Columns::default()
    });
    let trace = Arc::new(trace.unwrap());
    ["a", "b", "x", "é"].into_iter().map(|name| (name.to_owned(), Arc::clone(&trace))).collect()
});

fn check(case: u64, text: &str) -> &'static str {
    if std::env::var_os("DESTAGE_FUZZ_SAY").is_some() {
        eprintln!("case {case}: {text}");
    }
    let end = catch_unwind(AssertUnwindSafe(|| outcome(text)))
        .unwrap_or_else(|_| panic!("case {case}: the engine panicked over {text}"));
    match end {
        Ok(outcome) => {
            for (column, value) in COLUMNS.iter().zip(outcome.values()) {
                if let Some(number) = value.number() {
                    assert!(number.is_finite(), "case {case}: {} is {number} in {text}", column.name);
                }
            }
            "row"
        }
        Err(error @ RunError::Deadlock { .. }) => panic!("case {case}: {error} in {text}"),
        Err(error) => {
            assert!(!error.to_string().is_empty(), "case {case}: an error without a word in {text}");
            error.kind()
        }
    }
}

#[test]
fn every_scenario_ends_with_a_row_or_with_a_reason() {
    let schema = config::schema();
    let mut ends = BTreeMap::<_, u32>::new();
    let first = setting("DESTAGE_FUZZ_FIRST", 0);
    for case in first..first + setting("DESTAGE_FUZZ_CASES", 600) {
        let mut scenario = valid(case);
        let mut mutation =
            Mutator::new(&schema, RandomStream::named(case, 0, "mutation", 0, Purpose::Operation));
        mutation.change(&mut scenario);
        if let Some(run) = scenario.get_mut("run").and_then(Value::as_object_mut) {
            run.insert("max_events".to_owned(), json!(EVENTS));
        } else {
            scenario["run"] = json!({"max_events": EVENTS});
        }
        *ends.entry(check(case, &scenario.to_string())).or_default() += 1;
    }
    // Some are rejected and some are accepted.
    assert!(ends["row"] > 0 && ends["configuration"] > 0, "{ends:?}");
    println!("{ends:?}");
}

#[test]
fn torn_text_is_rejected_with_an_error() {
    for case in 0..200 {
        let text = valid(case).to_string();
        let mut draws = RandomStream::named(case, 0, "torn", 0, Purpose::Operation);
        let mut bytes = text.into_bytes();
        for _ in 0..=draws.below(3) {
            let place = draws.below(bytes.len() as u64) as usize;
            match draws.below(4) {
                0 => bytes.truncate(place.max(1)),
                1 => bytes[place] = b"{}[]\",:0-e. "[draws.below(12) as usize],
                2 => drop(bytes.remove(place)),
                _ => bytes.insert(place, b"{[\"9-"[draws.below(5) as usize]),
            }
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        // What is torn may still be a scenario: then without a bound on its events.
        if let Ok(scenario) = Scenario::from_json(&text) {
            drop(scenario.normalise());
        }
    }
}
