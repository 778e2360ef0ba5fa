//! A disk with arms and platters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::disk::geometry::Zone;
use crate::units::{Bandwidth, Bytes, Fraction, Rpm, SimDuration};

/// A disk with arms and platters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// Rotation speed.
    pub rpm: Rpm,
    /// Tracks and sectors.
    pub geometry: DiskGeometry,
    /// Seek time against distance.
    pub seek: Seek,
    /// Extra settling before a write.
    #[serde(default)]
    pub write_settle: SimDuration,
    /// Settling before a read that takes no seek: on another surface of the cylinder (where it is longer than
    /// `head_switch`), or on the same track after a write, whose head sits beside that for reading.
    #[serde(default)]
    pub read_settle: SimDuration,
    /// Time to switch to another surface of the same cylinder.
    #[serde(default)]
    pub head_switch: SimDuration,
    /// Rate of the disk's interface, overlapped with the media; no limit where it is not given.
    #[serde(default)]
    pub bus_rate: Option<Bandwidth>,
    /// The disk's own processing of each command, before it seeks.
    #[serde(default)]
    pub command_time: SimDuration,
    /// The disk's own memory; none where it is null: every I/O goes to the media.
    #[serde(default)]
    pub buffer: Option<DiskBuffer>,
    /// The order in which waiting I/Os are served.
    #[serde(default)]
    pub queue: Queue,
    /// Each disk's speed lies this far, at most, above or below `rpm`, drawn once for each disk.
    #[serde(default = "speed_tolerance")]
    #[schemars(extend("maximum" = 0.5))]
    pub speed_tolerance: Fraction,
    /// Whether all spindles of the array turn in phase and at exactly `rpm`.
    #[serde(default)]
    pub synchronised_spindles: bool,
}

/// A disk's own memory, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskBuffer {
    /// Segments, each of which holds one run of sectors.
    #[schemars(range(min = 1, max = 64))]
    pub segments: u32,
    /// Size of a segment, a multiple of 512 bytes.
    #[schemars(extend("minimum" = 512, "maximum" = 1 << 30))]
    pub segment: Bytes,
    /// How far the disk reads on after a read, as long as nothing else wants its arm.
    #[serde(default)]
    pub read_ahead: DiskReadAhead,
    /// Share of read-aheads that the disk gives up at once, for housekeeping of its own that shows in measurements and in
    /// no data sheet; which ones is drawn.
    #[serde(default)]
    pub lapse: Fraction,
    /// The disk's own processing of a read that the buffer serves; `command_time` where it is null.
    #[serde(default)]
    pub hit_time: Option<SimDuration>,
    /// Whether a write is done when it is in the buffer. What is there is lost with the power; a flush and a forced
    /// write reach the media all the same.
    #[serde(default)]
    pub write_cache: bool,
    /// The disk's own processing of a write that the buffer takes in; `command_time` where it is null.
    #[serde(default)]
    pub write_time: Option<SimDuration>,
}

impl Disk {
    /// Sets what the buffer has no occasion to do to the defaults.
    pub(crate) fn normalise(&mut self) {
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

/// How far a disk reads on after a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiskReadAhead {
    /// Not at all.
    Off,
    /// Until a segment is full of what lies ahead; what was sent makes room.
    #[default]
    Segment,
    /// To the end of the track, and round to where the head arrived: reading starts on arrival, wherever on the track.
    Track,
}

/// Tracks and sectors of a disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DiskGeometry {
    /// As measured, zone by zone from the outer edge.
    Zones {
        /// Recording surfaces (heads).
        #[schemars(range(min = 1, max = 64))]
        surfaces: u32,
        /// The zones, outermost first.
        #[schemars(length(min = 1))]
        zones: Vec<Zone>,
    },
    /// Derived from a data sheet's capacity and media rates.
    Rates {
        /// Capacity.
        capacity: Bytes,
        /// Cylinders.
        #[schemars(range(min = 2, max = 2_000_000))]
        cylinders: u32,
        /// Media rate at the outer edge.
        outer_rate: Bandwidth,
        /// Media rate at the inner edge.
        inner_rate: Bandwidth,
        /// Number of zones.
        #[serde(default = "sixteen")]
        #[schemars(range(min = 1, max = 64))]
        zones: u32,
    },
}

/// Seek time against distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Seek {
    /// A curve through a data sheet's three figures.
    Figures {
        /// Seek over one cylinder.
        track_to_track: SimDuration,
        /// Mean over random pairs of cylinders.
        average: SimDuration,
        /// Seek over all cylinders.
        full_stroke: SimDuration,
    },
    /// Measured points, joined by straight lines.
    Table {
        /// The points, by rising distance.
        #[schemars(length(min = 2))]
        points: Vec<SeekPoint>,
    },
    /// a + b * sqrt(distance) up to `boundary` cylinders, c + e * distance beyond (Ruemmler and Wilkes 1994).
    TwoPiece {
        /// Greatest distance of the first piece [cylinders].
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
    /// Distance [cylinders].
    #[schemars(range(min = 1))]
    pub distance: u32,
    /// Seek time.
    pub time: SimDuration,
}

/// The order in which a disk serves waiting I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Queue {
    /// The policy.
    pub policy: QueuePolicy,
    /// Commands that the disk holds and may reorder; further ones wait in order of arrival.
    #[schemars(range(min = 1, max = 256))]
    pub depth: u32,
    /// An I/O that has waited this long is served first, whatever the policy; no limit where it is null.
    pub age_limit: Option<SimDuration>,
}

impl Default for Queue {
    fn default() -> Self {
        Self { policy: QueuePolicy::Sptf, depth: 16, age_limit: Some(SimDuration(1_000_000_000)) }
    }
}

/// The policy of a disk's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueuePolicy {
    /// Shortest positioning time (seek and rotation) first.
    Sptf,
    /// Shortest seek first.
    Sstf,
    /// Upwards by address as far as there is an I/O, then downwards, and so on.
    Look,
    /// Upwards by address, then back to the lowest.
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
