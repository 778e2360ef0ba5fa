//! Geometry from the figures of a data sheet: capacity, cylinders and sustained rates.

use super::{Geometry, GeometryError, SwitchTimes};
use crate::config::Zone;
use crate::units::{Bytes, SECTOR_BYTES};

/// Maximum recording surfaces that [`Geometry::from_rates`] derives: 32 platters, more than any disk ever sold.
pub const MAX_SURFACES: u32 = 64;

impl Geometry {
    /// A geometry with the capacity and sustained rates of a data sheet; the rest is derived.
    ///
    /// A sustained rate includes the head and cylinder switches of a long transfer, so the sectors per track are as many
    /// more as the skews take time: a cylinder of S surfaces passes in S turns, S - 1 track skews and a cylinder skew.
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
        let rates = Rates { outer: outer_rate, inner: inner_rate, zones };
        let shared = |cylinders: u32, surfaces: u32| {
            (0..zones).map(move |zone| {
                let cylinders = cylinders / zones + u32::from(zone < cylinders % zones);
                Zone::new(cylinders, rates.sectors_per_track(zone, surfaces, times))
            })
        };
        let on_surface = |cylinders: u32, surfaces: u32| -> u64 {
            let sectors = |zone: Zone| u64::from(zone.cylinders) * u64::from(zone.sectors_per_track);
            shared(cylinders, surfaces).map(sectors).sum()
        };
        if on_surface(cylinders, MAX_SURFACES) == 0 {
            return Err(GeometryError::Zero { what: "sectors per track (rate x revolution / 512)" });
        }
        let enough = |surfaces: &u32| on_surface(cylinders, *surfaces) * u64::from(*surfaces) >= wanted;
        let Some(surfaces) = (1..=MAX_SURFACES).find(enough) else {
            let per_surface = on_surface(cylinders, MAX_SURFACES);
            return Err(GeometryError::TooManySurfaces {
                capacity: capacity.0,
                surfaces: wanted.div_ceil(per_surface),
                per_surface: per_surface * SECTOR_BYTES,
            });
        };
        let (mut least, mut enough) = (zones, cylinders);
        while least < enough {
            let middle = least + (enough - least) / 2;
            let is_enough = on_surface(middle, surfaces) * u64::from(surfaces) >= wanted;
            if is_enough { enough = middle } else { least = middle + 1 }
        }
        let mut geometry = Self::from_zones(surfaces, &shared(enough, surfaces).collect::<Vec<_>>(), times)?;
        geometry.sectors = geometry.sectors.min(wanted);
        Ok(geometry)
    }
}

/// Sustained rates of a data sheet \[bytes/s\], and the zones between them.
#[derive(Clone, Copy)]
struct Rates {
    outer: u64,
    inner: u64,
    zones: u32,
}

impl Rates {
    /// Sectors per track of a zone, rounded, on a disk of this many surfaces.
    fn sectors_per_track(self, zone: u32, surfaces: u32, times: SwitchTimes) -> u32 {
        // Twice the rate times (zones - 1), so that a single zone gets the mean of the two rates.
        let (steps, step) =
            if self.zones == 1 { (2, 1) } else { (u128::from(self.zones - 1), u128::from(zone)) };
        let rate_in_steps = u128::from(self.outer) * steps - u128::from(self.outer - self.inner) * step;
        let surfaces = u128::from(surfaces);
        let switches = (surfaces - 1) * u128::from((times.head_switch + times.write_settle).0)
            + u128::from((times.cylinder_switch() + times.write_settle).0);
        let cylinder = surfaces * u128::from(times.revolution.0) + switches;
        let unit = u128::from(SECTOR_BYTES) * 1_000_000_000 * steps * surfaces;
        ((rate_in_steps * cylinder + unit / 2) / unit) as u32
    }
}
