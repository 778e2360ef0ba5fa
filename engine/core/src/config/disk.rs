//! A hard disk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bandwidth, Bytes, Fraction, Rpm, SimDuration};

/// A hard disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// Rotation speed.
    pub rpm: Rpm,
    /// Tracks and sectors.
    pub geometry: DiskGeometry,
    /// Seek time against distance.
    pub seek: Seek,
    /// Additional settling time of a write after a seek or a switch to another surface. A write that continues the
    /// previous I/O on the next track does not settle: the skew of the tracks covers it.
    #[serde(default)]
    pub write_settle: SimDuration,
    /// Additional time of every write to the media, before its first sector: after measurements of writes without a
    /// seek, since data sheets do not give it. Unlike `command_time` it never overlaps the previous I/O, so a drive
    /// with it misses a revolution between consecutive writes.
    #[serde(default)]
    pub write_overhead: SimDuration,
    /// Settling time before a read without a seek: after a switch to another surface (if longer than `head_switch`), or
    /// on the same track after a write, which uses another head element than a read.
    #[serde(default)]
    pub read_settle: SimDuration,
    /// Time to switch to another surface of the same cylinder.
    #[serde(default)]
    pub head_switch: SimDuration,
    /// Rate of the disk's interface, which overlaps media transfers (default: unlimited).
    #[serde(default)]
    pub bus_rate: Option<Bandwidth>,
    /// Share of a read's sectors that have to be off the media before the interface begins to send them: with 1 the two
    /// transfers follow each other, as in drives that hold the bus once they have it.
    #[serde(default, skip_serializing_if = "is_none_of_it")]
    pub send_after: Fraction,
    /// Whether the interface takes the data of a write to the media from its command on, while the arm moves, rather than as
    /// the sectors pass. A write whose last sector passes before its data have come takes another revolution.
    #[serde(default, skip_serializing_if = "is_false")]
    pub early_write_data: bool,
    /// Processing time per command, before the seek.
    #[serde(default)]
    pub command_time: SimDuration,
    /// Memory of the disk (default: none, so that every I/O goes to the media).
    #[serde(default)]
    pub buffer: Option<DiskBuffer>,
    /// Queue of waiting I/Os.
    #[serde(default)]
    pub queue: Queue,
    /// Maximum deviation of a disk's speed from `rpm`, drawn once per disk.
    #[serde(default = "speed_tolerance")]
    #[schemars(extend("maximum" = 0.5))]
    pub speed_tolerance: Fraction,
    /// Whether all spindles of the array rotate in phase at exactly `rpm`.
    #[serde(default)]
    pub synchronised_spindles: bool,
}

/// Segmented memory of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskBuffer {
    /// Number of segments, each for one run of sectors.
    #[schemars(range(min = 1, max = 64))]
    pub segments: u32,
    /// Size of a segment, a multiple of 512 bytes.
    #[schemars(extend("minimum" = 512, "maximum" = 1 << 30))]
    pub segment: Bytes,
    /// Extent of the read-ahead after a read, until another I/O needs the arm.
    #[serde(default)]
    pub read_ahead: DiskReadAhead,
    /// Share of read-aheads, chosen at random, that the disk abandons at once, for internal work that measurements
    /// show and data sheets do not mention.
    #[serde(default)]
    pub lapse: Fraction,
    /// Processing time of a read from the buffer (default: `command_time`).
    #[serde(default)]
    pub hit_time: Option<SimDuration>,
    /// Whether a write completes when it is in the buffer. Buffered writes are lost with the power; flushes and forced
    /// writes still reach the media.
    #[serde(default)]
    pub write_cache: bool,
    /// Processing time of a write to the buffer (default: `command_time`).
    #[serde(default)]
    pub write_time: Option<SimDuration>,
}

impl Disk {
    /// Sets settings of interface and buffer without effect to their defaults.
    pub(crate) fn normalise(&mut self) {
        if self.bus_rate.is_none() {
            self.send_after = Fraction::default();
            self.early_write_data = false;
        }
        let Some(buffer) = &mut self.buffer else { return };
        let differs = |time: &SimDuration| *time != self.command_time;
        buffer.hit_time = buffer.hit_time.filter(differs);
        buffer.write_time = buffer.write_time.filter(|time| buffer.write_cache && differs(time));
        if buffer.read_ahead == DiskReadAhead::Off {
            buffer.lapse = Fraction::default();
            if !buffer.write_cache {
                self.buffer = None;
            }
        }
    }
}

impl DiskReadAhead {
    /// Whether it follows a sequential stream: data sent make room for further data.
    pub const fn follows_streams(self) -> bool {
        matches!(self, Self::Segment | Self::SegmentOnArrival | Self::Stream)
    }
}

/// Extent of a disk's read-ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiskReadAhead {
    /// No read-ahead.
    Off,
    /// Until a segment is full of unread data; data already sent make room.
    #[default]
    Segment,
    /// As `segment`; the sectors of the track that pass between the arrival of the head and the first one requested are
    /// kept too.
    SegmentOnArrival,
    /// As `segment`, but only after a read that continues one of the last: single reads are not followed by any.
    Stream,
    /// To the end of the track, at most a segment.
    TrackEnd,
    /// To the end of the cylinder, at most a segment.
    CylinderEnd,
    /// The whole track: reading starts where the head arrives and wraps at the end of the track.
    Track,
}

/// Tracks and sectors of a disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DiskGeometry {
    /// Measured, zone by zone from the outer edge.
    Zones {
        /// Recording surfaces (heads).
        #[schemars(range(min = 1, max = 64))]
        surfaces: u32,
        /// Zones, outermost first.
        #[schemars(length(min = 1))]
        zones: Vec<Zone>,
    },
    /// Derived from a data sheet's capacity and sustained rates.
    Rates {
        /// Capacity.
        capacity: Bytes,
        /// Cylinders.
        #[schemars(range(min = 2, max = 2_000_000))]
        cylinders: u32,
        /// Sustained rate at the outer edge, head and cylinder switches included.
        outer_rate: Bandwidth,
        /// Sustained rate at the inner edge, head and cylinder switches included.
        inner_rate: Bandwidth,
        /// Number of zones.
        #[serde(default = "sixteen")]
        #[schemars(range(min = 1, max = 64))]
        zones: u32,
    },
}

/// A zone: adjacent cylinders with the same number of sectors per track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Cylinders in the zone.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub cylinders: u32,
    /// Sectors per track of the zone.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sectors_per_track: u32,
    /// Offset of a track's first sector from the end of the previous track of the cylinder \[sectors\]
    /// (default: the smallest that covers a head switch before a write).
    #[serde(default)]
    pub track_skew: Option<u32>,
    /// Offset of a cylinder's first sector from the end of the previous cylinder \[sectors\] (default: the smallest
    /// that covers a seek over one cylinder before a write).
    #[serde(default)]
    pub cylinder_skew: Option<u32>,
    /// Sectors without data at the end of the zone: spare and reserved.
    #[serde(default)]
    pub spare_sectors: u64,
    /// Sectors without data at the start of the zone, as the disk keeps for its own use.
    #[serde(default)]
    pub front_sectors: u64,
    /// Spare sectors at the end of each track.
    #[serde(default)]
    pub spares_per_track: u32,
    /// Spare sectors at the end of each range of cylinders (default: none).
    #[serde(default)]
    pub spare_range: Option<SpareRange>,
}

/// Cylinders that share spare sectors at their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpareRange {
    /// Cylinders of a range; the last one of a zone may have fewer.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub cylinders: u32,
    /// Spare sectors at its end.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub sectors: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_none_of_it(value: &Fraction) -> bool {
    value.0 <= 0.0
}

impl Zone {
    /// A zone with the default skews.
    pub const fn new(cylinders: u32, sectors_per_track: u32) -> Self {
        Self {
            cylinders,
            sectors_per_track,
            track_skew: None,
            cylinder_skew: None,
            spare_sectors: 0,
            front_sectors: 0,
            spares_per_track: 0,
            spare_range: None,
        }
    }
}

/// Seek time against distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Seek {
    /// A curve through the three times of a data sheet.
    Figures {
        /// Seek over one cylinder.
        track_to_track: SimDuration,
        /// Mean over random pairs of cylinders.
        average: SimDuration,
        /// Seek over all cylinders.
        full_stroke: SimDuration,
    },
    /// Measured points, linear between them.
    Table {
        /// Points by rising distance.
        #[schemars(length(min = 2))]
        points: Vec<SeekPoint>,
    },
    /// a + b * sqrt(distance) up to `boundary` cylinders, c + e * distance beyond (Ruemmler and Wilkes 1994).
    TwoPiece {
        /// Maximum distance of the first piece \[cylinders\].
        boundary: u32,
        /// Constant of the first piece.
        a: SimDuration,
        /// Factor on the square root of the distance, per root cylinder.
        b: SimDuration,
        /// Constant of the second piece.
        c: SimDuration,
        /// Factor on the distance, per cylinder.
        e: SimDuration,
    },
}

/// One measured point of a seek curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeekPoint {
    /// Distance \[cylinders\].
    #[schemars(range(min = 1))]
    pub distance: u32,
    /// Seek time.
    pub time: SimDuration,
}

/// Order in which a disk serves waiting I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Queue {
    /// Scheduling policy.
    pub policy: QueuePolicy,
    /// Commands that the disk can reorder; further ones wait first come, first served.
    #[schemars(range(min = 1, max = 256))]
    pub depth: u32,
    /// Time in the disk's queue of `depth` commands after which an I/O is served before all younger ones, if four times as
    /// many as wait have been preferred to it (`null`: never); the wait of further commands for a place in it does not count.
    pub age_limit: Option<SimDuration>,
    /// Share of a revolution within which two positioning times are a near tie, for `sptf`: a younger I/O is served before an
    /// older one only if it is nearer by more than this, or can begin at once (0: if it is nearer at all).
    pub near_tie_fraction: Fraction,
    /// Share of the commands in the disk's queue, the oldest, among which it chooses, rounded up.
    pub choice_fraction: Fraction,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            policy: QueuePolicy::Sptf,
            depth: 16,
            age_limit: Some(SimDuration(1_000_000_000)),
            near_tie_fraction: Fraction(0.125),
            choice_fraction: Fraction(1.0),
        }
    }
}

/// Scheduling policy of a disk's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueuePolicy {
    /// Shortest positioning time (seek and rotation) first.
    Sptf,
    /// Shortest seek first.
    Sstf,
    /// By address, alternating between upwards and downwards.
    Look,
    /// By address, upwards only, then from the lowest again.
    CLook,
    /// First come, first served.
    Fcfs,
}

const fn speed_tolerance() -> Fraction {
    Fraction(0.001)
}

const fn sixteen() -> u32 {
    16
}
