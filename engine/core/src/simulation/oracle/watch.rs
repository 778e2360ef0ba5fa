//! What a run tells the oracle of its disk I/Os.

use crate::disk::Io;
use crate::raid::StripPart;
use crate::simulation::Simulation;
use crate::simulation::array_state::{ArrayOperation, Kind, Parent};
use crate::slab::Link;
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

    /// The power is cut.
    pub(in crate::simulation) fn watch_cut(&mut self) {
        self.oracle.cut_power();
        let mut contents = std::mem::take(&mut self.oracle.contents);
        contents.cut_power(
            |array, sector| self.oracle.block(array, sector).media,
            |array, disk| self.arrays[array as usize].redundancy.members[disk as usize].device,
        );
        self.oracle.contents = contents;
    }

    /// A device has done an I/O.
    pub(in crate::simulation) fn watch_io(&mut self, device: u32, io: &Io) {
        let disk = self.device_disk[device as usize];
        self.oracle.contents.io_done(io.operation, (device, disk), io);
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

    /// An operation is over.
    pub(in crate::simulation) fn watch_end(&mut self, operation: u32, done: &ArrayOperation) {
        self.oracle.contents.end(operation);
        if done.kind == Kind::Write {
            self.oracle.end_write(operation);
        }
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
