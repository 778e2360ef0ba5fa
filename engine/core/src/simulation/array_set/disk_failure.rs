//! Failures of disks.

use super::redundancy::MemberState;
use super::{ArraySet, Context, Place};
use crate::disk::{BlockDevice as _, Io};
use crate::event::Event;
use crate::simulation::timeline::Transition;

/// The consequences of a disk failure.
#[derive(Debug)]
pub struct DiskFailure {
    /// The device that has failed.
    pub device: u32,
    /// Its I/Os.
    pub ios: Vec<Io>,
    /// Whether the array has lost data.
    pub has_lost_data: bool,
}

impl ArraySet {
    /// A disk fails; `None` if it has already failed.
    pub fn fail_disk(&mut self, context: &mut Context, place: Place) -> Option<DiskFailure> {
        let state = &mut self.arrays[place.array as usize];
        let was_optimal = state.redundancy.is_optimal();
        let member = &mut state.redundancy.members[place.disk as usize];
        if matches!(member.state, MemberState::Missing) {
            return None;
        }
        let device = member.device;
        member.state = MemberState::Missing;
        state.is_as_built = false;
        state.redundancy.vacant.push(place.disk);
        let has_lost_data = state.redundancy.has_lost_data(&state.layout);
        let ios = self.devices[device as usize].fail(context.now());
        context.events.retain(
            |event| !matches!(event, Event::Device { device: of, .. } | Event::Rebuild(of) if of == device),
        );
        self.record_disk(context, Transition::DiskFailed, place, 0.0);
        let name = &self[place.array].name;
        if has_lost_data {
            context.record(Transition::ArrayFailed, name, 0.0);
        } else {
            if was_optimal {
                context.record(Transition::ArrayDegraded, name, 0.0);
            }
            self.record_degraded(context);
        }
        Some(DiskFailure { device, ios, has_lost_data })
    }

    /// Takes a hot spare for a failed disk; returns whether there is one.
    pub fn take_spare(&mut self, context: &mut Context, place: Place) -> bool {
        let redundancy = &mut self[place.array].redundancy;
        if redundancy.spares == 0 {
            return false;
        }
        redundancy.spares -= 1;
        let left = f64::from(redundancy.spares);
        self.record_disk(context, Transition::SpareTaken, place, left);
        true
    }

    /// Whether `device` has failed.
    pub fn has_failed(&self, device: u32) -> bool {
        let Place { array, disk } = self.places[device as usize];
        self[array].redundancy.has_lost(disk, device)
    }
}
