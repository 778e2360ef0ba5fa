//! What a run tells the oracle of its disk I/Os.

use std::collections::BTreeSet;

use crate::disk::{BlockDevice as _, Io};
use crate::raid::StripPart;
use crate::simulation::Simulation;
use crate::simulation::array_state::{ArrayOperation, Kind, Parent};
use crate::simulation::redundancy::MemberState;
use crate::slab::Link;
use crate::units::{Lba, Sectors};
use crate::write_cache::Extent;

impl Simulation {
    /// A read of an extent begins, of strips that lie on disks.
    pub(in crate::simulation) fn watch_read(&mut self, operation: u32, array: u16, extent: Extent) {
        let oldest = (extent.lba.0, self.oracle.on_media(array, extent.lba.0, extent.sectors.0));
        let layout = self.arrays[array as usize].layout;
        self.oracle.contents.begin_read(operation, array, &layout, oldest);
    }

    /// A read begins, of parts of a stripe, that locks the stripe.
    pub(in crate::simulation) fn watch_locked_read(
        &mut self,
        operation: u32,
        array: u16,
        stripe: u64,
        parts: &[StripPart],
    ) {
        let layout = self.arrays[array as usize].layout;
        let first = layout.stripe_start(stripe).0;
        let oldest = (first, self.oracle.on_media(array, first, layout.stripe_sectors().0));
        self.oracle.contents.begin_locked_read(operation, array, &layout, (stripe, parts), oldest);
    }

    /// A write of `self.extents` is planned.
    pub(in crate::simulation) fn watch_write(&mut self, operation: u32, array: u16, parent: Parent) {
        self.oracle.plan_write(operation, array, parent, &self.extents);
        let versions = self.oracle.carried(operation).to_vec();
        let layout = self.arrays[array as usize].layout;
        self.oracle.contents.begin_write(operation, array, &layout, &self.extents, &versions);
    }

    /// The power is cut, and devices have lost these sectors.
    pub(in crate::simulation) fn watch_cut(&mut self, lost: &[(u32, Lba, Sectors)]) {
        self.oracle.cut_power();
        let mut contents = std::mem::take(&mut self.oracle.contents);
        let under_way = contents.cut_power(
            |array, sector| self.oracle.block(array, sector).media,
            |array, disk| self.arrays[array as usize].redundancy.members[disk as usize].device,
        );
        let fallen = contents.volatile.cut_power(lost, &under_way);
        let rows: BTreeSet<_> = fallen
            .keys()
            .filter(|(device, _)| !self.is_lost(*device))
            .map(|&(device, lba)| {
                let (array, disk) = (self.device_array[device as usize], self.device_disk[device as usize]);
                let layout = &self.arrays[array as usize].layout;
                (array, layout.stripe_on(disk, lba / layout.stripe_unit().0), lba)
            })
            .collect();
        for (array, stripe, lba) in rows {
            let state = &self.arrays[array as usize];
            let (layout, row) = (&state.layout, state.layout.row_of(stripe));
            let serving = |disk: u32| state.redundancy.serving(disk, row);
            let unit = layout.stripe_unit().0;
            let start = layout.stripe_start(stripe).0 + lba % unit;
            let versions = contents.fall_back(layout, (stripe, lba), &fallen, serving);
            for (sector, version) in (start..).step_by(unit as usize).zip(versions) {
                self.oracle.fall_back(array, sector, version);
            }
        }
        self.oracle.settle();
        self.oracle.contents = contents;
    }

    /// A device has done an I/O.
    pub(in crate::simulation) fn watch_io(&mut self, device: u32, io: &Io) {
        let disk = self.device_disk[device as usize];
        if io.sectors == 0 {
            self.oracle.contents.volatile.flush(io.operation, device);
        } else {
            let is_volatile = self.devices[device as usize].is_volatile();
            self.oracle.contents.io_done(io.operation, (device, disk), io, is_volatile);
        }
    }

    /// An operation goes on to the I/Os from `link` on: what they write is computed from what has been read.
    pub(in crate::simulation) fn watch_second_step(&mut self, operation: u32, mut link: Link) {
        let entry = self.operations[operation];
        if !matches!(entry.kind, Kind::Write | Kind::Rebuild) || link == Link::END {
            return;
        }
        let mut writes = Vec::new();
        while let Some(index) = link.get() {
            let planned = &self.planned[index];
            link = planned.next;
            if self.arrays[entry.array as usize].is_as_built || self.direct(&entry, planned).is_some() {
                writes.push((planned.disk, planned.io.lba.0, u64::from(planned.io.sectors)));
            }
        }
        self.oracle.contents.compute(operation, &writes);
    }

    /// An operation of an array as it was built begins with the writes of the stripe write at hand.
    pub(in crate::simulation) fn watch_whole_write(&mut self, operation: u32) {
        let writes: Vec<_> =
            self.stripe_write.writes.iter().map(|io| (io.disk, io.lba.0, io.sectors.0)).collect();
        self.oracle.contents.compute(operation, &writes);
    }

    /// An operation is over.
    pub(in crate::simulation) fn watch_end(&mut self, operation: u32, done: &ArrayOperation) {
        let members = &self.arrays[done.array as usize].redundancy.members;
        let is_lost =
            |device| members.iter().any(|m| m.device == device && matches!(m.state, MemberState::Missing));
        let holding = |disk: u32| members[disk as usize].device;
        let lasts = self.oracle.contents.lasts(operation, holding, is_lost);
        let has_to_last = match done.parent {
            Parent::Destage { .. } | Parent::Rebuild { .. } => true,
            Parent::WriteThrough { request } => self.requests[request].command.is_forced,
            _ => false,
        };
        assert!(
            lasts || !has_to_last,
            "a write for {:?} of array {} is only in a drive's cache",
            done.parent,
            done.array
        );
        self.oracle.contents.end(operation);
        if done.kind == Kind::Write {
            self.oracle.end_write(operation, lasts);
        }
    }

    /// A flush is acknowledged.
    pub(in crate::simulation) fn watch_flush(&mut self, request: u32, array: u16) {
        self.oracle.flush(self.may_hold_dirty());
        let members = &self.arrays[array as usize].redundancy.members;
        self.oracle.contents.volatile.acknowledge_flush(request, |device| {
            members
                .iter()
                .any(|member| member.device == device && !matches!(member.state, MemberState::Missing))
        });
    }

    /// Nothing is dirty or under way: everything is on the disks, or follows from what is.
    pub(in crate::simulation) fn watch_drain(&self) {
        self.oracle.end_drain();
        for (array, sector, media) in self.oracle.media() {
            let state = &self.arrays[array as usize];
            let row = state.layout.row_of(state.layout.stripe_of(crate::units::Lba(sector)));
            let serving = |disk: u32| state.redundancy.serving(disk, row);
            self.oracle.contents.check(array, &state.layout, sector, media, serving);
        }
    }
}
