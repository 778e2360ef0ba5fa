//! Disks that fail and disks that are put in their place.

use super::Simulation;
use super::redundancy::MemberState;
use super::timeline::Transition;
use crate::config::Fault;
use crate::disk::BlockDevice as _;
use crate::event::Event;

impl Simulation {
    /// A scripted fault of a disk, or a scripted replacement, happens.
    pub(super) fn on_disk_fault(&mut self, index: u32) {
        let find = |name: &Option<String>| {
            let place = self.scenario.arrays().iter().position(|array| Some(&array.name) == name.as_ref());
            place.unwrap_or_default() as u16
        };
        match &self.scenario.faults[index as usize] {
            Fault::DiskFails { array, disk, .. } => {
                let (array, disk) = (find(array), *disk);
                self.fail_disk(array, disk);
            }
            Fault::RebuildStarts { array, .. } => {
                let array = find(array);
                // Where a hot spare has taken the place already, there is nothing to replace.
                if let Some(&disk) = self.arrays[array as usize].redundancy.vacant.first() {
                    self.replace_disk(array, disk);
                }
            }
            Fault::MainsLost { .. } | Fault::BatteryFails { .. } | Fault::LearnCycle { .. } => {}
        }
    }

    /// A disk fails: its I/Os come to nothing, and a hot spare takes its place where there is one.
    fn fail_disk(&mut self, array: u16, disk: u32) {
        let state = &mut self.arrays[array as usize];
        let was_optimal = state.redundancy.is_optimal();
        let member = &mut state.redundancy.members[disk as usize];
        if matches!(member.state, MemberState::Missing) {
            return;
        }
        let device = member.device;
        member.state = MemberState::Missing;
        state.is_as_built = false;
        state.redundancy.vacant.push(disk);
        let has_lost_data = state.redundancy.has_lost_data(&state.layout);
        let lost = self.devices[device as usize].fail(self.now);
        self.events.retain(
            |event| !matches!(event, Event::Device { device: of, .. } | Event::Rebuild(of) if of == device),
        );
        self.note_disk(Transition::DiskFailed, array, disk, 0.0);
        if has_lost_data {
            self.note_array(Transition::ArrayFailed, array);
            self.end_by_array_failure(array);
            return;
        }
        if was_optimal {
            self.note_array(Transition::ArrayDegraded, array);
        }
        self.note_degraded();
        for io in lost {
            self.lose_io(device, io);
        }
        let redundancy = &mut self.arrays[array as usize].redundancy;
        if redundancy.spares > 0 {
            redundancy.spares -= 1;
            let left = f64::from(redundancy.spares);
            self.note_disk(Transition::SpareTaken, array, disk, left);
            self.replace_disk(array, disk);
        }
    }

    /// Whether `device` has failed.
    pub(super) fn is_lost(&self, device: u32) -> bool {
        let (array, disk) = (self.device_array[device as usize], self.device_disk[device as usize]);
        self.arrays[array as usize].redundancy.has_lost(disk, device)
    }

    /// The devices that are at work: those that hold a place in an array and have not failed.
    pub(super) fn working_devices(&self) -> impl Iterator<Item = &crate::disk::Device> {
        self.arrays
            .iter()
            .flat_map(|array| &array.redundancy.members)
            .filter(|member| !matches!(member.state, MemberState::Missing))
            .map(|member| &self.devices[member.device as usize])
    }

    /// Notes how many arrays are degraded, after that has changed.
    pub(super) fn note_degraded(&mut self) {
        let degraded = self.arrays.iter().filter(|array| !array.redundancy.is_optimal()).count();
        self.measures.degraded.set(self.now, degraded as u64);
    }

    pub(super) fn note_array(&mut self, transition: Transition, array: u16) {
        let name = self.scenario.arrays()[array as usize].name.clone();
        self.timeline.note(self.now, transition, name, 0.0);
    }

    pub(super) fn note_disk(&mut self, transition: Transition, array: u16, disk: u32, value: f64) {
        let name = format!("{}/{disk}", self.scenario.arrays()[array as usize].name);
        self.timeline.note(self.now, transition, name, value);
    }
}
