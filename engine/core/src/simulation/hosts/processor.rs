//! The processors of the host: interactions compute before they issue their first I/O.
//!
//! ```text
//!   think time ──► processors: wait, compute ──► I/Os, step by step ──► think time
//! ```
//!
//! The demand is one piece in front of the I/Os. Measurements give the processor time of a transaction as a whole, not
//! between which of its I/Os it falls; and where the queues have a product form, mean throughput and response depend on
//! the whole demand only (Baskett, Chandy, Muntz, Palacios: Open, closed, and mixed networks of queues with different
//! classes of customers, Journal of the ACM 22(2), 1975).

mod fcfs;
mod sharing;

use std::collections::VecDeque;

use fcfs::Fcfs;
use sharing::Sharing;

use crate::config::{self, Distribution, Scheduling};
use crate::event::Event;
use crate::metrics::Histogram;
use crate::rng::RandomStream;
use crate::simulation::context::Context;
use crate::simulation::measures::TimeWeighted;
use crate::units::{SimDuration, SimTime};

/// The processor time of the interactions of one source.
#[derive(Debug)]
pub struct Demand {
    /// Its distribution.
    pub time: Distribution,
    /// Its draws.
    pub draws: RandomStream,
}

/// An interaction at the processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Job {
    /// The source of the interaction.
    source: u32,
    /// When it arrived at the processors.
    since: SimTime,
    /// The processor time that it needs.
    demand: SimDuration,
}

/// An event of the processors: its time, and what it belongs to.
type Alarm = (SimTime, u32);

#[derive(Debug)]
enum Queue {
    Fcfs(Fcfs),
    Shared(Sharing),
}

/// The processors and the interactions that wait for them or use them.
#[derive(Debug)]
pub struct Processor {
    cores: u32,
    /// By source.
    demands: Box<[Option<Demand>]>,
    queue: Queue,
    /// Interactions whose demand is met.
    ready: VecDeque<Job>,
    /// Interactions that wait or compute, over time.
    present: TimeWeighted,
    /// Busy cores, over time.
    busy: TimeWeighted,
    response: Histogram,
    /// Processor time of the interactions in `response` \[ns\].
    met: u128,
}

impl Processor {
    /// Idle processors; `demands` are those of the sources.
    pub fn new(host: config::Host, demands: Box<[Option<Demand>]>) -> Self {
        Self {
            cores: host.cores,
            demands,
            queue: match host.scheduling {
                Scheduling::Fcfs => Queue::Fcfs(Fcfs::new(host.cores)),
                Scheduling::Shared => Queue::Shared(Sharing::new(host.cores)),
            },
            ready: VecDeque::new(),
            present: TimeWeighted::default(),
            busy: TimeWeighted::default(),
            response: Histogram::new(),
            met: 0,
        }
    }

    /// Interactions that wait or compute.
    pub fn present(&self) -> usize {
        self.present.value() as usize
    }

    /// Starts an interaction of a source; returns false if its interactions need no processor.
    pub fn start(&mut self, context: &mut Context, source: u32) -> bool {
        let Some(demand) = &mut self.demands[source as usize] else { return false };
        let now = context.now();
        let job = Job { source, since: now, demand: demand.time.draw(&mut demand.draws) };
        let alarm = match &mut self.queue {
            Queue::Fcfs(queue) => queue.start(now, job),
            Queue::Shared(queue) => queue.start(now, job),
        };
        schedule(context, alarm);
        self.count(now, self.present.value() + 1);
        true
    }

    /// An event of the processors occurs: interactions become ready.
    pub fn end(&mut self, context: &mut Context, which: u32) {
        let now = context.now();
        let before = self.ready.len();
        let alarm = match &mut self.queue {
            Queue::Fcfs(queue) => queue.end(now, which, &mut self.ready),
            Queue::Shared(queue) => queue.end(now, which, &mut self.ready),
        };
        schedule(context, alarm);
        for job in self.ready.range(before..) {
            self.response.record(now.since(job.since));
            self.met += u128::from(job.demand.0);
        }
        self.count(now, self.present.value() - (self.ready.len() - before) as u64);
    }

    /// The source of an interaction whose demand is met.
    pub fn take_ready(&mut self) -> Option<u32> {
        self.ready.pop_front().map(|job| job.source)
    }

    fn count(&mut self, now: SimTime, present: u64) {
        self.present.set(now, present);
        self.busy.set(now, present.min(u64::from(self.cores)));
    }

    /// Brings the integrals up to date.
    pub fn advance(&mut self, now: SimTime) {
        self.count(now, self.present.value());
    }

    /// Restarts the measurement.
    pub fn reset(&mut self, now: SimTime) {
        self.present.reset(now);
        self.busy.reset(now);
        self.response.clear();
        self.met = 0;
    }

    /// Power is cut: all interactions end.
    pub fn cut_power(&mut self, now: SimTime) {
        match &mut self.queue {
            Queue::Fcfs(queue) => queue.clear(),
            Queue::Shared(queue) => queue.clear(),
        }
        self.count(now, 0);
    }

    /// Processor time used in the window \[core-seconds\], and the integral of the interactions at the processors \[s\].
    pub fn areas_s(&self) -> (f64, f64) {
        (self.busy.area_s(), self.present.area_s())
    }

    /// Cores.
    pub const fn cores(&self) -> u32 {
        self.cores
    }

    /// Times that interactions spent at the processors \[ns\].
    pub const fn response(&self) -> &Histogram {
        &self.response
    }

    /// Mean processor time of these interactions \[ns\].
    pub fn mean_demand(&self) -> Option<f64> {
        let count = self.response.count();
        (count > 0).then(|| self.met as f64 / count as f64)
    }
}

fn schedule(context: &mut Context, alarm: Option<Alarm>) {
    if let Some((at, which)) = alarm {
        context.schedule(at, Event::Processor(which));
    }
}

#[cfg(test)]
mod tests;
