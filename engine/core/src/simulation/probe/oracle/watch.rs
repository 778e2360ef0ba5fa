//! Reports of a run's array operations and disk I/Os to the oracle.

use std::collections::BTreeSet;

use super::Oracle;
use crate::disk::{BlockDevice, Device, Io};
use crate::raid::{Layout, StripPart};
use crate::simulation::array_set::array_state::{ArrayState, Place};
use crate::simulation::array_set::operation::{ArrayOperation, Kind, Parent};
use crate::simulation::array_set::redundancy::{Member, MemberState};
use crate::simulation::request::Request;
use crate::slab::Slab;
use crate::units::{Lba, Sectors};
use crate::workload::Op;
use crate::write_cache::Extent;

impl Oracle {
    /// An operation begins to read the strips of an extent.
    pub fn begin_read(&mut self, operation: u32, array: u16, layout: &Layout, extent: Extent) {
        let oldest = (extent.lba.0, self.on_media(array, extent.lba.0, extent.sectors.0));
        self.contents.begin_read(operation, array, layout, oldest);
    }

    /// An operation begins to read parts of a stripe, which it locks.
    pub fn begin_locked_read(
        &mut self,
        operation: u32,
        array: u16,
        layout: &Layout,
        stripe: u64,
        parts: &[StripPart],
    ) {
        let first = layout.stripe_start(stripe).0;
        let oldest = (first, self.on_media(array, first, layout.stripe_sectors().0));
        self.contents.begin_locked_read(operation, array, layout, (stripe, parts), oldest);
    }

    /// An array write of `extents` is planned.
    pub fn plan_array_write(
        &mut self,
        operation: u32,
        array: u16,
        layout: &Layout,
        parent: Parent,
        extents: &[Extent],
    ) {
        self.plan_write(operation, array, parent, extents);
        let versions = self.carried(operation).to_vec();
        self.contents.begin_write(operation, array, layout, extents, &versions);
    }

    /// The power is cut, and devices at these places have lost the sectors `lost`.
    pub fn cut_run(&mut self, arrays: &[ArrayState], places: &[Place], lost: &[(u32, Lba, Sectors)]) {
        self.cut_power();
        let mut contents = std::mem::take(&mut self.contents);
        let under_way = contents.cut_power(
            |array, sector| self.block(array, sector).media,
            |array, disk| arrays[array as usize].redundancy.members[disk as usize].device,
        );
        let fallen = contents.volatile.cut_power(lost, &under_way);
        let rows: BTreeSet<_> = fallen
            .keys()
            .filter_map(|&(device, lba)| {
                let Place { array, disk } = places[device as usize];
                let ArrayState { layout, redundancy, .. } = &arrays[array as usize];
                let stripe = layout.stripe_on(disk, lba / layout.stripe_unit().0);
                (!redundancy.has_lost(disk, device)).then_some((array, stripe, lba))
            })
            .collect();
        for (array, stripe, lba) in rows {
            let state = &arrays[array as usize];
            let (layout, row) = (&state.layout, state.layout.row_of(stripe));
            let serving = |disk: u32| state.redundancy.serving(disk, row);
            let unit = layout.stripe_unit().0;
            let start = layout.stripe_start(stripe).0 + lba % unit;
            let versions = contents.fall_back(layout, (stripe, lba), &fallen, serving);
            for (sector, version) in (start..).step_by(unit as usize).zip(versions) {
                self.fall_back(array, sector, version);
            }
        }
        self.settle();
        self.contents = contents;
    }

    /// A device, at `place` (device, disk) and with a volatile cache or not, has done an I/O of these parts, which cover
    /// it without a gap.
    pub fn end_merged(
        &mut self,
        place: (u32, u32),
        io: &Io,
        parts: impl Iterator<Item = Io>,
        is_volatile: bool,
    ) {
        let mut next = io.lba;
        let mut count = 0;
        for part in parts {
            let is_alike = part.is_write == io.is_write && part.is_forced == io.is_forced;
            assert!(part.lba == next && is_alike, "{part:?} of {io:?}");
            next = next + Sectors(u64::from(part.sectors));
            count += 1;
            self.end_io(place, &part, is_volatile);
        }
        self.merged += u64::from(count > 1);
        assert_eq!(
            next,
            io.lba + Sectors(u64::from(io.sectors)),
            "the parts of a merged I/O are not all of it"
        );
    }

    /// A device, at `place` (device, disk) and with a volatile cache or not, has done an I/O.
    fn end_io(&mut self, place: (u32, u32), io: &Io, is_volatile: bool) {
        if io.sectors == 0 {
            self.contents.volatile.flush(io.operation, place.0);
        } else {
            self.contents.io_done(io.operation, place, io, is_volatile);
        }
    }

    /// An operation of an array with these members has ended; destages are forced to the media or not.
    pub fn end_operation(
        &mut self,
        operation: u32,
        done: &ArrayOperation,
        (members, forces_destages): (&[Member], bool),
        requests: &Slab<Request>,
    ) {
        let is_lost =
            |device| members.iter().any(|m| m.device == device && matches!(m.state, MemberState::Missing));
        let holding = |disk: u32| members[disk as usize].device;
        let lasts = self.contents.lasts(operation, holding, is_lost);
        let has_to_last = match done.parent {
            Parent::Destage { .. } => forces_destages,
            Parent::Rebuild { .. } => true,
            Parent::WriteThrough { request } => requests[request].command.is_forced,
            _ => false,
        };
        assert!(
            lasts || !has_to_last,
            "a write for {:?} of array {} is only in a drive's cache",
            done.parent,
            done.array
        );
        self.contents.end(operation);
        if done.kind == Kind::Write {
            self.end_write(operation, lasts);
        }
    }

    /// A request is acknowledged, on an array with these members.
    pub fn complete(&mut self, request: u32, done: &Request, may_hold_dirty: bool, members: &[Member]) {
        let command = &done.command;
        match command.operation {
            Op::Write => {
                self.acknowledge(request, done.array, command.lba, command.sectors, may_hold_dirty);
            }
            Op::Flush => {
                self.flush(may_hold_dirty);
                self.contents.volatile.acknowledge_flush(request, |device| {
                    members.iter().any(|m| m.device == device && !matches!(m.state, MemberState::Missing))
                });
            }
            Op::Read => {}
        }
    }

    /// The run has ended; after a drain everything is on the disks.
    pub fn end_run(&self, is_drained: bool, arrays: &[ArrayState], devices: &[Device]) {
        if is_drained {
            self.check_drained(arrays);
        }
        devices.iter().for_each(BlockDevice::check);
    }

    /// Nothing is dirty or in progress: everything is on the disks, or can be decoded from them.
    pub fn check_drained(&self, arrays: &[ArrayState]) {
        self.end_drain();
        for (array, sector, media) in self.media() {
            let state = &arrays[array as usize];
            let row = state.layout.row_of(state.layout.stripe_of(Lba(sector)));
            let serving = |disk: u32| state.redundancy.serving(disk, row);
            self.contents.check(array, &state.layout, sector, media, serving);
        }
    }
}
