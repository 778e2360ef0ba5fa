//! Laws of the channels between the controller and its disks.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::config::Scenario;
use crate::simulation::{COLUMNS, Outcome, simulate};

const US: u64 = 1_000;
/// Size of the requests, and of the strips.
const SIZE: u64 = 64 << 10;

/// A sequence of requests, one per strip, eight of them for each of `disks` disks of `disk`.
fn scenario(disks: u32, disk: &Value, read_fraction: f64, back_end: &Value) -> Value {
    json!({"workload": {"streams": [{"name": "s", "address": {"kind": "sequential"},
            "arrival": {"kind": "fixed_outstanding", "depth": 8 * disks},
            "operations": {"read_fraction": read_fraction, "size": {"kind": "constant", "value": SIZE}}}]},
        "controller": {"back_end": back_end},
        "array": {"raid": "0", "disks": disks, "stripe_unit": SIZE, "disk": disk},
        "run": {"warm_up": {"requests": 1_000}, "window": {"requests": 4_000}}})
}

/// A sequence of requests of `size`, one outstanding, each for one of two disks in turn.
fn one_at_a_time(size: u64, disk: &Value, read_fraction: f64, back_end: &Value) -> Value {
    let mut scenario = scenario(2, disk, read_fraction, back_end);
    let stream = &mut scenario["workload"]["streams"][0];
    stream["arrival"]["depth"] = json!(1);
    stream["operations"]["size"]["value"] = json!(size);
    scenario["array"]["stripe_unit"] = json!(size);
    scenario["run"] = json!({"warm_up": {"requests": 100}, "window": {"requests": 1_000}});
    scenario
}

/// A drive of 17 MB/s, one zone of 200 sectors a track without skew, with `buffer`.
fn drive(buffer: &Value) -> Value {
    json!({"kind": "disk", "rpm": 10_000.0, "buffer": buffer,
        "geometry": {"kind": "zones", "surfaces": 4, "zones":
            [{"cylinders": 5_000, "sectors_per_track": 200, "track_skew": 0, "cylinder_skew": 0}]},
        "seek": {"kind": "figures", "track_to_track": 400_000, "average": 5_000_000, "full_stroke": 10_000_000}})
}

/// A disk that takes `service` ns for every I/O.
fn server(service: u64) -> Value {
    json!({"kind": "server", "capacity": 1_u64 << 34, "service": {"kind": "constant", "value": service}})
}

fn sas(lanes: u32, ports: u32, bandwidth: u64) -> Value {
    json!({"kind": "sas", "lanes": lanes, "ports": ports, "bandwidth": bandwidth})
}

fn run(scenario: &Value) -> Outcome {
    simulate(Scenario::from_json(&scenario.to_string()).unwrap(), &BTreeMap::new()).unwrap()
}

/// Throughput \[bytes/s\].
fn rate(scenario: &Value) -> f64 {
    run(scenario).number("throughput_bytes_per_s").unwrap()
}

#[track_caller]
fn close(found: f64, exact: f64, tolerance: f64) {
    assert!((found - exact).abs() <= tolerance * exact.abs(), "{found} instead of {exact}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_sequence_takes_the_lesser_of_disks_and_lanes(
        per_port in 1_u32..9, ports in 1_u32..5, lanes in 1_u32..5, megabytes in 50_u64..1_200, slower in 1.0_f64..8.0,
        overhead in prop::sample::select(vec![0, 5 * US]), reads in prop::sample::select(vec![0.0, 0.5, 1.0]),
    ) {
        // The media are no faster than a lane.
        let transfer = SIZE as f64 / (megabytes as f64 * 1e6) + overhead as f64 * 1e-9;
        let service = (slower * transfer * 1e9) as u64;
        let mut back_end = sas(lanes * ports, ports, megabytes * 1_000_000);
        back_end["command_overhead"] = json!(overhead);
        let found = rate(&scenario(per_port * ports, &server(service), reads, &back_end));
        let media = f64::from(per_port * ports) * SIZE as f64 / (service as f64 * 1e-9);
        let paths = f64::from(lanes * ports) * SIZE as f64 / transfer;
        close(found, media.min(paths), 0.01);
    }

    #[test]
    fn a_request_takes_no_less_than_its_transfer(
        kilobytes in prop::sample::select(vec![4_u64, 16, 64, 512]), reads in prop::sample::select(vec![0.0, 1.0]),
        megabytes in 50_u64..1_200, overhead in prop::sample::select(vec![0, 5 * US]), service in US..4_000 * US,
        is_bus in any::<bool>(), kind in 0..3,
    ) {
        let size = kilobytes << 10;
        let bandwidth = megabytes * 1_000_000;
        let transfer = size as f64 / bandwidth as f64 + overhead as f64 * 1e-9;
        let mut back_end = sas(4, 1, bandwidth);
        if is_bus {
            back_end = json!({"kind": "scsi_bus", "channels": 2, "bandwidth": bandwidth});
        }
        back_end["command_overhead"] = json!(overhead);
        let disk = match kind {
            0 => server(service),
            1 => drive(&json!({"segments": 8, "segment": 1 << 20, "write_cache": true})),
            _ => json!({"kind": "ssd", "capacity": 1_u64 << 32, "over_provisioning": 0.5, "read_time": 50 * US,
                "program_time": 500 * US}),
        };
        let found = rate(&one_at_a_time(size, &disk, reads, &back_end)) / size as f64;
        prop_assert!(found <= 1.000_001 / transfer, "{} a second, each of {} s", found, transfer);
        if kind == 0 {
            close(found, 1.0 / transfer.max(service as f64 * 1e-9), 1e-4);
        }
    }

    #[test]
    fn more_lanes_are_no_slower(
        disks in 1_u32..17, lanes in 1_u32..9, megabytes in 50_u64..1_200, service in 50 * US..1_000 * US,
    ) {
        let found = |lanes: u32| rate(&scenario(disks, &server(service), 1.0, &sas(lanes, 1, megabytes * 1_000_000)));
        let free = rate(&scenario(disks, &server(service), 1.0, &Value::Null));
        let (few, more) = (found(lanes), found(lanes + 1));
        prop_assert!(few <= 1.005 * more && more <= 1.005 * free, "{} {} {}", few, more, free);
    }
}

#[test]
fn a_read_from_a_buffer_takes_its_transfer() {
    // A transfer takes 512 KiB / 160 MB/s + 100 us = 3.3768 ms. One before the command would halve that over two buses.
    let bus =
        json!({"kind": "scsi_bus", "channels": 2, "bandwidth": 160_000_000, "command_overhead": 100 * US});
    for reads in [0.0, 1.0] {
        close(rate(&one_at_a_time(512 << 10, &server(US), reads, &bus)), 155.26e6, 1e-4);
    }
    // As long on the media, which send while they read.
    close(rate(&one_at_a_time(512 << 10, &server(4_000 * US), 1.0, &bus)), 131.07e6, 1e-4);
}

#[test]
fn the_port_with_the_most_disks_limits_a_sequence() {
    // Two of three disks share a lane: each has half of it, and the third is no faster in a sequence.
    let found = rate(&scenario(3, &server(100 * US), 1.0, &sas(2, 2, 300_000_000)));
    close(found, 3.0 * 150e6, 0.01);
    close(rate(&scenario(3, &server(100 * US), 1.0, &sas(2, 1, 300_000_000))), 600e6, 0.01);
}

#[test]
fn a_lane_for_each_port_is_a_bus() {
    let row = |back_end: &Value| -> Vec<String> {
        let outcome = run(&scenario(7, &server(400 * US), 0.7, back_end));
        COLUMNS
            .iter()
            .zip(outcome.values())
            .map(|(column, value)| format!("{} {value:?}", column.name))
            .collect()
    };
    let bus = json!({"kind": "scsi_bus", "channels": 3, "bandwidth": 320_000_000});
    assert_eq!(row(&sas(3, 3, 320_000_000)), row(&bus));
    let mut shared = sas(3, 3, 320_000_000);
    shared["ports"] = json!(1);
    assert_ne!(row(&shared), row(&bus));
}

#[test]
fn drives_saturate_their_lanes() {
    let disk = drive(&Value::Null);
    let unlimited = |disks: u32| rate(&scenario(disks, &disk, 1.0, &Value::Null));
    let (one, all) = (unlimited(1), unlimited(12));
    assert!(all > 11.0 * one, "{all} of twelve disks, {one} of one");
    for (lanes, share) in [(1, 0.25), (2, 0.25), (1, 0.5), (4, 0.5)] {
        // Lanes for a quarter of what the disks give, for half of it twice, and for all of it twice over.
        let found = rate(&scenario(12, &disk, 1.0, &sas(lanes, 1, (share * all) as u64)));
        close(found, all.min(f64::from(lanes) * share * all), 0.01);
    }
}
