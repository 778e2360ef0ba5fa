//! The event queue: what happens next, in total order of (time, sequence).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::units::SimTime;

/// Something that happens at a moment of simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A source of the workload acts: a think time, a gap or a hold is over.
    Source(u32),
    /// The firmware has processed the command of a request.
    Firmware(u32),
    /// The link has moved the data of a request.
    Link(u32),
    /// A device acts on one of its slots: an I/O in service there is done, say.
    Device {
        /// Index of the device.
        device: u32,
        /// Slot of the device.
        slot: u32,
    },
    /// The battery changes by itself; one of an earlier generation is stale.
    Battery(u32),
    /// The mains are back.
    MainsBack,
    /// A write's turn on a back-end channel has come, or a read's data have crossed it.
    Channel(u32),
    /// The XOR engine has the parity of an array operation.
    Parity(u32),
    /// The second copy of a request's data is confirmed.
    Mirror(u32),
    /// A dirty stripe of an array comes of age.
    AgeLimit(u16),
    /// An array's disks may have been idle for long enough.
    Idle(u16),
    /// The rebuild onto a device has waited for its rate.
    Rebuild(u32),
    /// A scripted fault happens.
    Fault(u32),
    /// The timed warm-up or the timed window is over.
    Clock,
    /// A phase of the workload begins; the last one ends where the index is beyond it.
    Phase(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    time: SimTime,
    sequence: u64,
    event: Event,
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives its greatest entry: the earliest must be the greatest.
        (other.time, other.sequence).cmp(&(self.time, self.sequence))
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A queue of events; those of the same moment leave in the order in which they were scheduled.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Entry>,
    sequence: u64,
}

impl EventQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self { heap: BinaryHeap::with_capacity(1024), sequence: 0 }
    }

    /// Schedules `event` at `time`.
    #[inline]
    pub fn schedule(&mut self, time: SimTime, event: Event) {
        self.sequence += 1;
        self.heap.push(Entry { time, sequence: self.sequence, event });
    }

    /// Whether nothing is scheduled.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Forgets all events but those for which `stays` is true; their order stays.
    pub fn retain(&mut self, stays: impl Fn(Event) -> bool) {
        self.heap.retain(|entry| stays(entry.event));
    }

    /// Takes out the next event.
    #[inline]
    pub fn next(&mut self) -> Option<(SimTime, Event)> {
        self.heap.pop().map(|entry| (entry.time, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_leave_by_time_then_in_order_of_scheduling() {
        let mut queue = EventQueue::new();
        for (time, source) in [(5, 0), (3, 1), (5, 2), (3, 3), (4, 4)] {
            queue.schedule(SimTime(time), Event::Source(source));
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.next()).collect();
        let expected = [(3, 1), (3, 3), (4, 4), (5, 0), (5, 2)];
        assert_eq!(order, expected.map(|(time, source)| (SimTime(time), Event::Source(source))));
        assert!(queue.next().is_none());
    }

    #[test]
    fn events_that_stay_keep_their_order() {
        let mut queue = EventQueue::new();
        for (time, event) in
            [(5, Event::Source(0)), (5, Event::Clock), (3, Event::Fault(1)), (5, Event::Fault(2))]
        {
            queue.schedule(SimTime(time), event);
        }
        queue.retain(|event| !matches!(event, Event::Source(_)));
        let order: Vec<_> = std::iter::from_fn(|| queue.next()).map(|(_, event)| event).collect();
        assert_eq!(order, [Event::Fault(1), Event::Clock, Event::Fault(2)]);
        assert!(queue.is_empty());
    }
}
