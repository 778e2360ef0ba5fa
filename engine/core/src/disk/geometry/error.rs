//! Why a geometry cannot exist.

use thiserror::Error;

use super::MAX_SURFACES;
use crate::units::Bytes;

/// Why a geometry cannot exist. None of these is ever raised after construction.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GeometryError {
    /// A count that must be at least one is zero.
    #[error("{what}: 0; allowed is 1 or more")]
    Zero {
        /// What was counted.
        what: &'static str,
    },
    /// A skew reaches round the whole track.
    #[error(
        "skew of {skew} sectors; allowed is less than the {sectors_per_track} sectors per track of the zone"
    )]
    SkewTooLarge {
        /// The skew given \[sectors\].
        skew: u32,
        /// Sectors on a track of that zone.
        sectors_per_track: u32,
    },
    /// A zone would hold no data.
    #[error("{spare_sectors} spare sectors; allowed are fewer than the {slots} sectors of the zone")]
    AllSpare {
        /// Sectors set aside.
        spare_sectors: u64,
        /// Sectors that the zone's tracks hold.
        slots: u64,
    },
    /// The disk would have more tracks than a 32-bit number counts.
    #[error("{cylinders} cylinders on {surfaces} surfaces; allowed are up to 4294967295 tracks")]
    TooManyTracks {
        /// Cylinders in all zones.
        cylinders: u64,
        /// Recording surfaces.
        surfaces: u32,
    },
    /// The disk would hold more than any configuration may give.
    #[error("{} bytes in all zones; allowed is up to {}", bytes, Bytes::LARGEST.0)]
    TooLarge {
        /// Capacity of all zones \[bytes\].
        bytes: u128,
    },
    /// The outer tracks would be slower than the inner ones.
    #[error("outer rate {outer} bytes/s; allowed is the inner rate, {inner} bytes/s, or more")]
    RatesReversed {
        /// Media rate of the outermost zone \[bytes/s\].
        outer: u64,
        /// Media rate of the innermost zone \[bytes/s\].
        inner: u64,
    },
    /// More zones were asked for than there are cylinders.
    #[error("{zones} zones; allowed is one per cylinder, {cylinders}")]
    TooManyZones {
        /// Zones asked for.
        zones: u32,
        /// Cylinders to share out.
        cylinders: u32,
    },
    /// No disk with a credible number of surfaces holds the capacity.
    #[error(
        "{surfaces} surfaces of {per_surface} bytes needed for {capacity} bytes; allowed are {MAX_SURFACES}: raise the \
         cylinders or the rates, or lower the capacity"
    )]
    TooManySurfaces {
        /// Capacity asked for \[bytes\].
        capacity: u64,
        /// Surfaces it would need.
        surfaces: u64,
        /// What one surface holds \[bytes\].
        per_surface: u64,
    },
}
