//! The rules of one array and its devices.

use super::{check_distribution, check_sectors};
use crate::config::{Array, Device, Scenario};
use crate::disk;
use crate::issue::Issue;
use crate::units::Bytes;

impl Scenario {
    /// Checks one array, and returns its capacity if that is defined.
    pub(super) fn check_array(&self, place: &str, array: &Array, issues: &mut Vec<Issue>) -> Option<Bytes> {
        let before = issues.len();
        let (unit, cache) = (array.stripe_unit, &self.controller.cache);
        check_sectors(&format!("{place}.stripe_unit"), unit, issues);
        if cache.capacity.0 > 0 && cache.line.0 > 0 && !unit.0.is_multiple_of(cache.line.0) {
            issues.push(Issue::new(
                "scenario.stripe-unit-not-multiple-of-line",
                format!("{place}.stripe_unit"),
                format!("{} bytes; allowed is a multiple of the cache line, {} bytes", unit.0, cache.line.0),
            ));
        }
        match &array.disk {
            Device::Disk(disk) => {
                if let Some(buffer) = &disk.buffer {
                    check_sectors(&format!("{place}.disk.buffer.segment"), buffer.segment, issues);
                }
            }
            Device::Server(server) => {
                check_distribution(&format!("{place}.disk.service"), &server.service, issues);
            }
            Device::Ssd(_) => {}
        }
        if issues.len() > before {
            return None;
        }
        match disk::layout_of(array) {
            Ok(layout) => Some(layout.capacity().bytes()),
            Err(error) => {
                issues.push(error.issue(place));
                None
            }
        }
    }
}
