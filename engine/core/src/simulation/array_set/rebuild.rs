//! Rebuild: a new disk takes the place of a failed one and is filled, row by row, from what the others hold.
//!
//! ```text
//!   row:  0 ........... front ........ next ............. rows
//!         done: reads and   in progress   not there yet: writes leave
//!         writes go here     (locked)     it out, reads go round it
//! ```
//!
//! `depth` rows are in progress at a time, each with its stripe (its pair's part of it, if disks are mirrored) locked,
//! so that a write finds a row either rebuilt or not. Row n starts no earlier than n units at `rate` after the
//! start, and the rebuild ends no earlier than all of them: an idle array whose disks are fast enough takes capacity /
//! rate. Where requests come first (`yield_to_requests`) a row waits behind them at each disk, up to the disk's age
//! limit, with its stripe locked.

use super::lock_range::LockRange;
use super::mirrors::Load;
use super::operation::{ArrayOperation, Kind, Parent, PlannedIo};
use super::redundancy::{Member, MemberState, Progress};
use super::{ArraySet, Context, Place};
use crate::config::Scenario;
use crate::disk::{self, BlockDevice as _, Io};
use crate::event::Event;
use crate::mutation::Mutation;
use crate::simulation::timeline::Transition;
use crate::slab::Link;
use crate::units::{Bandwidth, SECTOR_BYTES, SimDuration};

impl ArraySet {
    /// Puts a new disk at the place of a failed one; returns the device, whose rebuild can start.
    pub fn replace_disk(&mut self, context: &mut Context, scenario: &Scenario, place: Place) -> u32 {
        let index = self[place.array].redundancy.devices;
        let (config, run) = (&scenario.arrays()[place.array as usize], &scenario.run);
        let back_end = scenario.controller.back_end.as_ref();
        let Ok(built) = disk::build(config, back_end, index..index + 1, run.seed, run.replicate) else {
            unreachable!("a disk like the others can be built")
        };
        let (device, now) = (self.devices.len() as u32, context.now());
        for mut new in built {
            new.usage_mut().reset(now);
            self.devices.push(new);
            self.places.push(place);
            self.loads.push(Load::default());
        }
        context.probe.watch(|oracle| oracle.contents.add_blank(device));
        let redundancy = &mut self[place.array].redundancy;
        redundancy.devices += 1;
        redundancy.vacant.retain(|&vacant| vacant != place.disk);
        let state = MemberState::Rebuilding(Progress::new(now));
        redundancy.members[place.disk as usize] = Member { device, state };
        self.record_disk(context, Transition::RebuildStarted, place, 0.0);
        device
    }

    /// The rebuild onto `device`, if that still holds its place.
    fn progress(&mut self, device: u32) -> Option<&mut Progress> {
        let Place { array, disk } = self.places[device as usize];
        self[array].redundancy.progress(disk, device)
    }

    /// Starts as many rows of the rebuild onto `device` as may be in progress; ends it after the last.
    pub fn continue_rebuild(&mut self, context: &mut Context, device: u32) {
        let place = self.places[device as usize];
        let now = context.now();
        loop {
            let state = &mut self[place.array];
            let (rebuild, layout) = (state.rebuild, state.layout);
            let Some(progress) = state.redundancy.progress(place.disk, device) else { return };
            let is_last = progress.next == layout.rows();
            if progress.in_flight >= if is_last { 1 } else { rebuild.depth } {
                return;
            }
            let (start, row) = progress.paced;
            let units = (progress.next - row) * layout.stripe_unit().0;
            let due = rebuild.rate.map_or(start, |rate| start + time_at(rate, units));
            if due > now {
                if !progress.is_waiting {
                    progress.is_waiting = true;
                    context.schedule(due, Event::Rebuild(device));
                }
                return;
            }
            if is_last {
                self.end_rebuild(context, place);
                return;
            }
            progress.next += 1;
            progress.in_flight += 1;
            let row = progress.next - 1;
            self.rebuild_row(context, place, device, row);
        }
    }

    /// A rebuild has waited for its rate.
    pub fn end_rebuild_wait(&mut self, context: &mut Context, device: u32) {
        if let Some(progress) = self.progress(device) {
            progress.is_waiting = false;
            self.continue_rebuild(context, device);
        }
    }

    /// The power is back: rebuilds continue where they were.
    pub fn resume_rebuilds(&mut self, context: &mut Context) {
        for device in 0..self.devices.len() as u32 {
            if let Some(progress) = self.progress(device) {
                progress.start_again(context.now());
                self.continue_rebuild(context, device);
            }
        }
    }

    fn rebuild_row(&mut self, context: &mut Context, place: Place, device: u32, row: u64) {
        let Place { array, disk } = place;
        let state = &self[array];
        let layout = state.layout;
        let stripe = layout.stripe_on(disk, row);
        let unit = layout.stripe_unit();
        let range = if context.probe.has(Mutation::UnlockedRebuild) {
            LockRange::part(stripe, 0, 0)
        } else if layout.level().parities() > 0 {
            LockRange::whole(stripe)
        } else {
            let start = layout.stripe_start(stripe).0 + u64::from(disk / 2) * unit.0;
            LockRange::part(stripe, start, start + unit.0)
        };
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
            is_forced: !context.probe.has(Mutation::UnforcedRebuild),
            operation,
        };
        self.operations[operation].second =
            Link::to(self.planned.insert(PlannedIo { disk, io, next: Link::END }));
        context.probe.watch(|oracle| oracle.contents.begin_rebuild(operation, array, &layout, stripe));
        if self.lock(context, operation, range) {
            self.start(context, operation);
        }
    }

    /// The row of `stripe` is rebuilt onto `device`; called while the stripe is still locked.
    pub fn end_row(&mut self, context: &mut Context, device: u32, stripe: u64) {
        let place = self.places[device as usize];
        let state = &mut self[place.array];
        let (rows, row) = (state.layout.rows(), state.layout.row_of(stripe));
        let unit = state.layout.stripe_unit().0;
        let Some(progress) = state.redundancy.progress(place.disk, device) else { return };
        progress.finish(row);
        context.measures.counts.rebuilt_sectors += unit;
        let tenths = progress.front * 10 / rows;
        if tenths > progress.tenths && progress.front < rows {
            progress.tenths = tenths;
            let fraction = progress.front as f64 / rows as f64;
            self.record_disk(context, Transition::RebuildProgress, place, fraction);
        }
    }

    fn end_rebuild(&mut self, context: &mut Context, place: Place) {
        let redundancy = &mut self[place.array].redundancy;
        let member = &mut redundancy.members[place.disk as usize];
        let MemberState::Rebuilding(progress) = &member.state else { return };
        let took = context.now().since(progress.started);
        member.state = MemberState::Online;
        let is_optimal = redundancy.is_optimal();
        context.measures.rebuild_time = Some(took);
        self.record_disk(context, Transition::RebuildDone, place, took.as_secs_f64());
        if is_optimal {
            context.record(Transition::ArrayOptimal, &self[place.array].name, 0.0);
        }
        self.record_degraded(context);
    }

    /// Progress of the rebuild that is furthest behind, as a fraction; `None` if there is none.
    pub fn rebuild_progress(&self) -> Option<f64> {
        let fraction = |rows: u64, member: &Member| match &member.state {
            MemberState::Rebuilding(progress) => Some(progress.front as f64 / rows as f64),
            MemberState::Online | MemberState::Missing => None,
        };
        self.iter()
            .flat_map(|array| {
                array.redundancy.members.iter().filter_map(|m| fraction(array.layout.rows(), m))
            })
            .reduce(f64::min)
    }
}

/// The time that `sectors` take at `rate`, rounded up to a nanosecond.
fn time_at(rate: Bandwidth, sectors: u64) -> SimDuration {
    let bytes = u128::from(sectors) * u128::from(SECTOR_BYTES);
    SimDuration((bytes * 1_000_000_000).div_ceil(u128::from(rate.0)) as u64)
}
