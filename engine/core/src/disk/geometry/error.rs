//! Errors of impossible geometries.

use thiserror::Error;

use super::MAX_SURFACES;
use crate::units::Bytes;

/// Error of an impossible geometry, raised only at construction.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GeometryError {
    /// A count is zero.
    #[error("{what}: 0; allowed is 1 or more")]
    Zero {
        /// The counted thing.
        what: &'static str,
    },
    /// A skew is a whole track or more.
    #[error(
        "skew of {skew} sectors; allowed is less than the {sectors_per_track} sectors per track of the zone"
    )]
    SkewTooLarge {
        /// Skew \[sectors\].
        skew: u32,
        /// Sectors per track of the zone.
        sectors_per_track: u32,
    },
    /// A zone has no data.
    #[error("{spare_sectors} spare sectors; allowed are fewer than the {slots} sectors of the zone")]
    AllSpare {
        /// Spare sectors.
        spare_sectors: u64,
        /// Sectors of the zone.
        slots: u64,
    },
    /// The disk has more tracks than a 32-bit number counts.
    #[error("{cylinders} cylinders on {surfaces} surfaces; allowed are up to 4294967295 tracks")]
    TooManyTracks {
        /// Cylinders in all zones.
        cylinders: u64,
        /// Recording surfaces.
        surfaces: u32,
    },
    /// The disk exceeds the maximum capacity of a configuration.
    #[error("{} bytes in all zones; allowed is up to {}", bytes, Bytes::LARGEST.0)]
    TooLarge {
        /// Capacity of all zones \[bytes\].
        bytes: u128,
    },
    /// The outer rate is below the inner rate.
    #[error("outer rate {outer} bytes/s; allowed is the inner rate, {inner} bytes/s, or more")]
    RatesReversed {
        /// Media rate of the outermost zone \[bytes/s\].
        outer: u64,
        /// Media rate of the innermost zone \[bytes/s\].
        inner: u64,
    },
    /// There are more zones than cylinders.
    #[error("{zones} zones; allowed is one per cylinder, {cylinders}")]
    TooManyZones {
        /// Zones.
        zones: u32,
        /// Cylinders.
        cylinders: u32,
    },
    /// The capacity needs too many surfaces.
    #[error(
        "{surfaces} surfaces of {per_surface} bytes needed for {capacity} bytes; allowed are {MAX_SURFACES}: raise the \
         cylinders or the rates, or lower the capacity"
    )]
    TooManySurfaces {
        /// Capacity \[bytes\].
        capacity: u64,
        /// Surfaces needed.
        surfaces: u64,
        /// Capacity of a surface \[bytes\].
        per_surface: u64,
    },
}
