//! What is counted and timed during a measurement window.

use crate::metrics::{BatchMeans, Histogram};
use crate::units::{SimDuration, SimTime};
use crate::workload::Op;

use super::request::{Request, Service};

/// A quantity that changes over time: its integral and its maximum.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeWeighted {
    value: u64,
    last: SimTime,
    area: u128,
    high: u64,
}

impl TimeWeighted {
    /// The quantity is `value` from `now` on.
    #[inline]
    pub fn set(&mut self, now: SimTime, value: u64) {
        self.area += u128::from(self.value) * u128::from(now.since(self.last).0);
        self.last = now;
        self.value = value;
        self.high = self.high.max(value);
    }

    /// Restarts the integral.
    pub fn reset(&mut self, now: SimTime) {
        self.last = now;
        self.area = 0;
        self.high = self.value;
    }

    /// The integral up to the last change or reset \[value x s\].
    pub fn area_s(&self) -> f64 {
        self.area as f64 * 1e-9
    }

    /// The maximum.
    pub const fn high(&self) -> u64 {
        self.high
    }

    /// The value now.
    pub const fn value(&self) -> u64 {
        self.value
    }
}

/// Counts of a measurement window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Reads that completed.
    pub reads: u64,
    /// Writes that completed.
    pub writes: u64,
    /// Flushes that completed.
    pub flushes: u64,
    /// Bytes that reads and writes moved.
    pub bytes: u64,
    /// Reads that the cache alone served.
    pub read_hits: u64,
    /// Reads that the cache alone served, from data read ahead.
    pub read_ahead_hits: u64,
    /// Reads that the cache alone served, in part or whole from dirty lines and none of it read ahead.
    pub read_hits_dirty: u64,
    /// Reads that the cache alone served, in part or whole from destaged lines and none of it dirty or read ahead.
    pub read_hits_clean: u64,
    /// Reads that waited for a fetch that was already in progress.
    pub read_hits_late: u64,
    /// Reads that missed and continued no sequence.
    pub read_misses_random: u64,
    /// Reads that missed within a sequence.
    pub read_misses_sequential: u64,
    /// Writes that overwrote dirty lines only.
    pub write_hits: u64,
    /// Sectors that the write cache accepted.
    pub accepted_sectors: u64,
    /// Sectors of those that overwrote dirty ones.
    pub absorbed_sectors: u64,
    /// Sectors that went from the write cache to the disks.
    pub destaged_sectors: u64,
    /// Sectors that were written through.
    pub bypassed_sectors: u64,
    /// Writes that bypassed the cache for their size.
    pub bypassing_writes: u64,
    /// Writes that found no room in the cache and were written through.
    pub turned_away: u64,
    /// Writes that the write cache accepted.
    pub cached_writes: u64,
    /// Stripe writes that destaged.
    pub destages: u64,
    /// Of those, the ones of stripes that had reached the age limit.
    pub destages_by_age: u64,
    /// Contiguous pieces of data that the stripe writes wrote.
    pub destage_extents: u64,
    /// Of the stripe writes, those that needed no read of old data on a parity level.
    pub full_stripes: u64,
    /// Writes that waited for a free line.
    pub stalls: u64,
    /// Time that they waited.
    pub stall_time: SimDuration,
    /// Longest such wait.
    pub stall_max: SimDuration,
    /// Sectors that rebuilds have written.
    pub rebuilt_sectors: u64,
    /// Reads, of one stripe each, that decoded missing data.
    pub decoded_reads: u64,
    /// Requests in progress when their array failed.
    pub failed_requests: u64,
    /// Requests that a power cut ended without an answer.
    pub requests_cut: u64,
    /// Sectors that were dirty in the cache at a power cut, and still there when the mains were back.
    pub preserved_sectors: u64,
    /// Dirty sectors that were lost.
    pub lost_sectors: u64,
    /// Sectors that disks had acknowledged and then lost.
    pub disk_lost_sectors: u64,
    /// Disk writes that a power cut ended, and that may have been written in part.
    pub disk_writes_cut: u64,
    /// Stripes that a power cut left with parity that may not match.
    pub write_holes: u64,
}

/// Everything that a measurement window collects.
#[derive(Debug)]
pub struct Measures {
    /// When the window started.
    pub start: SimTime,
    /// Counts.
    pub counts: Counts,
    /// Response times of reads \[ns\].
    pub read_response: Histogram,
    /// Response times of writes \[ns\].
    pub write_response: Histogram,
    /// Response times of user interactions \[ns\].
    pub interaction: Histogram,
    /// Times of commits: from the synchronous writes directly before a process's flush to the end of the flush \[ns\].
    pub commit: Histogram,
    /// In-run interval of the mean response time.
    pub batches: BatchMeans,
    /// Dirty sectors over time.
    pub dirty: TimeWeighted,
    /// Dirty sectors over time while no battery protects them.
    pub at_risk: TimeWeighted,
    /// Whether the cache holds dirty data that no battery protects, over time.
    pub unprotected: TimeWeighted,
    /// Whether the write cache accepts writes, over time.
    pub write_back: TimeWeighted,
    /// Whether the hosts are off, over time: from the loss of mains until the cache is flushed after their return.
    pub outage: TimeWeighted,
    /// Degraded arrays over time.
    pub degraded: TimeWeighted,
    /// Duration of the latest rebuild to end, in the whole run.
    pub rebuild_time: Option<SimDuration>,
    /// Dirty sectors when the window started.
    pub dirty_start: u64,
    /// When the last request completed.
    pub last_completion: SimTime,
    /// Response times of all reads and writes by array, if there are several \[ns\].
    pub by_array: Vec<Histogram>,
}

impl Measures {
    /// No measurements, for `arrays` arrays.
    pub fn new(arrays: usize) -> Self {
        Self {
            start: SimTime::ZERO,
            counts: Counts::default(),
            read_response: Histogram::new(),
            write_response: Histogram::new(),
            interaction: Histogram::new(),
            commit: Histogram::new(),
            batches: BatchMeans::new(),
            dirty: TimeWeighted::default(),
            at_risk: TimeWeighted::default(),
            unprotected: TimeWeighted::default(),
            write_back: TimeWeighted::default(),
            outage: TimeWeighted::default(),
            degraded: TimeWeighted::default(),
            rebuild_time: None,
            dirty_start: 0,
            last_completion: SimTime::ZERO,
            by_array: (0..arrays).map(|_| Histogram::new()).collect(),
        }
    }

    /// Starts the window: drops what was collected so far, and continues quantities over time.
    pub fn restart(&mut self, now: SimTime) {
        let mut quantities =
            [self.dirty, self.at_risk, self.unprotected, self.write_back, self.outage, self.degraded];
        for quantity in &mut quantities {
            quantity.reset(now);
        }
        let rebuild_time = self.rebuild_time;
        *self = Self::new(self.by_array.len());
        self.rebuild_time = rebuild_time;
        self.start = now;
        [self.dirty, self.at_risk, self.unprotected, self.write_back, self.outage, self.degraded] =
            quantities;
        self.dirty_start = self.dirty.value();
    }

    /// Response times of all reads and writes \[ns\].
    pub fn response(&self) -> Histogram {
        let mut all = self.read_response.clone();
        all.merge(&self.write_response);
        all
    }

    /// The dirty sectors, and those of them that no battery protects, from `now` on.
    #[inline]
    pub fn set_dirty(&mut self, now: SimTime, dirty: u64, at_risk: u64) {
        self.dirty.set(now, dirty);
        if at_risk != 0 || self.at_risk.value() != 0 {
            self.at_risk.set(now, at_risk);
            self.unprotected.set(now, u64::from(at_risk > 0));
        }
    }

    /// A write no longer waits for a free line.
    pub fn end_stall(&mut self, now: SimTime, request: &Request) {
        let waited = now.since(request.stalled_since);
        self.counts.stall_time += waited;
        self.counts.stall_max = self.counts.stall_max.max(waited);
    }

    /// A request has completed after `response`.
    #[inline]
    pub fn complete(&mut self, done: &Request, response: SimDuration) {
        let counts = &mut self.counts;
        match done.command.operation {
            Op::Read => {
                counts.reads += 1;
                match done.service {
                    Service::Hit => counts.read_hits += 1,
                    Service::HitAhead => {
                        counts.read_hits += 1;
                        counts.read_ahead_hits += 1;
                    }
                    Service::HitDirty => {
                        counts.read_hits += 1;
                        counts.read_hits_dirty += 1;
                    }
                    Service::HitClean => {
                        counts.read_hits += 1;
                        counts.read_hits_clean += 1;
                    }
                    Service::HitLate => counts.read_hits_late += 1,
                    Service::MissSequential => counts.read_misses_sequential += 1,
                    Service::MissRandom | Service::None => counts.read_misses_random += 1,
                }
                self.read_response.record(response);
            }
            Op::Write => {
                counts.writes += 1;
                counts.write_hits += u64::from(done.service == Service::Hit);
                self.write_response.record(response);
            }
            Op::Flush => {
                counts.flushes += 1;
                return;
            }
        }
        counts.bytes += done.command.sectors.bytes().0;
        if self.by_array.len() > 1 {
            self.by_array[done.array as usize].record(response);
        }
        self.batches.push(response.0 as f64);
    }
}
