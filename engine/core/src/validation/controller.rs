//! The rules of the controller: cache, link, channels, battery.

use crate::config::{BackEnd, Bus, Scenario};
use crate::issue::Issue;
use crate::units::{SECTOR_BYTES, SimDuration};

/// Largest number of cache lines, for which a run needs memory.
const MAX_LINES: u64 = 1 << 26;

/// Disks that a parallel SCSI bus addresses beside the controller: 16 identifiers.
const DISKS_PER_BUS: u32 = 15;

impl Scenario {
    /// Checks the controller.
    pub(super) fn check_controller(&self, issues: &mut Vec<Issue>) {
        self.check_cache(issues);
        self.check_battery(issues);
        if let Some(bus) = self.controller.link.bus {
            check_bus(bus, issues);
        }
        let disks = self.arrays().iter().map(|array| array.disks).fold(0, u32::saturating_add);
        match self.controller.back_end {
            Some(BackEnd::ScsiBus { channels, .. }) if disks > channels.saturating_mul(DISKS_PER_BUS) => {
                issues.push(Issue::new(
                    "scenario.too-many-disks-on-bus",
                    "controller.back_end.channels",
                    format!(
                        "{channels} for {disks} disks; a parallel SCSI bus holds {DISKS_PER_BUS} disks, so at least {} channels",
                        disks.div_ceil(DISKS_PER_BUS)
                    ),
                ));
            }
            Some(BackEnd::Sas { lanes, ports, .. }) if !lanes.is_multiple_of(ports) => {
                issues.push(Issue::new(
                    "scenario.lanes-not-multiple-of-ports",
                    "controller.back_end.lanes",
                    format!("{lanes}; allowed is a multiple of `ports`, {ports}"),
                ));
            }
            _ => {}
        }
    }

    fn check_cache(&self, issues: &mut Vec<Issue>) {
        let cache = &self.controller.cache;
        let line = cache.line.0;
        if !line.is_power_of_two() || !(SECTOR_BYTES..=32 << 10).contains(&line) {
            issues.push(Issue::new(
                "scenario.not-power-of-two",
                "controller.cache.line",
                format!("{line} bytes; allowed is a power of two from 512 bytes to 32 KiB"),
            ));
        }
        if let Some(usable) = cache.usable
            && usable > cache.capacity
        {
            issues.push(Issue::new(
                "scenario.usable-above-capacity",
                "controller.cache.usable",
                format!("{} bytes; allowed is up to the capacity, {} bytes", usable.0, cache.capacity.0),
            ));
        }
        let lines = cache.usable_bytes().0 / line.max(1);
        if lines > MAX_LINES {
            issues.push(Issue::new(
                "scenario.too-much-memory",
                "controller.cache.capacity",
                format!("{lines} lines of {line} bytes; allowed are {MAX_LINES} lines: use larger lines or a smaller cache"),
            ));
        }
        let write = &cache.write;
        if write.low_water.0 > write.high_water.0 {
            issues.push(Issue::new(
                "scenario.low-above-high",
                "controller.cache.write.low_water",
                format!("{}; allowed is up to `high_water`, {}", write.low_water.0, write.high_water.0),
            ));
        }
    }

    fn check_battery(&self, issues: &mut Vec<Issue>) {
        let battery = &self.controller.battery;
        if battery.hysteresis.0 > battery.threshold.0 {
            issues.push(Issue::new(
                "scenario.hysteresis-above-threshold",
                "controller.battery.hysteresis",
                format!("{}; allowed is up to the threshold, {}", battery.hysteresis.0, battery.threshold.0),
            ));
        }
        let cycle = SimDuration(battery.learn_discharge_time.0.saturating_add(battery.charge_time.0));
        if let Some(period) = battery.learn_period
            && period <= cycle
        {
            issues.push(Issue::new(
                "scenario.learn-period-too-short",
                "controller.battery.learn_period",
                format!("{} ns; allowed is more than a learn cycle takes, {} ns", period.0, cycle.0),
            ));
        }
    }
}

/// Checks that the standard of a bus has this form of it.
fn check_bus(bus: Bus, issues: &mut Vec<Issue>) {
    let mut allow = |name: &str, value: u32, allowed: &[u32]| {
        if !allowed.contains(&value) {
            let list: Vec<_> = allowed.iter().map(u32::to_string).collect();
            issues.push(Issue::new(
                "scenario.no-such-bus",
                format!("controller.link.bus.{name}"),
                format!("{value}; allowed are {}", list.join(", ")),
            ));
        }
    };
    match bus {
        Bus::Pci { width, clock } => {
            allow("width", width, &[32, 64]);
            allow("clock", clock, &[33, 66]);
        }
        Bus::PciX { width, clock } => {
            allow("width", width, &[32, 64]);
            allow("clock", clock, &[66, 100, 133]);
        }
        Bus::Pcie { lanes, .. } => allow("lanes", lanes, &[1, 2, 4, 8, 12, 16, 32]),
        Bus::Ethernet { .. } => {}
    }
}
