//! The rules that a configuration must keep beyond the types and ranges of its fields.

use serde::Serialize;

use super::{Device, Distribution, Scenario};
use crate::disk;
use crate::units::{Bytes, Fraction, SECTOR_BYTES};

/// One rule that a configuration breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// Dotted path of the parameter; empty for the whole.
    pub path: String,
    /// What is wrong, with the value, and what is allowed.
    pub message: String,
}

impl Issue {
    /// An issue at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

/// Lines of a cache, for which a run needs memory.
const MOST_LINES: u64 = 1 << 26;

impl Scenario {
    /// All rules that the configuration breaks. `arrays_key` is how its author named the arrays.
    pub(super) fn check(&self, arrays_key: &str) -> Vec<Issue> {
        // The other rules rely on the bounds.
        let mut issues = self.check_bounds(arrays_key);
        if !issues.is_empty() {
            return issues;
        }
        if self.array.is_some() && arrays_key == "arrays" {
            issues.push(Issue::new("array", "is given besides `arrays`; give one of the two"));
        }
        if self.arrays().is_empty() {
            issues.push(Issue::new(arrays_key, "no array is given; give `array` or `arrays`"));
        }
        self.check_cache(&mut issues);
        self.check_power_faults(&mut issues);
        self.check_redundancy(arrays_key, &mut issues);
        self.controller.link.check("controller.link", &mut issues);
        let disks = self.arrays().iter().map(|array| array.disks).fold(0, u32::saturating_add);
        if let Some(back_end) = self.controller.back_end {
            back_end.check("controller.back_end", disks, &mut issues);
        }
        let mut capacities = Vec::new();
        for (index, array) in self.arrays().iter().enumerate() {
            let path = if arrays_key == "array" { "array".to_owned() } else { format!("arrays[{index}]") };
            capacities.push(self.check_array(&path, array, &mut issues));
            if self.arrays()[..index].iter().any(|other| other.name == array.name) {
                issues.push(Issue::new(
                    format!("{path}.name"),
                    format!("{:?} names two arrays; names must differ", array.name),
                ));
            }
        }
        self.check_workload(&capacities, &mut issues);
        issues
    }

    fn check_cache(&self, issues: &mut Vec<Issue>) {
        let cache = &self.controller.cache;
        let path = "controller.cache";
        if !cache.line.0.is_power_of_two() || !(SECTOR_BYTES..=32 << 10).contains(&cache.line.0) {
            issues.push(Issue::new(
                format!("{path}.line"),
                format!("{} bytes; allowed is a power of two from 512 bytes to 32 KiB", cache.line.0),
            ));
        }
        if let Some(usable) = cache.usable
            && usable > cache.capacity
        {
            issues.push(Issue::new(
                format!("{path}.usable"),
                format!("{} bytes is more than the capacity of {}", usable.0, cache.capacity.0),
            ));
        }
        let lines = cache.usable_bytes().0 / cache.line.0.max(1);
        if lines > MOST_LINES {
            issues.push(Issue::new(
                format!("{path}.capacity"),
                format!(
                    "{lines} lines of {} bytes; allowed is {MOST_LINES} lines, so larger lines or less memory",
                    cache.line.0
                ),
            ));
        }
        check_fraction(&format!("{path}.write_fraction"), cache.write_fraction, issues);
        cache.read.check(&format!("{path}.read"), issues);
        cache.write.check(&format!("{path}.write"), issues);
        self.controller.battery.check("controller.battery", issues);
    }

    /// Checks one array and gives its capacity where that is defined.
    fn check_array(&self, path: &str, array: &super::Array, issues: &mut Vec<Issue>) -> Option<Bytes> {
        let before = issues.len();
        if array.stripe_unit.0 == 0 || !array.stripe_unit.0.is_multiple_of(SECTOR_BYTES) {
            issues.push(Issue::new(
                format!("{path}.stripe_unit"),
                format!("{} bytes; allowed is a multiple of 512 bytes", array.stripe_unit.0),
            ));
        } else if self.controller.cache.capacity.0 > 0
            && self.controller.cache.line.0 > 0
            && !array.stripe_unit.0.is_multiple_of(self.controller.cache.line.0)
        {
            issues.push(Issue::new(
                format!("{path}.stripe_unit"),
                format!(
                    "{} bytes is not a multiple of the cache line of {} bytes",
                    array.stripe_unit.0, self.controller.cache.line.0
                ),
            ));
        }
        if let Device::Disk(disk) = &array.disk
            && let Some(buffer) = &disk.buffer
            && !buffer.segment.0.is_multiple_of(SECTOR_BYTES)
        {
            issues.push(Issue::new(
                format!("{path}.disk.buffer.segment"),
                format!("{} bytes; allowed is a multiple of 512 bytes", buffer.segment.0),
            ));
        }
        if let Device::Server(server) = &array.disk {
            check_distribution(&format!("{path}.disk.service"), &server.service, issues);
        }
        if issues.len() > before {
            return None;
        }
        match disk::checked_layout_of(array) {
            Ok(layout) => Some(layout.capacity().bytes()),
            Err(error) => {
                let field = error.field();
                issues.push(Issue::new(format!("{path}.{field}"), error.to_string()));
                None
            }
        }
    }
}

/// Notes where `value` is no share of a whole.
pub(super) fn check_fraction(path: &str, value: Fraction, issues: &mut Vec<Issue>) {
    if !(0.0..=1.0).contains(&value.0) {
        issues.push(Issue::new(path, format!("{}; allowed is 0 to 1", value.0)));
    }
}

/// Notes where `distribution` is none.
pub(super) fn check_distribution(path: &str, distribution: &Distribution, issues: &mut Vec<Issue>) {
    match *distribution {
        Distribution::Uniform { low, high } if low > high => issues.push(Issue::new(
            format!("{path}.low"),
            format!("{} ns is above the greatest time of {} ns", low.0, high.0),
        )),
        Distribution::Lognormal { cv, .. } if cv <= 0.0 || !cv.is_finite() => {
            issues.push(Issue::new(format!("{path}.cv"), format!("{cv}; allowed is more than 0")));
        }
        _ => {}
    }
}
