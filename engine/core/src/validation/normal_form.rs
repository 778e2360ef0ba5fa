//! The normal form of a configuration: settings without effect get one value, so that equal runs have one identity.

use crate::config::{
    BackEnd, Battery, BatteryKind, BatteryState, Cache, DestagePolicy, Device, Fault, ReadCache, Scenario,
    WarmUp, Window, WriteCache, WritePolicy,
};
use crate::units::{Bytes, Fraction, SimDuration};

impl Scenario {
    /// Sets settings without effect to one value.
    pub(super) fn reduce_to_normal_form(&mut self) {
        self.normalise_redundancy();
        for array in self.arrays.iter_mut().flatten() {
            match &mut array.disk {
                Device::Disk(disk) => disk.normalise(),
                Device::Ssd(ssd) => ssd.normalise(),
                Device::Server(_) => {}
            }
        }
        let has_sata_ssd = self
            .arrays()
            .iter()
            .any(|array| matches!(&array.disk, Device::Ssd(ssd) if ssd.interface.half_duplex));
        if let Some(BackEnd::Sas { sata_overhead, sata_write_overhead, .. }) = &mut self.controller.back_end
            && !has_sata_ssd
        {
            (*sata_overhead, *sata_write_overhead) = (SimDuration::ZERO, SimDuration::ZERO);
        }
        let has_volatile = self.arrays().iter().any(|array| array.disk.has_volatile_cache());
        let has_parity = self.arrays().iter().any(|array| array.raid.parities() > 0);
        let controller = &mut self.controller;
        if !has_parity {
            controller.xor_bandwidth = None;
        }
        controller.link.normalise();
        controller.firmware.normalise(has_parity);
        if !has_volatile {
            controller.cache.write.force_destages = true;
        }
        normalise_cache(&mut controller.cache, &mut controller.battery);
        self.faults.sort_by_key(Fault::at);
        normalise_battery(&mut controller.battery, &mut self.faults);
        if self.workload.has_trace() {
            // By default a trace is replayed cold and measured whole.
            if self.run.warm_up == WarmUp::Auto {
                self.run.warm_up = WarmUp::None;
            }
            if self.run.window == Window::Auto {
                self.run.window = Window::Whole;
            }
        }
        let is_write_back = self.controller.cache.write.policy == WritePolicy::WriteBack;
        if !is_write_back || self.run.warm_up == WarmUp::None {
            self.run.initial_dirty = None;
        }
        let first = self.arrays().first().map(|array| array.name.clone());
        let users = self.workload.users;
        for stream in &mut self.workload.streams {
            if stream.array.is_none() {
                stream.array.clone_from(&first);
            }
            stream.normalise(users);
        }
        if self.workload.streams.iter().all(|stream| stream.processor_time.is_none()) {
            self.host = None;
        }
    }
}

fn normalise_cache(cache: &mut Cache, battery: &mut Battery) {
    let usable = cache.usable_bytes();
    cache.usable = Some(usable);
    if usable < cache.line {
        cache.usable = Some(Bytes(0));
    }
    // Without a battery all memory is read cache (HP 4AA0-8805ENW p. 4: the ratio becomes 100/0).
    let unprotected = battery.state == BatteryState::Absent && !battery.allow_without_battery;
    if cache.dirty_bytes() < cache.line || unprotected || cache.write.policy == WritePolicy::WriteThrough {
        cache.write_fraction = Fraction(0.0);
        cache.write = WriteCache { policy: WritePolicy::WriteThrough, ..WriteCache::default() };
        *battery = Battery::default();
    }
    if cache.write.destage_policy != DestagePolicy::IdleTime {
        cache.write.idle_delay = WriteCache::default().idle_delay;
    }
    if cache.read_bytes() < cache.line {
        cache.read = ReadCache { read_ahead: None, ..ReadCache::default() };
    }
    cache.read.normalise();
}

/// Sets battery settings without effect to their defaults.
fn normalise_battery(battery: &mut Battery, faults: &mut Vec<Fault>) {
    let defaults = Battery::default();
    if battery.state == BatteryState::Absent {
        faults.retain(|fault| !matches!(fault, Fault::BatteryFails { .. } | Fault::LearnCycle { .. }));
        *battery = Battery { allow_without_battery: battery.allow_without_battery, ..defaults };
        return;
    }
    // A failed battery neither fails again nor runs learn cycles.
    let mut has_failed = false;
    faults.retain(|fault| match fault {
        Fault::BatteryFails { .. } => !std::mem::replace(&mut has_failed, true),
        Fault::LearnCycle { .. } => !has_failed,
        _ => true,
    });
    let has_cut = faults.iter().any(|fault| matches!(fault, Fault::MainsLost { .. }));
    let has_learn = battery.learn_period.is_some()
        || faults.iter().any(|fault| matches!(fault, Fault::LearnCycle { .. }));
    if battery.state == BatteryState::Present {
        battery.charge = defaults.charge;
    }
    if !has_cut {
        (battery.kind, battery.holdup) = (defaults.kind, defaults.holdup);
    }
    // Without mains losses a charge ends only in learn cycles.
    if !has_cut && !has_learn {
        battery.hysteresis = defaults.hysteresis;
        if battery.state == BatteryState::Present {
            (battery.threshold, battery.charge_time) = (defaults.threshold, defaults.charge_time);
            if !has_failed {
                battery.allow_without_battery = defaults.allow_without_battery;
            }
        }
    }
    if !has_learn {
        battery.learn_discharge_time = defaults.learn_discharge_time;
    }
    if battery.kind == BatteryKind::Flash {
        battery.copy_time = battery.flash_copy_time();
    } else {
        battery.copy_time = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The canonical form of a scenario with a write cache, a battery and faults.
    fn canonical(battery: &str, faults: &str) -> String {
        let text = format!(
            r#"{{"workload": {{"streams": [{{"name": "s", "arrival": {{"kind": "poisson", "rate": 10}},
                "operations": {{"read_fraction": 0.5, "size": {{"kind": "constant", "value": 4096}}}},
                "address": {{"kind": "uniform"}}}}]}},
                "controller": {{"cache": {{"capacity": 1048576, "write_fraction": 0.5}}, "battery": {battery}}},
                "array": {{"raid": "0", "disks": 1, "disk": {{"kind": "server",
                    "service": {{"kind": "constant", "value": 1000}}, "capacity": 10551296}}}},
                "faults": {faults}}}"#
        );
        Scenario::from_json(&text).unwrap().normalise().unwrap().to_canonical_json()
    }

    #[test]
    fn battery_settings_without_effect_are_left_out() {
        let plain = canonical(r#"{"state": "present"}"#, "[]");
        for same in [
            r#"{"state": "present", "holdup": 1, "kind": "flash", "copy_time": 5}"#,
            r#"{"state": "present", "threshold": 0.5, "hysteresis": 0.1, "charge_time": 7, "charge": 0.1}"#,
            r#"{"state": "present", "learn_discharge_time": 3, "allow_without_battery": true}"#,
        ] {
            assert_eq!(canonical(same, "[]"), plain, "{same}");
        }
        assert_ne!(canonical(r#"{"state": "present", "learn_period": 100000000000000}"#, "[]"), plain);
    }

    #[test]
    fn buffer_settings_without_effect_are_left_out() {
        let canonical = |buffer: &str| {
            let text = format!(
                r#"{{"workload": {{"streams": [{{"name": "s", "arrival": {{"kind": "poisson", "rate": 10}},
                    "operations": {{"read_fraction": 0.5, "size": {{"kind": "constant", "value": 4096}}}},
                    "address": {{"kind": "uniform"}}}}]}},
                    "array": {{"raid": "0", "disks": 1, "disk": {{"kind": "disk", "rpm": 10000,
                        "geometry": {{"kind": "zones", "surfaces": 2,
                            "zones": [{{"cylinders": 2000, "sectors_per_track": 60}}]}},
                        "seek": {{"kind": "figures", "track_to_track": 500000, "average": 2000000,
                            "full_stroke": 4000000}},
                        "command_time": 300, "buffer": {buffer}}}}}}}"#
            );
            Scenario::from_json(&text).unwrap().normalise().unwrap().to_canonical_json()
        };
        let buffer = |keys: &str| canonical(&format!(r#"{{"segments": 2, "segment": 4096{keys}}}"#));
        let (none, plain) = (canonical("null"), buffer(""));
        for same in [r#", "write_time": 5"#, r#", "hit_time": 300"#, r#", "write_time": 300"#] {
            assert_eq!(buffer(same), plain, "{same}");
        }
        assert_eq!(buffer(r#", "read_ahead": "off", "lapse": 0.5, "hit_time": 7"#), none);
        let cached = buffer(r#", "read_ahead": "off", "write_cache": true"#);
        assert_eq!(buffer(r#", "read_ahead": "off", "write_cache": true, "lapse": 0.5"#), cached);
        for other in [
            none,
            cached,
            buffer(r#", "hit_time": 7"#),
            buffer(r#", "lapse": 0.5"#),
            buffer(r#", "write_cache": true"#),
        ] {
            assert_ne!(other, plain);
        }
        let timed = buffer(r#", "write_cache": true, "write_time": 5"#);
        assert_ne!(timed, buffer(r#", "write_cache": true"#));
    }

    #[test]
    fn controller_settings_without_effect_are_left_out() {
        let canonical = |controller: &str, raid: &str| {
            let text = format!(
                r#"{{"workload": {{"streams": [{{"name": "s", "arrival": {{"kind": "poisson", "rate": 10}},
                    "operations": {{"read_fraction": 0.5, "size": {{"kind": "constant", "value": 4096}}}},
                    "address": {{"kind": "uniform"}}}}]}},
                    "controller": {{{controller}}},
                    "array": {{"raid": "{raid}", "disks": 3, "disk": {{"kind": "server",
                        "service": {{"kind": "constant", "value": 1000}}, "capacity": 10551296}}}}}}"#
            );
            Scenario::from_json(&text).unwrap().normalise().unwrap().to_canonical_json()
        };
        let firmware = |keys: &str, raid: &str| canonical(&format!(r#""firmware": {{{keys}}}"#), raid);
        let plain = firmware(r#""command_time": 9"#, "0");
        assert!(["read_time", "write_time", "parity_time"].iter().all(|key| !plain.contains(key)));
        for same in [r#""read_time": 9, "write_time": 9"#, r#""parity_time": 5"#] {
            assert_eq!(firmware(&format!(r#""command_time": 9, {same}"#), "0"), plain, "{same}");
        }
        let plain = firmware(r#""command_time": 9"#, "5");
        for other in [r#""read_time": 8"#, r#""write_time": 0"#, r#""parity_time": 5"#] {
            assert_ne!(firmware(&format!(r#""command_time": 9, {other}"#), "5"), plain, "{other}");
        }
        // The variation of times that are all zero.
        let spread = r#""spread": "exponential""#;
        assert_eq!(firmware(&format!(r#"{spread}, "read_time": 0"#), "0"), firmware("", "0"));
        assert_ne!(
            firmware(&format!(r#"{spread}, "read_time": 1"#), "0"),
            firmware(r#""read_time": 1"#, "0")
        );
        let lanes =
            |ports: &str| canonical(&format!(r#""back_end": {{"kind": "sas", "lanes": 4{ports}}}"#), "0");
        assert_eq!(lanes(r#", "ports": 1"#), lanes(""));
        assert!(!lanes("").contains("ports"));
        assert_ne!(lanes(r#", "ports": 2"#), lanes(""));
    }

    #[test]
    fn ssd_settings_without_effect_are_left_out() {
        let canonical = |ssd: &str, back_end: &str| {
            let text = format!(
                r#"{{"workload": {{"streams": [{{"name": "s", "arrival": {{"kind": "poisson", "rate": 10}},
                    "operations": {{"read_fraction": 0.5, "size": {{"kind": "constant", "value": 4096}}}},
                    "address": {{"kind": "uniform"}}}}]}},
                    "controller": {{"back_end": {{"kind": "sas", "lanes": 1{back_end}}}}},
                    "array": {{"raid": "0", "disks": 1, "disk": {{"kind": "ssd", "capacity": 1073741824, "over_provisioning": 0.5,
                        "read_time": 50000, "program_time": 500000, "pages_per_block": 16{ssd}}}}}}}"#
            );
            Scenario::from_json(&text).unwrap().normalise().unwrap().to_canonical_json()
        };
        let (cache, volatile) = (r#", "write_cache": true"#, r#", "power_loss_protection": false"#);
        assert_eq!(canonical(cache, ""), canonical("", ""));
        assert_ne!(canonical(&format!("{cache}{volatile}"), ""), canonical(volatile, ""));
        let commit = r#", "commit_time": 5"#;
        assert_eq!(canonical(commit, ""), canonical("", ""));
        assert_ne!(canonical(&format!("{commit}{volatile}"), ""), canonical(volatile, ""));
        let (sata, tunnel) = (r#", "interface": {"half_duplex": true}"#, r#", "sata_overhead": 5"#);
        for tunnel in [tunnel, r#", "sata_write_overhead": 5"#] {
            assert_eq!(canonical("", tunnel), canonical("", ""));
            assert_ne!(canonical(sata, tunnel), canonical(sata, ""));
        }
        let plain = r#", "interface": {"half_duplex": true, "write_overhead": 0}"#;
        assert_eq!(canonical(plain, ""), canonical(sata, ""));
    }

    #[test]
    fn faults_give_battery_settings_effect() {
        let differ = |key: &str, faults: &str| {
            let plain = canonical(r#"{"state": "present"}"#, faults);
            canonical(&format!(r#"{{"state": "present", {key}}}"#), faults) != plain
        };
        let cut = r#"[{"kind": "mains_lost", "at": 1, "duration": 1}]"#;
        let learn = r#"[{"kind": "learn_cycle", "at": 1}]"#;
        let fails = r#"[{"kind": "battery_fails", "at": 1}]"#;
        for (key, on) in [
            (r#""holdup": 5"#, [true, false, false]),
            (r#""kind": "flash""#, [true, false, false]),
            (r#""threshold": 0.5"#, [true, true, false]),
            (r#""hysteresis": 0.5"#, [true, true, false]),
            (r#""charge_time": 5"#, [true, true, false]),
            (r#""learn_discharge_time": 5"#, [false, true, false]),
            (r#""allow_without_battery": true"#, [true, true, true]),
        ] {
            assert_eq!([cut, learn, fails].map(|faults| differ(key, faults)), on, "{key}");
        }
    }

    #[test]
    fn battery_faults_without_effect_are_left_out() {
        let learn = r#"{"kind": "learn_cycle", "at": 5}"#;
        let fails = |at: u32| format!(r#"{{"kind": "battery_fails", "at": {at}}}"#);
        let present = r#"{"state": "present"}"#;
        let once = canonical(present, &format!("[{}]", fails(4)));
        assert_eq!(canonical(present, &format!("[{learn}, {}, {}]", fails(6), fails(4))), once);
        let absent = canonical(r#"{"state": "absent"}"#, "[]");
        assert_eq!(canonical(r#"{"state": "absent"}"#, &format!("[{}, {learn}]", fails(4))), absent);
    }
}
