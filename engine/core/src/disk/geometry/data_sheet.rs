//! Geometry from the figures of a data sheet: capacity, cylinders and media rates.

use super::{Geometry, GeometryError, SwitchTimes};
use crate::config::Zone;
use crate::units::{Bytes, SECTOR_BYTES, SimDuration};

/// Maximum recording surfaces that [`Geometry::from_rates`] derives: 32 platters, more than any disk ever sold.
pub const MAX_SURFACES: u32 = 64;

impl Geometry {
    /// A geometry with the capacity and media rates of a data sheet; the rest is derived.
    ///
    /// The rate falls linearly from the outer to the inner zone, cylinders are distributed evenly over the zones, and the
    /// surfaces are the fewest that hold the capacity. Since surfaces are whole, they would usually hold more, so *fewer
    /// cylinders* than given are used (see [`Self::cylinders`]): the capacity fills the disk from edge to edge, and the
    /// average and full-stroke seeks of the data sheet are over the data.
    /// `outer_rate`, `inner_rate` \[bytes/s\].
    ///
    /// # Errors
    /// A count of zero, reversed rates, less than one sector per revolution, more zones than cylinders, or a capacity
    /// that needs more than [`MAX_SURFACES`].
    pub fn from_rates(
        capacity: Bytes,
        cylinders: u32,
        outer_rate: u64,
        inner_rate: u64,
        zones: u32,
        times: SwitchTimes,
    ) -> Result<Self, GeometryError> {
        let wanted = capacity.sectors().0;
        for (what, count) in [("capacity", wanted), ("cylinders", cylinders.into()), ("zones", zones.into())]
        {
            if count == 0 {
                return Err(GeometryError::Zero { what });
            }
        }
        if outer_rate < inner_rate {
            return Err(GeometryError::RatesReversed { outer: outer_rate, inner: inner_rate });
        }
        if zones > cylinders {
            return Err(GeometryError::TooManyZones { zones, cylinders });
        }
        let per_track =
            |zone: u32| sectors_per_revolution(outer_rate, inner_rate, zone, zones, times.revolution);
        let shared = |cylinders: u32| {
            (0..zones).map(move |zone| {
                Zone::new(cylinders / zones + u32::from(zone < cylinders % zones), per_track(zone))
            })
        };
        let on_surface = |cylinders: u32| -> u64 {
            shared(cylinders).map(|zone| u64::from(zone.cylinders) * u64::from(zone.sectors_per_track)).sum()
        };
        let per_surface = on_surface(cylinders);
        if per_surface == 0 {
            return Err(GeometryError::Zero { what: "sectors per track (rate x revolution / 512)" });
        }
        let surfaces = wanted.div_ceil(per_surface);
        if surfaces > u64::from(MAX_SURFACES) {
            return Err(GeometryError::TooManySurfaces {
                capacity: capacity.0,
                surfaces,
                per_surface: per_surface * SECTOR_BYTES,
            });
        }
        let (mut least, mut enough) = (zones, cylinders);
        while least < enough {
            let middle = least + (enough - least) / 2;
            if on_surface(middle) * surfaces >= wanted { enough = middle } else { least = middle + 1 }
        }
        let mut geometry = Self::from_zones(surfaces as u32, &shared(enough).collect::<Vec<_>>(), times)?;
        geometry.sectors = geometry.sectors.min(wanted);
        Ok(geometry)
    }
}

/// Sectors per revolution of zone `zone` of `zones`, rounded.
fn sectors_per_revolution(outer: u64, inner: u64, zone: u32, zones: u32, revolution: SimDuration) -> u32 {
    // Twice the rate times (zones - 1), so that a single zone gets the mean of the two rates.
    let (steps, step) = if zones == 1 { (2, 1) } else { (u128::from(zones - 1), u128::from(zone)) };
    let rate_in_steps = u128::from(outer) * steps - u128::from(outer - inner) * step;
    let unit = u128::from(SECTOR_BYTES) * 1_000_000_000 * steps;
    ((rate_in_steps * u128::from(revolution.0) + unit / 2) / unit) as u32
}
