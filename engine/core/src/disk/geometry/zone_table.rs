//! A zone with the values that locating a sector needs.

use super::{GeometryError, SwitchTimes};
use crate::config::Zone;
use crate::divisor::Divisor;
use crate::units::SimDuration;

/// A zone with derived values; angles in units of 2^-64 revolution.
#[derive(Clone, Debug)]
pub(super) struct ZoneTable {
    pub first_sector: u64,
    /// First sector of the next zone.
    pub end_sector: u64,
    pub first_cylinder: u32,
    /// Sectors without data at the start.
    pub front_sectors: u64,
    /// Sectors with data per track.
    pub sectors_per_track: Divisor,
    /// Sectors with data, and tracks, of a range of cylinders with spares.
    pub range: Option<(Divisor, u64)>,
    /// Angle of one sector, rounded down.
    pub sector_angle: u64,
    /// Angle of the first sector of the zone.
    pub base_angle: u64,
    /// Angle between the starts of consecutive tracks of a cylinder, without whole turns.
    pub track_step: u64,
    /// Angle between the starts of consecutive cylinders.
    pub cylinder_step: u64,
    /// Angle passed between the data of two tracks of a cylinder, whole turns included \[revolutions x 2^-32\].
    pub track_switch: u64,
    /// Angle passed between the data of two cylinders, whole turns included \[revolutions x 2^-32\].
    pub cylinder_switch: u64,
}

impl ZoneTable {
    pub fn new(
        zone: &Zone,
        surfaces: u32,
        times: SwitchTimes,
        first_sector: u64,
        first_cylinder: u32,
        base_angle: u64,
    ) -> Result<(Self, Zone), GeometryError> {
        let sectors_per_track = zone.sectors_per_track;
        for (what, count) in
            [("cylinders of a zone", zone.cylinders), ("sectors per track", sectors_per_track)]
        {
            if count == 0 {
                return Err(GeometryError::Zero { what });
            }
        }
        let (track_skew, track_turns) = skew(zone.track_skew, times.head_switch, sectors_per_track, times)?;
        let (cylinder_skew, cylinder_turns) =
            skew(zone.cylinder_skew, times.cylinder_switch(), sectors_per_track, times)?;
        let spares = zone.spares_per_track;
        if spares >= sectors_per_track {
            return Err(GeometryError::AllSpare {
                spare_sectors: spares.into(),
                slots: sectors_per_track.into(),
            });
        }
        let data = sectors_per_track - spares;
        let range = zone.spare_range.map(|range| {
            let tracks = u64::from(range.cylinders) * u64::from(surfaces);
            (Divisor::new((tracks * u64::from(data)).saturating_sub(range.sectors.into()).max(1)), tracks)
        });
        let sector_angle = u64::MAX / u64::from(sectors_per_track);
        let angle = |sectors: u32| u64::from(sectors).wrapping_mul(sector_angle);
        let track_step = angle(track_skew);
        let table = Self {
            first_sector,
            end_sector: first_sector,
            first_cylinder,
            front_sectors: zone.front_sectors,
            sectors_per_track: Divisor::new(data.into()),
            range,
            sector_angle,
            base_angle,
            track_step,
            cylinder_step: u64::from(surfaces - 1)
                .wrapping_mul(track_step)
                .wrapping_add(angle(cylinder_skew)),
            track_switch: (angle(spares + track_skew) >> 32) + (u64::from(track_turns) << 32),
            cylinder_switch: (angle(spares + cylinder_skew) >> 32) + (u64::from(cylinder_turns) << 32),
        };
        Ok((table, Zone { track_skew: Some(track_skew), cylinder_skew: Some(cylinder_skew), ..*zone }))
    }

    /// The track in the zone, and the sector on it, of the data sector `offset` of the zone.
    #[inline]
    pub const fn track_of(&self, offset: u64) -> (u64, u64) {
        let offset = self.front_sectors + offset;
        let Some((data, tracks)) = &self.range else { return self.sectors_per_track.div_rem(offset) };
        let (index, offset) = data.div_rem(offset);
        let (track, sector) = self.sectors_per_track.div_rem(offset);
        (index * *tracks + track, sector)
    }
}

/// Sectors with data of a zone on all surfaces.
pub(super) fn data_sectors(zone: &Zone, surfaces: u32) -> Result<u64, GeometryError> {
    let per_cylinder = u64::from(surfaces) * u64::from(zone.sectors_per_track - zone.spares_per_track);
    let slots = u64::from(zone.cylinders) * per_cylinder;
    let all_spare = |spare_sectors, slots| Err(GeometryError::AllSpare { spare_sectors, slots });
    let mut spares = zone.spare_sectors.saturating_add(zone.front_sectors);
    if let Some(range) = zone.spare_range {
        let last = zone.cylinders % range.cylinders.max(1);
        let shortest = if last > 0 { last } else { range.cylinders.min(zone.cylinders) };
        let slots = u64::from(shortest) * per_cylinder;
        if u64::from(range.sectors) >= slots {
            return all_spare(range.sectors.into(), slots);
        }
        let ranges = u64::from(zone.cylinders.div_ceil(range.cylinders.max(1)));
        spares = spares.saturating_add(ranges * u64::from(range.sectors));
    }
    if spares >= slots { all_spare(spares, slots) } else { Ok(slots - spares) }
}

/// The effective skew \[sectors\], and the whole revolutions lost if it does not cover a switch of `switch` \[ns\].
fn skew(
    given: Option<u32>,
    switch: SimDuration,
    sectors_per_track: u32,
    times: SwitchTimes,
) -> Result<(u32, u32), GeometryError> {
    let per_track = u128::from(sectors_per_track);
    let passed =
        |time: SimDuration| (u128::from(time.0) * per_track).div_ceil(u128::from(times.revolution.0));
    match given {
        Some(skew) if skew >= sectors_per_track => {
            Err(GeometryError::SkewTooLarge { skew, sectors_per_track })
        }
        Some(skew) => Ok((skew, passed(switch).saturating_sub(u128::from(skew)).div_ceil(per_track) as u32)),
        // A switch of a revolution or more is covered by its part beyond whole turns.
        None => {
            let needed = passed(switch + times.write_settle);
            Ok(((needed % per_track) as u32, (needed / per_track) as u32))
        }
    }
}
