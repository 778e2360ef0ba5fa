//! The summary of a trace, in one pass and in bounded memory.
//!
//! Memory: at most 110 MiB for any trace: 96 MiB for the [footprint], 6 MiB for [volumes], the rest for tables of fixed
//! size. Counts and sums are exact. The footprint is exact up to a bound and sampled beyond. Quantiles of sizes are exact
//! up to 2 MiB, those of response times are within 0.8 %.

mod arrivals;
mod footprint;
mod sizes;
mod volumes;

use rustc_hash::FxHashSet;
use serde::Serialize;

pub use arrivals::Rate;
pub use footprint::Touched;
pub use sizes::SizeSummary;
pub use volumes::VolumeShare;

use super::record::{Flags, Op, Record};
use crate::metrics::Histogram;
use crate::units::SECTOR_BYTES;
use arrivals::Arrivals;
use footprint::Footprint;
use sizes::SizeCounts;
use volumes::Volumes;

/// Maximum distinct processes to count.
const PROCESSES: usize = 1 << 16;

/// Summarises a trace, record by record in order of time.
#[derive(Debug, Default)]
pub struct Summariser {
    first_ns: Option<u64>,
    last_ns: u64,
    synchronous: u64,
    forced: u64,
    most_writes: u64,
    /// The current second, counted from the first record, and its writes.
    writes_of_second: (u64, u64),
    processes: FxHashSet<u32>,
    read_sizes: SizeCounts,
    write_sizes: SizeCounts,
    arrivals: Arrivals,
    footprint: Footprint,
    volumes: Volumes,
    response: Histogram,
}

/// The summary of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Summary {
    pub records: u64,
    pub reads: u64,
    pub writes: u64,
    /// Flushes without data.
    pub flushes: u64,
    /// Reads over reads and writes.
    pub read_fraction: Option<f64>,
    /// Records that a process waits for.
    pub synchronous: u64,
    /// Records that must be durable before they complete.
    pub forced_to_media: u64,
    /// Distinct processes, up to 65,536.
    pub processes: usize,
    /// Time of the first record on the recording clock \[s\].
    pub start_s: f64,
    /// Time from the first record to the last \[s\].
    pub duration_s: f64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// End of the last sector read or written, on the largest volume \[bytes\].
    pub end_bytes: u64,
    pub writes_per_s: Option<f64>,
    /// Writes in the second with the most.
    pub peak_writes_per_s: u64,
    /// Rate and burstiness of arrivals.
    pub rate: Rate,
    pub read_sizes: Option<SizeSummary>,
    pub write_sizes: Option<SizeSummary>,
    /// Footprint and re-references.
    pub touched: Touched,
    /// Share of reads and writes that begin at the end of the one before on their volume.
    pub sequential_share: Option<f64>,
    /// Share that begins at the end of one of the last 32.
    pub streamed_share: Option<f64>,
    pub response: Option<ResponseSummary>,
    /// Counts by volume, those with the most requests first.
    pub volumes: Vec<VolumeShare>,
}

/// Recorded response times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ResponseSummary {
    /// Requests with a known response time.
    pub known: u64,
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
}

impl Summariser {
    /// Adds the next record.
    pub fn add(&mut self, record: &Record) {
        let time = record.time.0;
        let first = *self.first_ns.get_or_insert(time);
        self.last_ns = self.last_ns.max(time);
        self.arrivals.add(time);
        self.volumes.add(record);
        if self.processes.len() < PROCESSES {
            self.processes.insert(record.process);
        }
        if let Some(response) = record.response {
            self.response.record(response);
        }
        self.synchronous += u64::from(record.flags.contains(Flags::SYNC));
        self.forced += u64::from(record.flags.contains(Flags::FUA));
        match record.op {
            Op::Flush => return,
            Op::Read => self.read_sizes.add(record.sectors.0),
            Op::Write => {
                self.write_sizes.add(record.sectors.0);
                let second = time.saturating_sub(first) / 1_000_000_000;
                if self.writes_of_second.0 != second {
                    self.writes_of_second = (second, 0);
                }
                self.writes_of_second.1 += 1;
                self.most_writes = self.most_writes.max(self.writes_of_second.1);
            }
        }
        self.footprint.add(record);
    }

    /// The summary so far.
    pub fn summary(&self) -> Summary {
        let first = self.first_ns.unwrap_or(0);
        let duration_s = self.last_ns.saturating_sub(first) as f64 / 1e9;
        let total = self.volumes.total();
        let transfers = total.reads + total.writes;
        let share = |count: u64| (transfers > 0).then(|| count as f64 / transfers as f64);
        let by_volume = self.footprint.by_volume();
        Summary {
            records: transfers + total.flushes,
            reads: total.reads,
            writes: total.writes,
            flushes: total.flushes,
            read_fraction: share(total.reads),
            synchronous: self.synchronous,
            forced_to_media: self.forced,
            processes: self.processes.len(),
            start_s: first as f64 / 1e9,
            duration_s,
            read_bytes: total.read_sectors * SECTOR_BYTES,
            written_bytes: total.written_sectors * SECTOR_BYTES,
            end_bytes: total.end_sectors.saturating_mul(SECTOR_BYTES),
            writes_per_s: (duration_s > 0.0).then(|| total.writes as f64 / duration_s),
            peak_writes_per_s: self.most_writes,
            rate: self.arrivals.rate(),
            read_sizes: self.read_sizes.summary(),
            write_sizes: self.write_sizes.summary(),
            touched: self.footprint.touched(),
            sequential_share: share(total.sequential),
            streamed_share: share(total.streamed),
            response: self.response_summary(),
            volumes: self.volumes.shares(|volume| Some(by_volume.get(&volume).copied().unwrap_or(0))),
        }
    }

    fn response_summary(&self) -> Option<ResponseSummary> {
        let quantile = |share| self.response.quantile(share).map_or(0.0, |ns| ns / 1e6);
        Some(ResponseSummary {
            known: self.response.count(),
            mean_ms: self.response.mean()? / 1e6,
            p50_ms: quantile(0.5),
            p90_ms: quantile(0.9),
            p99_ms: quantile(0.99),
            max_ms: quantile(1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Lba, Sectors, SimDuration};

    #[test]
    fn a_short_trace_by_hand() {
        let mut summariser = Summariser::default();
        let at =
            |ms: u64| Record { process: 7, ..Record::flush(SimDuration(5_000_000_000 + ms * 1_000_000)) };
        let io = |ms, op, lba, sectors| Record { op, lba: Lba(lba), sectors: Sectors(sectors), ..at(ms) };
        let forced = Record { flags: Flags::SYNC.with(Flags::FUA), ..io(900, Op::Write, 16, 8) };
        let timed = Record { response: Some(SimDuration(3_000_000)), ..io(2_000, Op::Read, 24, 8) };
        for record in [io(0, Op::Write, 8, 8), forced, at(1_000), timed] {
            summariser.add(&record);
        }
        let found = summariser.summary();
        assert_eq!((found.records, found.reads, found.writes, found.flushes), (4, 1, 2, 1));
        assert_eq!((found.synchronous, found.forced_to_media, found.processes), (1, 1, 1));
        assert_eq!((found.start_s, found.duration_s, found.writes_per_s), (5.0, 2.0, Some(1.0)));
        assert_eq!((found.read_bytes, found.written_bytes, found.end_bytes), (4096, 8192, 32 * 512));
        assert_eq!((found.peak_writes_per_s, found.rate.peak_per_s), (2, 2));
        assert_eq!(found.sequential_share, Some(2.0 / 3.0));
        assert_eq!(found.response.map(|response| (response.known, response.mean_ms)), Some((1, 3.0)));
        assert_eq!(found.touched.footprint_bytes, 3 * 4096);
    }

    #[test]
    fn an_empty_trace_has_a_summary() {
        let found = Summariser::default().summary();
        assert_eq!((found.records, found.read_fraction, found.response), (0, None, None));
    }
}
