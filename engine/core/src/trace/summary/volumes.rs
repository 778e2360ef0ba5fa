//! Counts and sequentiality by volume.
//!
//! A request is *sequential* if it begins at the end of the request before it on its volume, and *streamed* if it begins
//! at the end of one of the last 32 that were not continued yet. Interleaved streams are streamed but not sequential.
//!
//! Memory: 336 bytes for each of at most 16,384 volumes; requests to further ones are counted together.

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::trace::record::{Op, Record};
use crate::units::SECTOR_BYTES;

/// Maximum volumes to count separately.
const VOLUMES: usize = 1 << 14;
/// Streams that are followed on each volume.
const STREAMS: usize = 32;

#[derive(Clone, Debug)]
struct VolumeCounts {
    reads: u64,
    writes: u64,
    flushes: u64,
    read_sectors: u64,
    written_sectors: u64,
    end: u64,
    sequential: u64,
    streamed: u64,
    last: u64,
    /// Where the last requests ended, and which of these places is the oldest.
    ends: [u64; STREAMS],
    oldest: usize,
}

impl Default for VolumeCounts {
    fn default() -> Self {
        Self {
            reads: 0,
            writes: 0,
            flushes: 0,
            read_sectors: 0,
            written_sectors: 0,
            end: 0,
            sequential: 0,
            streamed: 0,
            // No request begins at this sector.
            last: u64::MAX,
            ends: [u64::MAX; STREAMS],
            oldest: 0,
        }
    }
}

impl VolumeCounts {
    #[inline]
    fn add(&mut self, record: &Record) {
        let (first, end) = (record.lba.0, record.lba.0 + record.sectors.0);
        match record.op {
            Op::Flush => {
                self.flushes += 1;
                return;
            }
            Op::Read => {
                self.reads += 1;
                self.read_sectors += record.sectors.0;
            }
            Op::Write => {
                self.writes += 1;
                self.written_sectors += record.sectors.0;
            }
        }
        self.end = self.end.max(end);
        self.sequential += u64::from(first == self.last);
        self.last = end;
        if let Some(place) = self.ends.iter().position(|&end| end == first) {
            self.streamed += 1;
            self.ends[place] = end;
        } else {
            self.ends[self.oldest] = end;
            self.oldest = (self.oldest + 1) % STREAMS;
        }
    }
}

/// Requests by volume.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    volumes: FxHashMap<u32, VolumeCounts>,
    others: VolumeCounts,
}

/// Counts of one volume.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct VolumeShare {
    /// Number; none for all volumes beyond the 16,384 that are counted separately.
    pub volume: Option<u32>,
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// End of its last sector that is read or written \[bytes\].
    pub end_bytes: u64,
    /// 4 KiB blocks touched \[bytes\], of volumes that are counted separately.
    pub footprint_bytes: Option<u64>,
    /// Share of reads and writes that begin at the end of the one before.
    pub sequential_share: Option<f64>,
}

/// All volumes together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Total {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub read_sectors: u64,
    pub written_sectors: u64,
    pub end_sectors: u64,
    pub sequential: u64,
    pub streamed: u64,
}

impl Volumes {
    /// Adds a request.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        if let Some(volume) = self.volumes.get_mut(&record.volume) {
            volume.add(record);
        } else if self.volumes.len() < VOLUMES {
            self.volumes.entry(record.volume).or_default().add(record);
        } else {
            self.others.add(record);
        }
    }

    fn all(&self) -> impl Iterator<Item = (Option<u32>, &VolumeCounts)> {
        let others = std::iter::once((None, &self.others));
        self.volumes.iter().map(|(&number, volume)| (Some(number), volume)).chain(others)
    }

    /// The sum of all volumes; the end is that of the largest.
    pub fn total(&self) -> Total {
        self.all().fold(Total::default(), |sum, (_, volume)| Total {
            reads: sum.reads + volume.reads,
            writes: sum.writes + volume.writes,
            flushes: sum.flushes + volume.flushes,
            read_sectors: sum.read_sectors + volume.read_sectors,
            written_sectors: sum.written_sectors + volume.written_sectors,
            end_sectors: sum.end_sectors.max(volume.end),
            sequential: sum.sequential + volume.sequential,
            streamed: sum.streamed + volume.streamed,
        })
    }

    /// The volumes with their footprints, those with the most requests first.
    pub fn shares(&self, footprint: impl Fn(u32) -> Option<u64>) -> Vec<VolumeShare> {
        let mut shares: Vec<VolumeShare> = self
            .all()
            .filter(|(_, volume)| volume.reads + volume.writes + volume.flushes > 0)
            .map(|(number, volume)| {
                let transfers = volume.reads + volume.writes;
                VolumeShare {
                    volume: number,
                    reads: volume.reads,
                    writes: volume.writes,
                    flushes: volume.flushes,
                    read_bytes: volume.read_sectors * SECTOR_BYTES,
                    written_bytes: volume.written_sectors * SECTOR_BYTES,
                    end_bytes: volume.end.saturating_mul(SECTOR_BYTES),
                    footprint_bytes: number.and_then(&footprint),
                    sequential_share: (transfers > 0).then(|| volume.sequential as f64 / transfers as f64),
                }
            })
            .collect();
        shares.sort_by_key(|share| {
            (std::cmp::Reverse(share.reads + share.writes + share.flushes), share.volume)
        });
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Lba, Sectors, SimDuration};

    fn io(op: Op, volume: u32, lba: u64, sectors: u64) -> Record {
        Record { op, volume, lba: Lba(lba), sectors: Sectors(sectors), ..Record::flush(SimDuration(0)) }
    }

    #[test]
    fn interleaved_streams_are_streamed_but_not_sequential() {
        let mut volumes = Volumes::default();
        for step in 0..10 {
            volumes.add(&io(Op::Read, 1, step * 8, 8));
            volumes.add(&io(Op::Write, 1, 1_000_000 + step * 16, 16));
            volumes.add(&io(Op::Read, 2, step * 8, 8));
        }
        volumes.add(&Record { volume: 2, ..Record::flush(SimDuration(0)) });
        let total = volumes.total();
        assert_eq!((total.reads, total.writes, total.sequential, total.streamed), (20, 10, 9, 27));
        assert_eq!(total.end_sectors, 1_000_160);
        let shares = volumes.shares(|volume| (volume == 1).then_some(4096));
        assert_eq!(shares.len(), 2);
        assert_eq!((shares[0].volume, shares[0].reads, shares[0].written_bytes), (Some(1), 10, 81_920));
        assert_eq!((shares[0].sequential_share, shares[0].footprint_bytes), (Some(0.0), Some(4096)));
        assert_eq!((shares[1].flushes, shares[1].sequential_share), (1, Some(0.9)));
    }

    #[test]
    fn volumes_beyond_the_maximum_are_counted_together() {
        let mut volumes = Volumes::default();
        for volume in 0..VOLUMES as u32 + 5 {
            volumes.add(&io(Op::Read, volume, 0, 8));
        }
        let shares = volumes.shares(|_| None);
        assert_eq!(shares.len(), VOLUMES + 1);
        assert_eq!((shares[0].volume, shares[0].reads), (None, 5));
    }
}
