//! Writes that need more lines than are free: they wait, or go around the cache.

use super::WriteBack;
use crate::config::WhenFull;
use crate::simulation::context::Context;
use crate::simulation::request::Request;
use crate::slab::{LinkedQueue, Slab};
use crate::workload::Command;
use crate::write_cache::Extent;

impl WriteBack {
    /// Whether a write waits for a free line.
    pub fn is_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }

    /// Whether writes need lines faster than destages free them.
    pub(super) fn is_pressed(&self) -> bool {
        self.is_short || self.is_stalled()
    }

    /// Whether a write goes to the disks because it would have to wait for a free line.
    #[inline]
    pub fn turns_away(&mut self, request: &Request) -> bool {
        let Command { lba, sectors, .. } = request.command;
        let is_turned_away = self.when_full == WhenFull::WriteThrough
            && !self.cache.has_room(request.array, Extent { lba, sectors });
        self.is_short |= is_turned_away;
        is_turned_away
    }

    /// Has a write wait for a free line.
    pub fn stall(&mut self, context: &mut Context, requests: &mut Slab<Request>, request: u32) {
        context.measures.counts.stalls += 1;
        requests[request].stalled_since = context.now();
        self.stalled.push(requests, request, |entry| &mut entry.next);
    }

    /// The first write that waits for a free line.
    #[inline]
    pub const fn first_stalled(&self) -> Option<u32> {
        self.stalled.first()
    }

    /// Ends the wait of the first stalled write.
    pub fn end_stall(&mut self, context: &mut Context, requests: &mut Slab<Request>) {
        if let Some(request) = self.stalled.pop(requests, |entry| &mut entry.next) {
            context.measures.end_stall(context.events.now(), &requests[request]);
        }
    }

    /// The writes that wait for a free line; none waits any more.
    pub fn take_stalled(&mut self) -> LinkedQueue {
        std::mem::take(&mut self.stalled)
    }
}
