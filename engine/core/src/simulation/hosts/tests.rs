//! When hosts issue: phases, starts and ends, interactions of steps, mixtures.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::config::Scenario;
use crate::error::RunError;
use crate::simulation::{Outcome, Simulation, record, simulate};
use crate::trace::{Op, Record};
use crate::units::SimTime;

const SECOND: u64 = 1_000_000_000;

/// A stream of 4 KiB writes.
fn stream(name: &str, arrival: &Value, rest: &Value) -> Value {
    let mut stream = json!({"name": name, "arrival": arrival,
        "operations": {"read_fraction": 0.0, "size": {"kind": "constant", "value": 4096}},
        "address": {"kind": "uniform", "footprint": 1 << 20}});
    for (key, value) in rest.as_object().unwrap() {
        if matches!(key.as_str(), "mix" | "steps") {
            stream.as_object_mut().unwrap().retain(|field, _| field != "operations" && field != "address");
        }
        stream[key] = value.clone();
    }
    stream
}

/// One server of 1 ms for each of up to 100 requests at a time.
fn scenario(users: u32, phases: &Value, streams: &[Value], window: &Value) -> Value {
    json!({"workload": {"users": users, "phases": phases, "streams": streams},
        "array": {"raid": "0", "disks": 1, "disk": {"kind": "server", "servers": 100, "capacity": 1 << 24,
            "service": {"kind": "constant", "value": 1_000_000}}},
        "run": {"warm_up": "none", "window": window}})
}

fn parse(scenario: &Value) -> Scenario {
    Scenario::from_json(&scenario.to_string()).unwrap()
}

fn outcome(scenario: &Value) -> Outcome {
    simulate(parse(scenario), &BTreeMap::new()).unwrap()
}

fn requests(scenario: &Value) -> Vec<Record> {
    record(parse(scenario), &BTreeMap::new(), &crate::Uninterrupted).unwrap().records().collect()
}

fn issues(scenario: &Value) -> Vec<String> {
    match simulate(parse(scenario), &BTreeMap::new()) {
        Err(RunError::Configuration(issues)) => issues.into_iter().map(|issue| issue.place).collect(),
        Ok(_) => Vec::new(),
        Err(other) => panic!("{other}"),
    }
}

/// Requests in each of the stretches between `bounds` \[s\], counted from the first request.
fn counts(requests: &[Record], bounds: &[u64]) -> Vec<f64> {
    let within = |from: u64, to: u64| {
        requests.iter().filter(|request| (from * SECOND..to * SECOND).contains(&request.time.0)).count()
            as f64
    };
    bounds.windows(2).map(|pair| within(pair[0], pair[1])).collect()
}

fn poisson(rate: f64) -> Value {
    json!({"kind": "poisson", "rate": rate})
}

fn constant(rate: f64) -> Value {
    json!({"kind": "constant", "rate": rate})
}

fn closed(think_ms: u64) -> Value {
    json!({"kind": "closed", "think_time": {"kind": "constant", "value": think_ms * 1_000_000}})
}

/// Four phases of 100 s.
fn timeline() -> Value {
    json!([{"name": "quiet", "lasts": 100 * SECOND}, {"name": "storm", "lasts": 100 * SECOND},
        {"name": "fall", "lasts": 100 * SECOND}, {"name": "night", "lasts": 100 * SECOND}])
}

#[test]
fn open_arrivals_follow_the_intensity_of_the_phase() {
    let active = json!({"active": [{"phase": "storm", "intensity": 3.0}, {"phase": "quiet"},
        {"phase": "fall", "intensity": 2.0, "ramp_to": 0.0}]});
    for (arrival, is_random) in [(poisson(40.0), true), (constant(40.0), false)] {
        let streams = [stream("s", &arrival, &active)];
        let seen = counts(
            &requests(&scenario(1, &timeline(), &streams, &json!("whole"))),
            &[0, 100, 200, 250, 300, 400],
        );
        // The integral of the intensity over each stretch, times the rate.
        for (seen, expected) in seen.iter().zip([4000.0, 12_000.0, 3000.0, 1000.0, 0.0_f64]) {
            let allowed = if is_random { 4.0 * expected.sqrt() } else { 4.0 };
            assert!((seen - expected).abs() <= allowed, "{arrival}: {seen} for {expected}");
        }
    }
}

#[test]
fn intensity_one_leaves_arrivals_as_without_phases() {
    let window = json!({"duration": 50 * SECOND});
    let plain = requests(&scenario(1, &timeline(), &[stream("s", &poisson(40.0), &json!({}))], &window));
    let all = json!({"active": [{"phase": "quiet"}, {"phase": "storm"}]});
    assert_eq!(requests(&scenario(1, &timeline(), &[stream("s", &poisson(40.0), &all)], &window)), plain);
}

#[test]
fn think_times_pause_outside_phases_and_scale_inside() {
    // The user thinks 400 ms, twice as fast in the storm; a write takes 1 ms, and one under way at its end is completed.
    let phases =
        json!([{"name": "calm", "lasts": SECOND}, {"name": "storm", "lasts": SECOND}, {"name": "after"}]);
    let active =
        json!({"active": [{"phase": "storm", "intensity": 2.0}, {"phase": "after", "intensity": 0.5}]});
    let run = scenario(1, &phases, &[stream("s", &closed(400), &active)], &json!({"requests": 7}));
    let times: Vec<u64> = requests(&run).iter().map(|request| request.time.0 / 1000).collect();
    // From the first at 1,200 ms on: 201 ms each, up to 1,803; 196 of the 400 ms pass by the end at 2,000 ms... x 2.
    let first = 200_000;
    let mut expected: Vec<u64> = (0..4).map(|index| index * 201_000).collect();
    // The fourth ends at 1,804 ms: 196 ms of the storm are 392 ms of thinking; 8 ms more take 16 ms afterwards.
    expected.push(2_016_000 - 1_000_000 - first);
    expected.push(expected[4] + 801_000);
    expected.push(expected[5] + 801_000);
    assert_eq!(times, expected);
}

#[test]
fn a_window_is_the_phase_that_it_names() {
    let streams = [
        stream("all", &constant(10.0), &json!({})),
        stream("s", &constant(100.0), &json!({"active": [{"phase": "storm"}]})),
    ];
    let by_phase = |name: &str| {
        let outcome = outcome(&scenario(1, &timeline(), &streams, &json!({"phase": name})));
        assert_eq!(outcome.number("window_s"), Some(100.0));
        outcome.number("writes").unwrap()
    };
    let near = |seen: f64, expected: f64| assert!((seen - expected).abs() <= 2.0, "{seen} for {expected}");
    near(by_phase("quiet"), 1000.0);
    near(by_phase("storm"), 11_000.0);
    near(by_phase("fall"), 1000.0);
    let mut simulation = Simulation::build(
        parse(&scenario(1, &timeline(), &streams, &json!({"phase": "storm"}))).normalise().unwrap(),
        &BTreeMap::new(),
    )
    .unwrap();
    simulation.run(&crate::Uninterrupted).unwrap();
    let noted: Vec<_> = simulation
        .context
        .timeline
        .entries()
        .iter()
        .map(|entry| (entry.at.0 / SECOND, entry.transition.name(), entry.subject.as_str()))
        .collect();
    for entry in [
        (0, "phase_begins", "quiet"),
        (100, "phase_ends", "quiet"),
        (100, "phase_begins", "storm"),
        (100, "window_begins", ""),
        (200, "window_ends", ""),
    ] {
        assert!(noted.contains(&entry), "{entry:?} is not among {noted:?}");
    }
}

#[test]
fn a_load_that_changes_says_what_is_measured() {
    let phases = timeline();
    let varying = [stream("s", &poisson(10.0), &json!({"active": [{"phase": "storm"}]}))];
    let with = |streams: &[Value], warm_up: Value, window: Value| {
        let mut scenario = scenario(1, &phases, streams, &window);
        scenario["run"]["warm_up"] = warm_up;
        issues(&scenario)
    };
    let second = json!({"duration": SECOND});
    assert_eq!(with(&varying, json!("none"), json!("auto")), ["run.window"]);
    assert_eq!(with(&varying, json!("auto"), second.clone()), ["run.warm_up"]);
    assert_eq!(with(&varying, second.clone(), json!({"phase": "storm"})), ["run.warm_up"]);
    assert_eq!(with(&varying, json!("auto"), json!({"phase": "noon"})), ["run.window.phase"]);
    assert_eq!(with(&varying, json!("auto"), json!({"phase": "quiet"})), [""; 0]);
    let steady = [stream("s", &poisson(10.0), &json!({}))];
    assert_eq!(with(&steady, json!("none"), json!("whole")), ["run.window"]);
    assert_eq!(with(&steady, json!("none"), second), [""; 0]);
    let unknown = [stream("s", &poisson(10.0), &json!({"active": [{"phase": "noon"}]}))];
    assert_eq!(
        with(&unknown, json!("none"), json!({"phase": "storm"})),
        ["workload.streams.0.active.0.phase"]
    );
    let fixed = json!({"kind": "fixed_outstanding", "depth": 1});
    let fixed = [stream("s", &fixed, &json!({"active": [{"phase": "storm", "intensity": 2.0}]}))];
    assert_eq!(
        with(&fixed, json!("none"), json!({"phase": "storm"})),
        ["workload.streams.0.active.0.intensity"]
    );
}

#[test]
fn users_log_on_at_their_moment_once_and_work_from_then_on() {
    let start = json!({"after": 0, "spread": 100 * SECOND});
    let mut log_on = closed(0);
    log_on["times"] = json!(2);
    let streams = [
        stream("logon", &log_on, &json!({"start": start})),
        stream("office", &closed(1000), &json!({"start": start, "lasts": 10 * SECOND})),
    ];
    let users = 40;
    let run = scenario(users, &json!([]), &streams, &json!("whole"));
    let requests = requests(&run);
    let times = |process: u32| -> Vec<u64> {
        requests.iter().filter(|request| request.process == process).map(|request| request.time.0).collect()
    };
    let mut starts = Vec::new();
    for user in 0..users {
        let (log_on, office) = (times(user), times(users + user));
        assert_eq!(log_on.len(), 2, "user {user}");
        assert_eq!(log_on[1] - log_on[0], 1_000_000);
        // 1 s of thinking, 1 ms of writing, for 10 s.
        assert_eq!(office.len(), 9, "user {user}");
        assert_eq!(office[0] - log_on[0], SECOND);
        starts.push(log_on[0] as f64 / SECOND as f64);
    }
    starts.sort_by(f64::total_cmp);
    // Uniform over 100 s: the greatest distance of the two distribution functions (Kolmogorov) at 99.9 % for n = 40.
    let off = starts.iter().enumerate().map(|(index, start)| (start / 100.0 - index as f64 / 40.0).abs());
    assert!(off.fold(0.0, f64::max) < 0.31, "{starts:?}");
    // The run ends with the last of them; the records' times are counted from the first.
    let window = outcome(&run).number("window_s").unwrap();
    assert!((starts[39] + 9.0..109.1).contains(&window), "{window}");
}

#[test]
fn further_users_change_no_others_start() {
    let streams = [stream("s", &closed(0), &json!({"start": {"spread": 100 * SECOND}, "lasts": 1}))];
    let starts = |users: u32| -> BTreeMap<u32, SimTime> {
        let scenario = parse(&scenario(users, &json!([]), &streams, &json!("whole"))).normalise().unwrap();
        let mut simulation = Simulation::build(scenario, &BTreeMap::new()).unwrap();
        simulation.hosts.start(&mut simulation.context);
        let mut starts = BTreeMap::new();
        while let Some((time, event)) = simulation.context.events.next() {
            if let crate::event::Event::Source(source) = event {
                starts.insert(source, time);
            }
        }
        starts
    };
    let (few, more) = (starts(3), starts(4));
    assert!(few.iter().all(|(user, start)| more[user] == *start));
    assert_eq!(more.len(), 4);
}

#[test]
fn fixed_outstanding_pauses_between_its_phases() {
    let phases = json!([{"name": "a", "lasts": SECOND}, {"name": "b", "lasts": SECOND}, {"name": "c", "lasts": SECOND}]);
    let arrival = json!({"kind": "fixed_outstanding", "depth": 3});
    let mut stream = stream("s", &arrival, &json!({"active": [{"phase": "a"}, {"phase": "c"}]}));
    stream["operations"]["read_fraction"] = json!(1.0);
    let streams = [stream];
    let requests = requests(&scenario(1, &phases, &streams, &json!("whole")));
    assert_eq!(counts(&requests, &[0, 1, 2, 3, 4]), [3000.0, 0.0, 3000.0, 0.0]);
}

/// A chain of three dependent writes and a flush: data, journal, commit record.
fn chain() -> Value {
    let write =
        |sectors: u64| json!({"read_fraction": 0.0, "size": {"kind": "constant", "value": sectors * 512}});
    json!({"steps": [
        {"kind": "io", "ios": 3, "order": "parallel", "operations": write(8),
            "address": {"kind": "uniform", "footprint": 1 << 20}},
        {"kind": "io", "ios": 2, "operations": write(2),
            "address": {"kind": "sequential", "footprint": 1 << 20, "placement": {"kind": "contiguous", "offset": 1 << 20}}},
        {"kind": "flush"},
        {"kind": "io", "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": 512}},
            "address": {"kind": "strided", "stride": 4096, "footprint": 16_384,
                "placement": {"kind": "contiguous", "offset": 4 << 20}}}]})
}

#[test]
fn the_steps_of_an_interaction_wait_for_each_other() {
    let streams = [stream("s", &closed(10), &chain())];
    let requests = requests(&scenario(1, &json!([]), &streams, &json!({"requests": 18})));
    let seen: Vec<_> =
        requests.iter().map(|request| (request.time.0 / 1000, request.op, request.sectors.0)).collect();
    let mut expected = Vec::new();
    for interaction in 0..3 {
        // 1 ms for each step of writes or reads, two for the journal's two, none for the flush in write-through; then
        // 10 ms of thinking.
        let start = interaction * 14_000;
        expected.extend([(start, Op::Write, 8); 3]);
        expected.extend([(start + 1000, Op::Write, 2), (start + 2000, Op::Write, 2)]);
        expected.push((start + 3000, Op::Flush, 0));
        expected.push((start + 3000, Op::Read, 1));
    }
    assert_eq!(seen, expected);
    let journal: Vec<_> =
        requests.iter().filter(|request| request.sectors.0 == 2).map(|request| request.lba.0).collect();
    assert_eq!(journal, (0..6).map(|index| 2048 + 2 * index).collect::<Vec<_>>());
    let strided: Vec<_> =
        requests.iter().filter(|request| request.op == Op::Read).map(|request| request.lba.0).collect();
    assert_eq!(strided, [8192, 8200, 8208]);
    // The interaction is measured from its first step to its last.
    let outcome = outcome(&scenario(1, &json!([]), &streams, &json!({"requests": 18})));
    let mean = outcome.number("interaction_response_mean_us").unwrap();
    assert!((mean - 4000.0).abs() < 1.0, "{mean}");
}

#[test]
fn a_parallel_interaction_keeps_to_its_depth() {
    let mut arrival = closed(10);
    arrival["ios"] = json!(5);
    arrival["order"] = json!("parallel");
    arrival["depth"] = json!(2);
    let run = scenario(1, &json!([]), &[stream("s", &arrival, &json!({}))], &json!({"requests": 10}));
    let times: Vec<u64> = requests(&run).iter().map(|request| request.time.0 / 1_000_000).collect();
    assert_eq!(times, [0, 0, 1, 1, 2, 13, 13, 14, 14, 15]);
}

#[test]
fn a_mixture_keeps_its_weights() {
    let kind =
        |sectors: u64| json!({"read_fraction": 0.0, "size": {"kind": "constant", "value": sectors * 512}});
    let mix = json!({"mix": [
        {"weight": 45.0, "operations": kind(8), "address": {"kind": "uniform"}},
        {"weight": 45.0, "operations": kind(16), "address": {"kind": "uniform"}},
        {"weight": 10.0, "operations": kind(32), "address": {"kind": "sequential", "footprint": 1 << 20}}]});
    let arrival = json!({"kind": "fixed_outstanding", "depth": 8});
    let run = scenario(1, &json!([]), &[stream("s", &arrival, &mix)], &json!({"requests": 20_000}));
    let requests = requests(&run);
    for (sectors, share) in [(8, 0.45), (16, 0.45), (32, 0.1)] {
        let count = requests.iter().filter(|request| request.sectors.0 == sectors).count() as f64;
        let total = requests.len() as f64;
        let sigma = (total * share * (1.0 - share)).sqrt();
        assert!((count - total * share).abs() < 4.0 * sigma, "{count} of {total} with {sectors} sectors");
    }
    let sequence: Vec<_> =
        requests.iter().filter(|request| request.sectors.0 == 32).map(|request| request.lba.0).collect();
    assert!(sequence.iter().enumerate().all(|(index, &lba)| lba == index as u64 * 32 % 2048));
}

#[test]
fn writes_go_back_to_what_was_read_last() {
    let mut stream = stream("s", &json!({"kind": "fixed_outstanding", "depth": 1}), &json!({}));
    stream["operations"]["read_fraction"] = json!(0.5);
    stream["operations"]["rewrite_fraction"] = json!(0.15);
    let requests = requests(&scenario(1, &json!([]), &[stream], &json!({"requests": 40_000})));
    let mut last = None;
    let (mut writes, mut back) = (0.0, 0.0);
    for request in &requests {
        if request.op == Op::Read {
            last = Some(request.lba);
        } else if last.is_some() {
            writes += 1.0;
            back += f64::from(last == Some(request.lba));
        }
    }
    // A uniform write finds one of 256 places by chance.
    let share = 0.15 + 0.85 / 256.0;
    let sigma = (writes * share * (1.0_f64 - share)).sqrt();
    assert!((back - writes * share).abs() < 4.0 * sigma, "{back} of {writes}");
}

#[test]
fn a_stream_that_never_starts_leaves_nothing_to_do() {
    let streams = [stream(
        "s",
        &poisson(10.0),
        &json!({"start": {"after": 500 * SECOND}, "active": [{"phase": "storm"}]}),
    )];
    let outcome = outcome(&scenario(1, &timeline(), &streams, &json!("whole")));
    assert_eq!(outcome.number("writes"), Some(0.0));
}
