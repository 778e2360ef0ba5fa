//! The processors against closed forms of queueing theory and against cases worked by hand.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::sharing::Sharing;
use super::{Alarm, Job};
use crate::config::Scenario;
use crate::error::RunError;
use crate::simulation::{Outcome, record, simulate};
use crate::units::{SimDuration, SimTime};

const MS: u64 = 1_000_000;

/// Users on a host in front of a device of `service`, for `requests` requests.
fn scenario(
    users: u32,
    host: &Value,
    arrival: &Value,
    time: &Value,
    service: &Value,
    requests: u32,
) -> Value {
    json!({"workload": {"users": users, "streams": [{"name": "s", "arrival": arrival,
            "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": 4096}},
            "address": {"kind": "uniform", "footprint": 1 << 20}, "processor_time": time}]},
        "host": host,
        "array": {"raid": "0", "disks": 1, "disk": {"kind": "server", "capacity": 1 << 24, "service": service}},
        "run": {"seed": 5, "warm_up": {"requests": requests / 20}, "window": {"requests": requests}}})
}

fn parse(scenario: &Value) -> Scenario {
    Scenario::from_json(&scenario.to_string()).unwrap()
}

fn outcome(scenario: &Value) -> Outcome {
    simulate(parse(scenario), &BTreeMap::new()).unwrap()
}

fn column(outcome: &Outcome, name: &str) -> f64 {
    outcome.number(name).unwrap()
}

fn exponential(mean: u64) -> Value {
    json!({"kind": "exponential", "mean": mean})
}

fn lognormal(mean: u64, cv: f64) -> Value {
    json!({"kind": "lognormal", "mean": mean, "cv": cv})
}

/// A device that takes next to no time.
fn instant() -> Value {
    json!({"kind": "constant", "value": 1})
}

fn poisson(rate: f64) -> Value {
    json!({"kind": "poisson", "rate": rate})
}

fn closed(think: u64) -> Value {
    json!({"kind": "closed", "think_time": exponential(think)})
}

fn host(cores: u32, scheduling: &str) -> Value {
    json!({"cores": cores, "scheduling": scheduling})
}

#[track_caller]
fn assert_near(seen: f64, expected: f64, tolerance: f64) {
    assert!((seen / expected - 1.0).abs() <= tolerance, "{seen} for {expected}");
}

/// The laws of Little and of utilisation: they hold in every run, up to what is in progress at its ends.
fn check_operational_laws(outcome: &Outcome, cores: f64) {
    let rate = column(outcome, "throughput_iops");
    let (busy, queue) = (column(outcome, "host_busy_fraction"), column(outcome, "host_queue_mean"));
    assert_near(busy * cores, rate * column(outcome, "host_demand_mean_us") * 1e-6, 0.005);
    assert_near(queue, rate * column(outcome, "host_response_mean_us") * 1e-6, 0.005);
    let sum = column(outcome, "host_demand_mean_us") + column(outcome, "host_wait_mean_us");
    assert_near(column(outcome, "host_response_mean_us"), sum, 1e-9);
}

/// Mean wait in M/M/c \[s\], by the formula of Erlang C.
fn erlang_wait(rate: f64, service: f64, cores: u32) -> f64 {
    let load = rate * service;
    // The blocking probability of Erlang B by its recursion, then C.
    let blocked = (1..=cores).fold(1.0, |b, c| load * b / (f64::from(c) + load * b));
    let cores = f64::from(cores);
    let waits = blocked / (1.0 - load / cores * (1.0 - blocked));
    waits * service / (cores - load)
}

#[test]
fn poisson_arrivals_wait_as_in_m_m_c() {
    for (cores, rate) in [(1, 70.0), (3, 240.0), (8, 640.0)] {
        let wait = erlang_wait(rate, 0.01, cores);
        // Shared cores have as many interactions as queued ones if demands are exponential.
        for scheduling in ["fcfs", "shared"] {
            let run = scenario(
                1,
                &host(cores, scheduling),
                &poisson(rate),
                &exponential(10 * MS),
                &instant(),
                400_000,
            );
            let outcome = outcome(&run);
            assert_near(column(&outcome, "host_busy_fraction"), rate * 0.01 / f64::from(cores), 0.01);
            assert_near(column(&outcome, "host_response_mean_us") * 1e-6, wait + 0.01, 0.03);
            assert_near(column(&outcome, "host_wait_mean_us") * 1e-6, wait, 0.06);
            check_operational_laws(&outcome, f64::from(cores));
        }
    }
}

#[test]
fn shared_response_depends_on_the_mean_demand_only() {
    // M/G/1-PS: E[S] / (1 - rho), whatever the distribution; first come, first served waits as Pollaczek and Khinchine say.
    let (rate, mean) = (70.0, 0.01);
    for (time, square) in [
        (json!({"kind": "constant", "value": 10 * MS}), 1.0),
        (exponential(10 * MS), 2.0),
        (lognormal(10 * MS, 2.0), 5.0),
    ] {
        let run = |scheduling| {
            outcome(&scenario(1, &host(1, scheduling), &poisson(rate), &time, &instant(), 600_000))
        };
        let shared = run("shared");
        assert_near(column(&shared, "host_response_mean_us") * 1e-6, mean / 0.3, 0.04);
        check_operational_laws(&shared, 1.0);
        let wait = rate * square * mean * mean / (2.0 * 0.3);
        assert_near(column(&run("fcfs"), "host_response_mean_us") * 1e-6, wait + mean, 0.06);
    }
}

/// Throughput \[1/s\] and mean interactions at the processors of the machine repairman with several repairmen.
fn repairman(users: u32, think: f64, service: f64, cores: u32) -> (f64, f64) {
    let mut weights = vec![1.0];
    for n in 1..=users {
        let arrivals = f64::from(users - n + 1) / think;
        let ends = f64::from(n.min(cores)) / service;
        weights.push(weights[n as usize - 1] * arrivals / ends);
    }
    let total: f64 = weights.iter().sum();
    let mean = |value: &dyn Fn(u32) -> f64| {
        (0..).zip(&weights).map(|(n, weight)| value(n) * weight).sum::<f64>() / total
    };
    (mean(&|n| f64::from(n.min(cores)) / service), mean(&f64::from))
}

#[test]
fn closed_users_are_the_machine_repairman() {
    for (users, cores) in [(6, 1), (20, 1), (40, 4), (3, 8)] {
        let (rate, present) = repairman(users, 0.1, 0.01, cores);
        for scheduling in ["fcfs", "shared"] {
            let run = scenario(
                users,
                &host(cores, scheduling),
                &closed(100 * MS),
                &exponential(10 * MS),
                &instant(),
                200_000,
            );
            let outcome = outcome(&run);
            assert_near(column(&outcome, "throughput_iops"), rate, 0.015);
            assert_near(column(&outcome, "host_queue_mean"), present, 0.03);
            assert_near(column(&outcome, "interaction_response_mean_us") * 1e-6, present / rate, 0.03);
            check_operational_laws(&outcome, f64::from(cores));
        }
    }
}

#[test]
fn processor_and_disk_in_series_give_exact_mva() {
    // Z = 1 s, 2 ms of processor, 10 ms of disk: X and R by mean value analysis.
    for (users, rate, response) in [(10, 9.8717, 13.0), (50, 48.9649, 21.1392)] {
        for scheduling in ["fcfs", "shared"] {
            let run = scenario(
                users,
                &host(1, scheduling),
                &closed(1000 * MS),
                &exponential(2 * MS),
                &exponential(10 * MS),
                200_000,
            );
            let outcome = outcome(&run);
            assert_near(column(&outcome, "interactions_per_s"), rate, 0.015);
            assert_near(column(&outcome, "interaction_response_mean_us") * 1e-3, response, 0.03);
        }
    }
}

/// The ends of jobs that arrive at `(time, demand)` on shared cores \[ns\].
fn ends(cores: u32, arrivals: &[(u64, u64)]) -> Vec<(u32, u64)> {
    let mut sharing = Sharing::new(cores);
    let mut ends = Vec::new();
    let mut alarm: Option<Alarm> = None;
    let mut arrivals: VecDeque<_> = (0..).zip(arrivals.iter().copied()).collect();
    loop {
        let arrival = arrivals.front().copied();
        match (arrival, alarm) {
            (Some((source, (at, demand))), _) if alarm.is_none_or(|(due, _)| at < due.0) => {
                arrivals.pop_front();
                let job = Job { source, since: SimTime(at), demand: SimDuration(demand) };
                alarm = sharing.start(SimTime(at), job);
            }
            (_, Some((at, which))) => {
                let mut ready = VecDeque::new();
                alarm = sharing.end(at, which, &mut ready);
                ends.extend(ready.iter().map(|job| (job.source, at.0)));
            }
            _ => return ends,
        }
    }
}

#[test]
fn shared_cores_slow_all_interactions_alike() {
    // The first has 5 of 10 when the second arrives; both progress at half the speed until it ends.
    assert_eq!(ends(1, &[(0, 10), (5, 10)]), [(0, 15), (1, 20)]);
    // A short one overtakes a long one.
    assert_eq!(ends(1, &[(0, 100), (0, 10)]), [(1, 20), (0, 110)]);
    // Three on two cores at two thirds of the speed, and one that is alone.
    assert_eq!(ends(2, &[(0, 10), (0, 10), (0, 10), (100, 7)]), [(0, 15), (1, 15), (2, 15), (3, 107)]);
    // As many as cores do not disturb each other; a demand of zero ends at once.
    assert_eq!(ends(2, &[(0, 30), (10, 10), (12, 0)]), [(2, 12), (1, 20), (0, 30)]);
}

#[test]
fn an_interaction_computes_once_before_its_first_io() {
    // 10 ms of thinking, 2 ms of processor, three reads of 1 ms each.
    let mut arrival =
        json!({"kind": "closed", "think_time": {"kind": "constant", "value": 10 * MS}, "ios": 3});
    let constant = |ms: u64| json!({"kind": "constant", "value": ms * MS});
    let run = scenario(1, &host(2, "shared"), &arrival, &constant(2), &constant(1), 60);
    let outcome = outcome(&run);
    assert_near(column(&outcome, "interaction_response_mean_us"), 5000.0, 1e-9);
    assert_near(column(&outcome, "host_demand_mean_us"), 2000.0, 1e-9);
    assert_near(column(&outcome, "host_busy_fraction"), 2.0 / 15.0 / 2.0, 0.02);
    // Together: the reads of an interaction are issued when it has computed.
    arrival["order"] = json!("parallel");
    let run = scenario(1, &host(2, "fcfs"), &arrival, &constant(2), &constant(1), 9);
    let times: Vec<_> = record(parse(&run), &BTreeMap::new(), &crate::Uninterrupted)
        .unwrap()
        .records()
        .map(|request| request.time.0 / MS)
        .collect();
    assert_eq!(times, [0, 0, 0, 15, 15, 15, 30, 30, 30]);
}

#[test]
fn processor_time_changes_no_other_draw() {
    let requests = |time: &Value| -> Vec<_> {
        let mut run = scenario(1, &host(1, "fcfs"), &poisson(50.0), time, &instant(), 300);
        run["run"]["warm_up"] = json!("none");
        record(parse(&run), &BTreeMap::new(), &crate::Uninterrupted)
            .unwrap()
            .records()
            .map(|request| request.lba)
            .collect()
    };
    assert_eq!(requests(&exponential(10 * MS)), requests(&Value::Null));
}

#[test]
fn processors_without_demand_have_no_effect() {
    let canonical = |host: &Value, time: &Value| {
        let run = scenario(2, host, &poisson(50.0), time, &instant(), 300);
        parse(&run).normalise().unwrap().to_canonical_json()
    };
    let plain = canonical(&Value::Null, &Value::Null);
    assert!(!plain.contains("\"host\"") && !plain.contains("processor_time"));
    assert_eq!(canonical(&host(4, "fcfs"), &Value::Null), plain);
    assert_eq!(canonical(&host(4, "fcfs"), &exponential(0)), plain);
    assert_ne!(canonical(&host(4, "fcfs"), &exponential(1)), canonical(&host(4, "shared"), &exponential(1)));
}

#[test]
fn processor_time_needs_a_host_and_no_trace() {
    let codes = |run: &Value| match simulate(parse(run), &BTreeMap::new()) {
        Err(RunError::Configuration(issues)) => {
            issues.into_iter().map(|issue| (issue.code, issue.place)).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let mut run = scenario(1, &Value::Null, &poisson(50.0), &exponential(MS), &instant(), 300);
    let place = "workload.streams.0.processor_time".to_owned();
    assert_eq!(codes(&run), [("scenario.no-host", place.clone())]);
    run["host"] = host(0, "fcfs");
    assert_eq!(codes(&run), [("scenario.out-of-range", "host.cores".to_owned())]);
    run["host"] = host(1, "fcfs");
    run["workload"]["streams"][0] = json!({"name": "t", "processor_time": exponential(MS),
        "arrival": {"kind": "trace", "file": "a", "mode": "asap"}});
    assert_eq!(codes(&run), [("scenario.not-for-trace", place)]);
}

#[test]
fn an_open_load_beyond_the_processors_is_overloaded() {
    let run = scenario(1, &host(2, "shared"), &poisson(3000.0), &exponential(MS), &instant(), 1_000_000);
    assert_eq!(outcome(&run).text("status"), Some("overloaded"));
}

#[test]
fn a_loss_of_mains_ends_what_computes() {
    for scheduling in ["fcfs", "shared"] {
        let mut run =
            scenario(8, &host(1, scheduling), &closed(10 * MS), &exponential(10 * MS), &instant(), 2_000);
        run["faults"] = json!([{"kind": "mains_lost", "at": 3000 * MS, "duration": 2000 * MS}]);
        run["run"]["warm_up"] = json!("none");
        let outcome = outcome(&run);
        let working = column(&outcome, "window_s") - 2.0;
        let rate = column(&outcome, "reads") / working;
        assert_near(rate, repairman(8, 0.01, 0.01, 1).0, 0.06);
        let idle = 2.0 / column(&outcome, "window_s");
        assert!(column(&outcome, "host_busy_fraction") < 1.0 - idle + 0.01);
    }
}
