//! The bounds of single fields that a run relies on.
//!
//! The JSON Schema states them too. They are checked again here, because a run that begins with a value outside would
//! never end, or would end in a panic, whoever started it.

use super::{Arrival, Device, Disk, Issue, Scenario, Size, Stream, Window};

impl Scenario {
    /// The bounds that the configuration breaks.
    pub(super) fn check_bounds(&self, arrays_key: &str, issues: &mut Vec<Issue>) {
        let mut spindles = Vec::new();
        let mut at_least_one = |path: String, value: u64| {
            if value == 0 {
                issues.push(Issue::new(path, "0; allowed is 1 or more"));
            }
        };
        at_least_one("workload.users".to_owned(), self.workload.users.into());
        let cache = &self.controller.cache;
        at_least_one("controller.cache.write.destage_depth".to_owned(), cache.write.destage_depth.into());
        if let Some(limit) = self.controller.outstanding_limit {
            at_least_one("controller.outstanding_limit".to_owned(), limit.into());
        }
        if let Some(bandwidth) = self.controller.xor_bandwidth {
            at_least_one("controller.xor_bandwidth".to_owned(), bandwidth.0);
        }
        for (index, array) in self.arrays().iter().enumerate() {
            let path = if arrays_key == "array" { "array".to_owned() } else { format!("arrays[{index}]") };
            match &array.disk {
                Device::Disk(disk) => {
                    check_spindle(&path, disk, &mut spindles);
                    at_least_one(format!("{path}.disk.queue.depth"), disk.queue.depth.into());
                    if let Some(rate) = disk.bus_rate {
                        at_least_one(format!("{path}.disk.bus_rate"), rate.0);
                    }
                }
                Device::Server(server) => {
                    at_least_one(format!("{path}.disk.servers"), server.servers.into());
                }
                // Its model refuses what cannot exist.
                Device::Ssd(_) => {}
            }
        }
        for (index, stream) in self.workload.streams.iter().enumerate() {
            check_stream(&format!("workload.streams[{index}]"), stream, &mut at_least_one);
        }
        issues.append(&mut spindles);
        if self.workload.streams.is_empty() {
            issues.push(Issue::new("workload.streams", "is empty; give one stream or more"));
        }
        for (index, stream) in self.workload.streams.iter().enumerate() {
            if let Arrival::Poisson { rate, .. } = stream.arrival
                && (rate.0 <= 0.0 || !rate.0.is_finite())
            {
                issues.push(Issue::new(
                    format!("workload.streams[{index}].arrival.rate"),
                    format!("{}; allowed is more than 0", rate.0),
                ));
            }
        }
        let has_trace =
            self.workload.streams.iter().any(|stream| matches!(stream.arrival, Arrival::Trace { .. }));
        if self.run.window == Window::Whole && !has_trace {
            issues.push(Issue::new(
                "run.window",
                "whole; no stream is a trace, so the input never ends; allowed are auto, requests and duration",
            ));
        }
    }
}

/// The slowest spindle that a tolerance leaves must still turn.
const WIDEST_TOLERANCE: f64 = 0.5;

fn check_spindle(path: &str, disk: &Disk, issues: &mut Vec<Issue>) {
    if !(1.0..=1e9).contains(&disk.rpm.0) {
        let message = format!("{} rpm; allowed is 1 to 1e9", disk.rpm.0);
        issues.push(Issue::new(format!("{path}.disk.rpm"), message));
    }
    let tolerance = disk.speed_tolerance.0;
    if !(0.0..=WIDEST_TOLERANCE).contains(&tolerance) {
        let message = format!("{tolerance}; allowed is 0 to {WIDEST_TOLERANCE}");
        issues.push(Issue::new(format!("{path}.disk.speed_tolerance"), message));
    }
}

fn check_stream(path: &str, stream: &Stream, at_least_one: &mut impl FnMut(String, u64)) {
    match stream.arrival {
        Arrival::Closed { ios, .. } => at_least_one(format!("{path}.arrival.ios"), ios.into()),
        Arrival::FixedOutstanding { depth, .. } | Arrival::Trace { depth, .. } => {
            at_least_one(format!("{path}.arrival.depth"), depth.into());
        }
        Arrival::Poisson { .. } => {}
    }
    let Some(operations) = &stream.operations else { return };
    if let Some(every) = operations.flush_every {
        at_least_one(format!("{path}.operations.flush_every"), every.into());
    }
    if let Size::Choice { options } = &operations.size {
        at_least_one(format!("{path}.operations.size.options"), options.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of the issues of a small scenario after `change` from one text to another.
    fn paths(from: &str, to: &str) -> Vec<String> {
        let text = r#"{"workload": {"users": 1, "streams": [{"name": "s",
                "arrival": {"kind": "closed", "think_time": {"kind": "constant", "value": 1000}, "ios": 1},
                "operations": {"read_fraction": 0.5, "size": {"kind": "constant", "value": 4096}},
                "address": {"kind": "uniform", "footprint": 1048576,
                    "placement": {"kind": "scattered", "extent": 1048576}}}]},
            "array": {"raid": "0", "disks": 1, "stripe_unit": 65536, "disk": {"kind": "server", "servers": 1,
                "service": {"kind": "constant", "value": 1000}, "capacity": 10551296}},
            "run": {"window": {"requests": 1000}}}"#;
        assert!(text.contains(from), "{from}");
        let scenario = Scenario::from_json(&text.replace(from, to)).unwrap();
        scenario
            .normalise()
            .map_or_else(|issues| issues.into_iter().map(|issue| issue.path).collect(), |_| Vec::new())
    }

    #[test]
    fn a_value_that_no_run_survives_is_refused() {
        assert_eq!(paths("", ""), [""; 0]);
        assert_eq!(paths("\"users\": 1", "\"users\": 0"), ["workload.users"]);
        assert_eq!(paths("\"ios\": 1", "\"ios\": 0"), ["workload.streams[0].arrival.ios"]);
        assert_eq!(paths("\"servers\": 1", "\"servers\": 0"), ["array.disk.servers"]);
    }

    #[test]
    fn a_window_over_a_whole_input_that_never_ends_is_refused() {
        assert_eq!(paths("{\"requests\": 1000}", "\"whole\""), ["run.window"]);
    }

    #[test]
    fn scattered_extents_must_all_find_a_place() {
        // The array holds 161 stripe units: ten extents of 1 MiB and 64 KiB that belong to none.
        let footprint = |bytes: u64| paths("\"footprint\": 1048576", &format!("\"footprint\": {bytes}"));
        assert_eq!(footprint(10 << 20), [""; 0]);
        assert_eq!(footprint((10 << 20) + 65_536), ["workload.streams[0].address.footprint"]);
    }

    #[test]
    fn an_offset_beyond_all_numbers_is_refused() {
        let offset = format!("{{\"kind\": \"contiguous\", \"offset\": {}}}", u64::MAX - 511);
        assert_eq!(
            paths("{\"kind\": \"scattered\", \"extent\": 1048576}", &offset),
            ["workload.streams[0].address.placement.offset"]
        );
    }
}
