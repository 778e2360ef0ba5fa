//! The event queue, in total order of (time, sequence).

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::units::SimTime;

/// An event of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A source of the workload acts: a think time, gap or hold ended.
    Source(u32),
    /// The firmware processed the command of a request.
    Firmware(u32),
    /// The link transferred the data of a request.
    Link(u32),
    /// A device acts on one of its slots, such as an I/O in service.
    Device {
        /// Index of the device.
        device: u32,
        /// Slot of the device.
        slot: u32,
    },
    /// The battery changes its state; events of earlier generations are stale.
    Battery(u32),
    /// The mains return.
    MainsBack,
    /// A write starts on a back-end channel, or a read's data crossed it.
    Channel(u32),
    /// The XOR engine computed the parity of an array operation.
    Parity(u32),
    /// The mirror copy of a request's data is confirmed.
    Mirror(u32),
    /// A dirty stripe of an array reaches its age limit.
    AgeLimit(u16),
    /// The disks of an array may be idle.
    Idle(u16),
    /// The rebuild onto a device continues after a pause for its rate.
    Rebuild(u32),
    /// A fault of the configuration occurs.
    Fault(u32),
    /// An interaction may have completed its processor time.
    Processor(u32),
    /// The timed warm-up or window ends.
    Clock,
    /// A phase of the workload starts; an index beyond the last phase is its end.
    Phase(u32),
}

/// An event in two words. Data written in smaller parts and read soon as a word wait until they are in memory (failed
/// store forwarding), and the run waits for the next event only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    kind: u64,
    operand: u64,
}

/// Bits of an entry's order for the kind of its event.
const KIND_BITS: u32 = 4;

impl Packed {
    #[inline]
    const fn new(event: Event) -> Self {
        let (kind, operand) = match event {
            Event::Source(source) => (0, source as u64),
            Event::Firmware(request) => (1, request as u64),
            Event::Link(request) => (2, request as u64),
            Event::Device { device, slot } => (3, (slot as u64) << 32 | device as u64),
            Event::Battery(generation) => (4, generation as u64),
            Event::MainsBack => (5, 0),
            Event::Channel(crossing) => (6, crossing as u64),
            Event::Parity(operation) => (7, operation as u64),
            Event::Mirror(request) => (8, request as u64),
            Event::AgeLimit(array) => (9, array as u64),
            Event::Idle(array) => (10, array as u64),
            Event::Rebuild(device) => (11, device as u64),
            Event::Fault(index) => (12, index as u64),
            Event::Clock => (13, 0),
            Event::Phase(index) => (14, index as u64),
            Event::Processor(which) => (15, which as u64),
        };
        Self { kind, operand }
    }

    /// The event. Unpacking is free if it is matched immediately.
    #[inline]
    pub const fn event(self) -> Event {
        let operand = self.operand as u32;
        match self.kind {
            0 => Event::Source(operand),
            1 => Event::Firmware(operand),
            2 => Event::Link(operand),
            3 => Event::Device { device: operand, slot: (self.operand >> 32) as u32 },
            4 => Event::Battery(operand),
            5 => Event::MainsBack,
            6 => Event::Channel(operand),
            7 => Event::Parity(operand),
            8 => Event::Mirror(operand),
            9 => Event::AgeLimit(operand as u16),
            10 => Event::Idle(operand as u16),
            11 => Event::Rebuild(operand),
            12 => Event::Fault(operand),
            13 => Event::Clock,
            14 => Event::Phase(operand),
            _ => Event::Processor(operand),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    time: SimTime,
    /// Sequence number of scheduling, and the kind of the event.
    order: u64,
    operand: u64,
}

impl Entry {
    #[inline]
    const fn packed(self) -> Packed {
        Packed { kind: self.order & ((1 << KIND_BITS) - 1), operand: self.operand }
    }
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap returns its greatest entry, so the earliest is the greatest.
        (other.time, other.order).cmp(&(self.time, self.order))
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Later than all events.
const NEVER: SimTime = SimTime(u64::MAX);
/// Number of events that are kept sorted; more are in the heap.
const NEAR: usize = 16;

/// A queue of events; events of the same time leave in order of scheduling.
///
/// ```text
///   immediate   of the current time: first in, first out, after those scheduled for it before
///   near        few, sorted, the next one last: a run of a few disks never has more
///   far         the rest, a heap; all of it comes after all that is near
/// ```
#[derive(Debug)]
pub struct EventQueue {
    /// The time of the last event removed.
    now: SimTime,
    immediate: VecDeque<Packed>,
    near: [Entry; NEAR],
    near_count: usize,
    far: BinaryHeap<Entry>,
    /// Time of the first far event, or later than any if there is none.
    first_far: SimTime,
    sequence: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl EventQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            now: SimTime::ZERO,
            immediate: VecDeque::with_capacity(NEAR),
            near: [Entry { time: NEVER, order: 0, operand: 0 }; NEAR],
            near_count: 0,
            far: BinaryHeap::new(),
            first_far: NEVER,
            sequence: 0,
        }
    }

    /// The moment of the latest event that was taken out; zero before the first.
    #[inline]
    pub const fn now(&self) -> SimTime {
        self.now
    }

    /// Schedules `event` at `time`.
    #[expect(
        clippy::inline_always,
        reason = "each caller knows the kind of its event, so that packing it is free"
    )]
    #[inline(always)]
    pub fn schedule(&mut self, time: SimTime, event: Event) {
        let Packed { kind, operand } = Packed::new(event);
        self.schedule_packed(time, kind, operand);
    }

    // Not inlined, so that the loop of a run stays small. It calls nothing but at its end, so that no register is saved.
    #[inline(never)]
    fn schedule_packed(&mut self, time: SimTime, kind: u64, operand: u64) {
        if time == self.now {
            return self.schedule_immediate(kind, operand);
        }
        self.sequence += 1;
        let order = self.sequence << KIND_BITS | kind;
        if self.near_count == NEAR || time >= self.first_far {
            return self.schedule_among_many(time, order, operand);
        }
        self.insert_near(Entry { time, order, operand });
    }

    #[inline(never)]
    fn schedule_immediate(&mut self, kind: u64, operand: u64) {
        self.immediate.push_back(Packed { kind, operand });
    }

    /// Precondition: there is room, and `entry`, the last one scheduled, is before all far events.
    #[inline]
    fn insert_near(&mut self, entry: Entry) {
        let mut place = self.near_count;
        self.near_count += 1;
        // Events of the same time were scheduled before it.
        while place > 0 && self.near[place - 1].time <= entry.time {
            self.near[place] = self.near[place - 1];
            place -= 1;
        }
        self.near[place] = entry;
    }

    #[inline(never)]
    fn schedule_among_many(&mut self, time: SimTime, order: u64, operand: u64) {
        let entry = Entry { time, order, operand };
        if time < self.first_far {
            // Moves half, so that this is rare.
            self.far.extend(&self.near[..NEAR / 2]);
            self.near.copy_within(NEAR / 2.., 0);
            self.near_count = NEAR / 2;
            self.note_first_far();
        }
        if time < self.first_far {
            self.insert_near(entry);
        } else {
            self.far.push(entry);
        }
    }

    fn note_first_far(&mut self) {
        self.first_far = self.far.peek().map_or(NEVER, |first| first.time);
    }

    /// Whether nothing is scheduled.
    pub fn is_empty(&self) -> bool {
        self.immediate.is_empty() && self.near_count == 0 && self.far.is_empty()
    }

    /// Removes all events except those for which `stays` is true; their order stays.
    pub fn retain(&mut self, stays: impl Fn(Event) -> bool) {
        self.immediate.retain(|&event| stays(event.event()));
        let mut kept = 0;
        for at in 0..self.near_count {
            if stays(self.near[at].packed().event()) {
                self.near[kept] = self.near[at];
                kept += 1;
            }
        }
        self.near_count = kept;
        self.far.retain(|entry| stays(entry.packed().event()));
        self.note_first_far();
    }

    /// Removes and returns the next event.
    pub fn next(&mut self) -> Option<(SimTime, Event)> {
        self.next_packed().map(|(time, packed)| (time, packed.event()))
    }

    /// Removes and returns the next event, packed.
    #[inline]
    pub fn next_packed(&mut self) -> Option<(SimTime, Packed)> {
        if self.near_count == 0 {
            self.refill();
        }
        let first = self.near[..self.near_count].last().copied();
        if first.is_none_or(|first| first.time > self.now)
            && let Some(event) = self.immediate.pop_front()
        {
            return Some((self.now, event));
        }
        let entry = first?;
        self.near_count -= 1;
        self.now = self.now.max(entry.time);
        Some((entry.time, entry.packed()))
    }

    /// Moves the next far events into the empty `near`: otherwise new ones would come after the first far one, and most
    /// events of a run with many sources would pass through the heap.
    #[cold]
    fn refill(&mut self) {
        for place in &mut self.near[..NEAR / 2] {
            let Some(entry) = self.far.pop() else { break };
            *place = entry;
            self.near_count += 1;
        }
        self.near[..self.near_count].reverse();
        self.note_first_far();
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_survive_packing() {
        let most = u32::MAX;
        let all = [
            Event::Source(most),
            Event::Firmware(most - 1),
            Event::Link(most - 2),
            Event::Device { device: most - 3, slot: most - 4 },
            Event::Battery(most - 5),
            Event::MainsBack,
            Event::Channel(most - 6),
            Event::Parity(most - 7),
            Event::Mirror(most - 8),
            Event::AgeLimit(u16::MAX),
            Event::Idle(u16::MAX - 1),
            Event::Rebuild(most - 9),
            Event::Fault(most - 10),
            Event::Clock,
            Event::Phase(most - 11),
        ];
        for (kind, event) in (0..).zip(all) {
            let packed = Packed::new(event);
            assert_eq!((packed.kind, packed.event()), (kind, event));
            assert!(kind < 1 << KIND_BITS);
        }
    }

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

    proptest! {
        /// Many events at few times, some for the current time, against a list that is searched.
        #[test]
        fn events_leave_in_total_order(steps in vec((0_u64..12, 0_u32..5), 1..400)) {
            let (mut queue, mut list) = (EventQueue::new(), Vec::new());
            let (mut now, mut count) = (0, 0);
            for (delay, taken) in steps {
                list.push((now + delay / 3, count));
                queue.schedule(SimTime(now + delay / 3), Event::Source(count));
                count += 1;
                for _ in 0..taken.saturating_sub(2) {
                    let first = list.iter().copied().min();
                    list.retain(|&entry| Some(entry) != first);
                    let expected = first.map(|(time, source)| (SimTime(time), Event::Source(source)));
                    prop_assert_eq!(queue.next(), expected);
                    now = first.map_or(now, |(time, _)| time);
                }
            }
            list.sort_unstable();
            for (time, source) in list {
                prop_assert_eq!(queue.next(), Some((SimTime(time), Event::Source(source))));
            }
            prop_assert!(queue.is_empty());
        }
    }
}
