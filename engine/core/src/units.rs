//! Newtypes for simulated time, sizes and addresses.

use std::borrow::Cow;
use std::ops::{Add, AddAssign, Mul, Sub};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Bytes in one sector, the unit of addresses on every device \[bytes\].
pub const SECTOR_BYTES: u64 = 512;

/// An instant of simulated time, counted from the start of the run \[ns\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(pub u64);

/// A length of simulated time \[ns\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimDuration(pub u64);

/// A size \[bytes\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// An address on an array or a device \[sectors of 512 bytes\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lba(pub u64);

/// A number of sectors \[sectors of 512 bytes\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sectors(pub u64);

/// A transfer rate \[bytes/s\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bandwidth(pub u64);

/// Events in a second \[1/s\].
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(pub f64);

/// A share of a whole, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fraction(pub f64);

/// A rotation speed \[revolutions/minute\].
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rpm(pub f64);

/// Implements the JSON Schema of a quantity: a number with its base unit as `x-unit`.
macro_rules! quantity_schema {
    ($name:ident, $json:literal, $unit:literal, $($bound:literal: $value:expr),+) => {
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": $json, "x-unit": $unit, $($bound: $value),+ })
            }
        }
    };
}

quantity_schema!(SimDuration, "integer", "ns", "minimum": 0, "maximum": SimDuration::LONGEST.0);
quantity_schema!(Bytes, "integer", "bytes", "minimum": 0, "maximum": Bytes::LARGEST.0);
quantity_schema!(Bandwidth, "integer", "bytes_per_s", "minimum": 1, "maximum": Bytes::LARGEST.0);
quantity_schema!(Rate, "number", "per_s", "exclusiveMinimum": 0);
quantity_schema!(Fraction, "number", "fraction", "minimum": 0, "maximum": 1);
quantity_schema!(Rpm, "number", "rpm", "minimum": 100, "maximum": 1e6);

impl Rpm {
    /// The time of one revolution, to the nearest nanosecond.
    pub fn revolution(self) -> SimDuration {
        SimDuration::from_secs_f64(60.0 / self.0)
    }
}

impl Bandwidth {
    /// The time to transfer `size` at this rate, rounded up to a nanosecond.
    #[inline]
    pub fn time_for(self, size: Bytes) -> SimDuration {
        SimDuration((size.0 * 1_000_000_000).div_ceil(self.0))
    }
}

impl SimTime {
    /// End of every run, far enough from the largest number that sums of times and durations do not overflow.
    pub const END: Self = Self(2 * SimDuration::LONGEST.0);

    /// The start of the run.
    pub const ZERO: Self = Self(0);

    /// The time since `earlier`, or zero if `earlier` is later \[ns\].
    #[inline]
    pub const fn since(self, earlier: Self) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0))
    }
}

impl SimDuration {
    /// The longest duration of a configuration: 100 years of 365.25 days.
    pub const LONGEST: Self = Self(3_155_760_000 * 1_000_000_000);
    /// No time.
    pub const ZERO: Self = Self(0);

    /// Whether it is no time.
    #[inline]
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// The nearest whole nanosecond to `seconds` \[s\]; negative input gives zero.
    #[inline]
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * 1e9 + 0.5).max(0.0) as u64)
    }

    /// This duration in seconds \[s\].
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// This duration in microseconds \[us\].
    #[inline]
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 * 1e-3
    }
}

impl Bytes {
    /// The largest size of a configuration: 1 PiB, for one device, cache or request.
    pub const LARGEST: Self = Self(1 << 50);

    /// The number of whole sectors in this size.
    #[inline]
    pub const fn sectors(self) -> Sectors {
        Sectors(self.0 / SECTOR_BYTES)
    }
}

impl Sectors {
    /// This many sectors as a size \[bytes\].
    #[inline]
    pub const fn bytes(self) -> Bytes {
        Bytes(self.0 * SECTOR_BYTES)
    }
}

impl Add<SimDuration> for SimTime {
    type Output = Self;
    /// Saturates at the end of time, about 584 years, which a draw from an unbounded distribution may reach.
    #[inline]
    fn add(self, rhs: SimDuration) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign<SimDuration> for SimTime {
    #[inline]
    fn add_assign(&mut self, rhs: SimDuration) {
        *self = *self + rhs;
    }
}

impl Add for SimDuration {
    type Output = Self;
    /// Saturates, as times do.
    #[inline]
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for SimDuration {
    #[inline]
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl Sub for SimDuration {
    type Output = Self;
    /// Saturates at zero: a duration is never negative.
    #[inline]
    fn sub(self, rhs: Self) -> Self {
        Self(self.0.saturating_sub(rhs.0))
    }
}

impl Mul<u64> for SimDuration {
    type Output = Self;
    /// Saturates, as sums do.
    #[inline]
    fn mul(self, rhs: u64) -> Self {
        Self(self.0.saturating_mul(rhs))
    }
}

impl Add<Sectors> for Lba {
    type Output = Self;
    #[inline]
    fn add(self, rhs: Sectors) -> Self {
        Self(self.0 + rhs.0)
    }
}
