//! Array operations: from a stripe's or an extent's disk I/Os to the moment when all of them are done.

use super::Simulation;
use super::array_state::{ArrayOperation, Parent, PlannedIo};
use super::stripe_lock::WriteRange;
use super::stripe_write::DiskIo;
use crate::disk::{Agenda, BlockDevice as _, Io};
use crate::event::Event;
use crate::raid::Update;
use crate::slab::Link;
use crate::units::{Lba, SimDuration};
use crate::write_cache::Extent;

impl Simulation {
    /// Reads an extent of an array.
    pub(super) fn read_array(&mut self, array: u16, extent: Extent, parent: Parent) {
        let operation = self.operations.insert(ArrayOperation {
            array,
            parent,
            pending: 0,
            first: Link::END,
            second: Link::END,
            parity_time: SimDuration::ZERO,
            range: None,
            next: Link::END,
        });
        let state = &self.arrays[array as usize];
        let (layout, first_device) = (state.layout, state.first_device);
        for piece in layout.pieces(extent.lba, extent.sectors) {
            let strip = piece.strip;
            let disk = match layout.mirror(strip.disk) {
                Some(mirror) => self.better_mirror(first_device, strip.disk, mirror, strip.disk_lba),
                None => strip.disk,
            };
            self.operations[operation].pending += 1;
            let io = Io {
                lba: strip.disk_lba,
                sectors: piece.sectors.0 as u32,
                is_write: false,
                is_background: false,
                is_forced: false,
                operation,
            };
            self.submit(first_device + disk, io);
        }
    }

    /// Of two mirrors the one with the shorter queue; of equals the one whose arm is nearer.
    fn better_mirror(&self, first_device: u32, one: u32, other: u32, lba: Lba) -> u32 {
        let rank = |disk: u32| {
            let device = &self.devices[(first_device + disk) as usize];
            (device.usage().in_system(), device.distance(lba))
        };
        if rank(other) < rank(one) { other } else { one }
    }

    /// Writes `self.extents`, which lie within `stripe`, once no other write to the same sectors, or the same parity,
    /// is under way.
    pub(super) fn write_stripe(&mut self, array: u16, stripe: u64, parent: Parent) -> Option<Update> {
        let state = &self.arrays[array as usize];
        let update = self.stripe_write.plan(&state.layout, state.parity_update, stripe, &self.extents);
        let first_device = state.first_device;
        let is_background = matches!(parent, Parent::Destage { .. });
        let range = WriteRange::of(&state.layout, stripe, &self.extents);
        let operation = self.operations.insert(ArrayOperation {
            array,
            parent,
            pending: 0,
            first: Link::END,
            second: Link::END,
            parity_time: SimDuration::ZERO,
            range: Some(range),
            next: Link::END,
        });
        let planned = &mut self.planned;
        let mut chain = |ios: &[DiskIo], is_write: bool| {
            // Linked from the back, so that they are issued in order.
            ios.iter().rev().fold(Link::END, |next, io| {
                Link::to(planned.insert(PlannedIo {
                    device: first_device + io.disk,
                    io: Io {
                        lba: io.lba,
                        sectors: io.sectors.0 as u32,
                        is_write,
                        is_background,
                        is_forced: false,
                        operation,
                    },
                    next,
                }))
            })
        };
        let parity_time = self
            .xor_bandwidth
            .map_or(SimDuration::ZERO, |rate| rate.time_for(self.stripe_write.parity_input().bytes()));
        let first = chain(&self.stripe_write.reads, false);
        let second = chain(&self.stripe_write.writes, true);
        let entry = &mut self.operations[operation];
        (entry.first, entry.second, entry.parity_time) = (first, second, parity_time);
        #[cfg(debug_assertions)]
        self.oracle.plan_write(operation, array, parent, &self.extents);
        if self.lock(operation, &range) {
            self.start_write(operation);
        }
        update
    }

    /// Starts a write that has its range to itself.
    pub(super) fn start_write(&mut self, operation: u32) {
        #[cfg(debug_assertions)]
        self.oracle.begin_write(operation);
        self.issue_step(operation);
    }

    /// Issues the I/Os of the next step of an operation, once the XOR engine has its parity; gives whether there are any.
    fn issue_step(&mut self, operation: u32) -> bool {
        let entry = &mut self.operations[operation];
        let mut link = std::mem::replace(&mut entry.first, Link::END);
        if link == Link::END {
            let parity = std::mem::replace(&mut entry.parity_time, SimDuration::ZERO);
            if parity > SimDuration::ZERO {
                let done = self.xor.claim(self.now, parity);
                self.events.schedule(done, Event::Parity(operation));
                return true;
            }
            link = std::mem::replace(&mut entry.second, Link::END);
        }
        let any = link != Link::END;
        while let Some(index) = link.get() {
            let planned = self.planned.remove(index);
            link = planned.next;
            self.operations[operation].pending += 1;
            self.submit(planned.device, planned.io);
        }
        any
    }

    /// The XOR engine has the parity of an operation: its writes can go.
    pub(super) fn on_parity(&mut self, operation: u32) {
        self.issue_step(operation);
    }

    /// A device acts on one of its slots.
    pub(super) fn on_device(&mut self, device: u32, slot: u32) {
        let yields = self.write_back.as_ref().is_some_and(|back| back.yields);
        let mut agenda = Agenda::new(&mut self.events, device);
        if let Some(io) = self.devices[device as usize].act(self.now, slot, yields, &mut agenda) {
            self.leave_device(device, io);
        }
    }

    /// An I/O of an array operation is done.
    #[inline]
    pub(super) fn io_done(&mut self, io: Io) {
        if self.watches_idleness && !io.is_background {
            self.foreground_done(io.operation);
        }
        let entry = &mut self.operations[io.operation];
        entry.pending -= 1;
        if entry.pending == 0 && !self.issue_step(io.operation) {
            self.operation_done(io.operation);
        }
    }

    fn operation_done(&mut self, operation: u32) {
        let done = self.operations.remove(operation);
        let is_write = done.range.is_some();
        if let Some(range) = done.range {
            #[cfg(debug_assertions)]
            self.oracle.end_write(operation);
            self.unlock(operation, &done, &range);
        }
        match done.parent {
            Parent::Read { request } => self.part_done(request),
            Parent::Fetch { fetch } => self.fetch_done(fetch),
            Parent::WriteThrough { request } => {
                let command = self.requests[request].command;
                // A fetch that began before the data were on the disks may bring the old ones.
                self.invalidate(done.array, command.lba.0, command.sectors.0);
                self.supersede(request, &done);
                self.part_done(request);
                // A destage may have passed over the stripe that this write held.
                self.destage_if_due();
            }
            Parent::Destage { lines } => self.destage_done(done.array, lines),
        }
        if is_write {
            self.retry_held();
        }
    }
}
