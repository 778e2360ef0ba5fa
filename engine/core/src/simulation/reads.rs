//! The flow of a read: from the caches, from data on its way there, or from the disks.

use super::Simulation;
use super::array_set::Parent;
use super::request::{Request, Service};
use crate::write_cache::Extent;

impl Simulation {
    /// A read has reached the caches.
    pub(super) fn read(&mut self, request: u32) {
        let Self { context, front_end, write_back, reads, arrays, .. } = self;
        if write_back.is_none() && reads.cache.is_none() {
            let Request { array, command, .. } = front_end.requests[request];
            let (lba, sectors) = (command.lba, command.sectors);
            context.probe.watch(|oracle| oracle.read_media(array, lba.0, lba.0 + sectors.0));
            arrays.read(context, array, Extent { lba, sectors }, Parent::Read { request });
            let entry = &mut front_end.requests[request];
            (entry.service, entry.pending) = (Service::MissRandom, 1);
            return;
        }
        reads.read(context, arrays, write_back.as_ref(), &mut front_end.requests, request);
        self.part_done(request);
    }

    /// A fetch has read its lines.
    pub(super) fn fetch_done(&mut self, fetch: u32) {
        let (mut waiters, sequence) = self.reads.end_fetch(&mut self.context, fetch);
        while let Some(request) = self.reads.next_waiter(&mut waiters) {
            self.part_done(request);
        }
        if let Some(sequence) = sequence {
            let Self { context, write_back, reads, arrays, .. } = self;
            reads.top_up(context, arrays, write_back.as_ref(), sequence);
        }
    }
}
