//! The flow of disk I/Os back up: from a device to its array operation, and to what that operation is for.

use super::Simulation;
use super::array_set::{Crossed, Parent, list_of};
use super::write_back::WriteBack;
use crate::disk::Io;
use crate::slab::Link;

impl Simulation {
    /// A device acts on one of its slots.
    pub(super) fn on_device(&mut self, device: u32, slot: u32) {
        let yields = self.write_back.as_ref().is_none_or(WriteBack::yields);
        if let Some(served) = self.arrays.act(&mut self.context, device, slot, yields)
            && !self.arrays.carry_back(&mut self.context, device, served)
        {
            self.end_io(served.io);
        }
    }

    /// A write's turn on its channel has come, or the data of an I/O that its device has served has crossed it.
    pub(super) fn on_channel(&mut self, crossing: u32) {
        match self.arrays.end_crossing(&mut self.context, crossing) {
            None => {}
            Some(Crossed::Served(io)) => self.end_io(io),
            Some(Crossed::Lost { device, io }) => self.lose_io(device, io),
        }
    }

    #[inline]
    fn end_io(&mut self, io: Io) {
        if let Some(parts) = list_of(io.operation) {
            self.end_merged(parts);
            return;
        }
        if self.arrays.end_io(&mut self.context, io) {
            self.go_on(io.operation);
        }
    }

    /// All parts of a merged I/O have ended: what they lead to is adjacent again.
    #[inline(never)]
    fn end_merged(&mut self, mut parts: Link) {
        let gathers = self.arrays.gather();
        while let Some(part) = self.arrays.next_part(&mut parts) {
            self.end_io(part);
        }
        if gathers {
            self.arrays.send_gathered(&mut self.context);
        }
    }

    /// The XOR engine has computed the parity of one or several operations.
    pub(super) fn on_parity(&mut self, operations: u32) {
        let Some(mut operations) = list_of(operations) else {
            self.go_on(operations);
            return;
        };
        let gathers = self.arrays.gather();
        while let Some(operation) = self.arrays.next_of_parity(&mut operations) {
            self.go_on(operation);
        }
        if gathers {
            self.arrays.send_gathered(&mut self.context);
        }
    }

    /// A disk has failed with `io` on it.
    pub(super) fn lose_io(&mut self, device: u32, io: Io) {
        if let Some(mut parts) = list_of(io.operation) {
            while let Some(part) = self.arrays.next_part(&mut parts) {
                self.lose_io(device, part);
            }
            return;
        }
        if self.arrays.lose_io(&mut self.context, device, io) {
            self.go_on(io.operation);
        }
    }

    /// A step of an operation is complete: it goes on, or ends.
    #[inline]
    pub(super) fn go_on(&mut self, operation: u32) {
        if self.arrays.go_on(&mut self.context, operation) {
            self.end_operation(operation);
        }
    }

    /// An array operation has ended: its parent continues.
    fn end_operation(&mut self, operation: u32) {
        let done = self.arrays.remove(operation);
        self.context.probe.watch(|oracle| {
            let members = &self.arrays[done.array].redundancy.members;
            let forces_destages = self.write_back.as_ref().is_none_or(|back| back.forces_destages);
            oracle.end_operation(operation, &done, (members, forces_destages), &self.front_end.requests);
        });
        if let Some(range) = done.range {
            if let Parent::Rebuild { device } = done.parent {
                self.arrays.end_row(&mut self.context, device, range.stripe);
            }
            self.arrays.unlock(&mut self.context, operation, &done, range);
        }
        match done.parent {
            Parent::Read { request } => self.part_done(request),
            Parent::Flush { request } => self.devices_flushed(request),
            Parent::Fetch { fetch } => self.fetch_done(fetch),
            Parent::WriteThrough { request } => {
                // A fetch that began before the data was on the disks may return the old data.
                self.invalidate(request);
                if let Some(range) = done.range {
                    self.supersede(request, (done.array, range.stripe));
                }
                self.part_done(request);
                // A destage may have skipped the stripe that this write held.
                self.destage_if_due();
            }
            Parent::Destage { lines, run } => self.destage_done(done.array, lines, run),
            Parent::Part { operation } => {
                if self.arrays.end_part(operation) {
                    self.go_on(operation);
                }
                self.destage_if_due();
            }
            Parent::Rebuild { device } => {
                self.destage_if_due();
                self.continue_rebuild(device);
            }
        }
        if done.range.is_some() {
            self.retry_held();
        }
    }
}
