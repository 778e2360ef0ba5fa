//! Rebuild: a new disk takes the place of a failed one and is filled, row by row, from what the others hold.
//!
//! ```text
//!   row:  0 ........... front ........ next ............. rows
//!         done: reads and    under way    not there yet: writes leave
//!         writes go here     (locked)     it out, reads go round it
//! ```
//!
//! `depth` rows are under way at a time, each with its stripe (its pair's part of it, where disks are mirrored) to
//! itself, so that a write finds a row either rebuilt or not. Row n starts no earlier than n units at `rate` after the
//! start, and the rebuild ends no earlier than all of them: an idle array whose disks are fast enough takes capacity /
//! rate. Where requests come first (`yield_to_requests`) a row waits behind them at each disk, up to the disk's age
//! limit, with its stripe locked.

use super::Simulation;
use super::lock_range::LockRange;
use super::operation::{ArrayOperation, Kind, Parent, PlannedIo};
use super::redundancy::{Member, MemberState, Progress};
use super::timeline::Transition;
use crate::disk::{self, Io};
use crate::event::Event;
use crate::mutation::Mutation;
use crate::slab::Link;
use crate::units::{Bandwidth, SECTOR_BYTES, SimDuration};

impl Simulation {
    /// Puts a new disk in the place of the failed `disk` and starts its rebuild.
    pub(super) fn replace_disk(&mut self, array: u16, disk: u32) {
        let index = self.arrays[array as usize].redundancy.devices;
        let (config, run) = (&self.scenario.arrays()[array as usize], &self.scenario.run);
        let Ok(built) = disk::build(config, index..index + 1, run.seed, run.replicate) else {
            unreachable!("a disk like the others can be built")
        };
        let device = self.devices.len() as u32;
        for mut new in built {
            disk::BlockDevice::usage_mut(&mut new).reset(self.now);
            self.devices.push(new);
            self.device_array.push(array);
            self.device_disk.push(disk);
        }
        self.probe.watch(|oracle| oracle.contents.add_blank(device));
        let redundancy = &mut self.arrays[array as usize].redundancy;
        redundancy.devices += 1;
        redundancy.vacant.retain(|&vacant| vacant != disk);
        let state = MemberState::Rebuilding(Progress::new(self.now));
        redundancy.members[disk as usize] = Member { device, state };
        self.note_disk(Transition::RebuildStarted, array, disk, 0.0);
        self.rebuild_on(device);
    }

    /// Starts as many rows of the rebuild onto `device` as may be under way; ends it after the last.
    pub(super) fn rebuild_on(&mut self, device: u32) {
        if self.power.is_off() {
            return;
        }
        let (array, disk) = (self.device_array[device as usize], self.device_disk[device as usize]);
        let now = self.now;
        loop {
            let state = &mut self.arrays[array as usize];
            let (rebuild, layout) = (state.rebuild, state.layout);
            let Some(progress) = state.redundancy.progress(disk, device) else { return };
            let is_last = progress.next == layout.rows();
            if progress.under_way >= if is_last { 1 } else { rebuild.depth } {
                return;
            }
            let (start, row) = progress.paced;
            let units = (progress.next - row) * layout.stripe_unit().0;
            let due = rebuild.rate.map_or(start, |rate| start + time_at(rate, units));
            if due > now {
                if !progress.is_waiting {
                    progress.is_waiting = true;
                    self.events.schedule(due, Event::Rebuild(device));
                }
                return;
            }
            if is_last {
                self.end_rebuild(array, disk);
                return;
            }
            progress.next += 1;
            progress.under_way += 1;
            let row = progress.next - 1;
            self.rebuild_row(array, disk, device, row);
        }
    }

    /// A rebuild has waited for its rate.
    pub(super) fn on_rebuild(&mut self, device: u32) {
        let (array, disk) = (self.device_array[device as usize], self.device_disk[device as usize]);
        let Some(progress) = self.arrays[array as usize].redundancy.progress(disk, device) else { return };
        progress.is_waiting = false;
        self.rebuild_on(device);
    }

    /// The power is back: rebuilds go on where they had come to.
    pub(super) fn resume_rebuilds(&mut self) {
        for device in 0..self.devices.len() as u32 {
            let (array, disk) = (self.device_array[device as usize], self.device_disk[device as usize]);
            if let Some(progress) = self.arrays[array as usize].redundancy.progress(disk, device) {
                progress.start_again(self.now);
                self.rebuild_on(device);
            }
        }
    }

    fn rebuild_row(&mut self, array: u16, disk: u32, device: u32, row: u64) {
        let state = &self.arrays[array as usize];
        let layout = state.layout;
        let stripe = layout.stripe_on(disk, row);
        let unit = layout.stripe_unit();
        let range = if layout.level().parities() > 0 {
            LockRange::whole(stripe)
        } else {
            let start = layout.stripe_start(stripe).0 + u64::from(disk / 2) * unit.0;
            LockRange::part(stripe, start, start + unit.0)
        };
        let range =
            if self.probe.has(Mutation::UnlockedRebuild) { LockRange::part(stripe, 0, 0) } else { range };
        let is_background = state.rebuild.yield_to_requests;
        let operation = self.operations.insert(ArrayOperation {
            range: Some(range),
            ..ArrayOperation::new(array, Kind::Rebuild, Parent::Rebuild { device })
        });
        let io = Io {
            lba: layout.disk_lba(stripe),
            sectors: unit.0 as u32,
            is_write: true,
            is_background,
            is_forced: !self.probe.has(Mutation::UnforcedRebuild),
            operation,
        };
        self.operations[operation].second =
            Link::to(self.planned.insert(PlannedIo { disk, io, next: Link::END }));
        self.probe.watch(|oracle| oracle.contents.begin_rebuild(operation, array, &layout, stripe));
        if self.lock(operation, &range) {
            self.start(operation);
        }
    }

    /// A row of the rebuild onto `device` is written; called while its stripe is still locked.
    pub(super) fn row_rebuilt(&mut self, array: u16, device: u32, lba_row: u64) {
        let disk = self.device_disk[device as usize];
        let state = &mut self.arrays[array as usize];
        let rows = state.layout.rows();
        let unit = state.layout.stripe_unit().0;
        let Some(progress) = state.redundancy.progress(disk, device) else { return };
        progress.finish(lba_row);
        self.measures.counts.rebuilt_sectors += unit;
        let tenths = progress.front * 10 / rows;
        if tenths > progress.tenths && progress.front < rows {
            progress.tenths = tenths;
            let fraction = progress.front as f64 / rows as f64;
            self.note_disk(Transition::RebuildProgress, array, disk, fraction);
        }
    }

    fn end_rebuild(&mut self, array: u16, disk: u32) {
        let redundancy = &mut self.arrays[array as usize].redundancy;
        let member = &mut redundancy.members[disk as usize];
        let MemberState::Rebuilding(progress) = &member.state else { return };
        let took = self.now.since(progress.started);
        member.state = MemberState::Online;
        let is_optimal = redundancy.is_optimal();
        self.measures.rebuild_time = Some(took);
        self.note_disk(Transition::RebuildDone, array, disk, took.as_secs_f64());
        if is_optimal {
            self.note_array(Transition::ArrayOptimal, array);
        }
        self.note_degraded();
    }
}

/// The time that `sectors` take at `rate`, to the nearest nanosecond above.
fn time_at(rate: Bandwidth, sectors: u64) -> SimDuration {
    let bytes = u128::from(sectors) * u128::from(SECTOR_BYTES);
    SimDuration((bytes * 1_000_000_000).div_ceil(u128::from(rate.0)) as u64)
}

impl Simulation {
    /// How far the rebuild has come that is furthest behind, as a share; nothing where there is none.
    pub(super) fn rebuild_progress(&self) -> Option<f64> {
        let share = |rows: u64, member: &Member| match &member.state {
            MemberState::Rebuilding(progress) => Some(progress.front as f64 / rows as f64),
            MemberState::Online | MemberState::Missing => None,
        };
        self.arrays
            .iter()
            .flat_map(|array| array.redundancy.members.iter().filter_map(|m| share(array.layout.rows(), m)))
            .reduce(f64::min)
            .or_else(|| self.measures.rebuild_time.map(|_| 1.0))
    }
}
