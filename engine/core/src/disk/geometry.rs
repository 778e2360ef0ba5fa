//! Geometry: the locations of the sectors of a zoned disk, and the media time of runs of sectors.
//!
//! ```text
//!   LBN order:  along a track -> over the surfaces of a cylinder -> inwards over the cylinders -> zone after zone
//!
//!   cylinder c      surface 0  |0 1 2 3 4 5 6 7|
//!                   surface 1      |8 9 ...    |      shifted by the track skew, so that the head switch is covered
//!   cylinder c + 1  surface 0            |16 ..|      shifted by the cylinder skew, so that a seek of 1 is covered
//! ```
//!
//! An *angle* is a fraction of one revolution in units of 2^-32; it wraps by itself in `u32` arithmetic. Angles are
//! kept in units of 2^-64 internally, so that rounding does not accumulate over the tracks of a zone.
//!
//! Sectors without data lie at the front and at the end of a zone, at the end of each track, or at the end of each range of
//! cylinders. Sectors are in the order of the diagram: a disk that passes the surfaces of every other cylinder in the
//! opposite order differs only in the numbers of its surfaces.
//!
//! Assumed: constant angular speed, every surface alike, one head active at a time, no slipped sectors among the data. The
//! transfer of a run does not count spare sectors at the ends of zones and ranges.
//! A default skew covers the switch before a write, which settles longer than a read. A switch before a read that a given
//! skew does not cover at nominal speed costs additional whole revolutions (independent of the small speed offset of a
//! spindle, since real skews have a margin for it).
//!
//! Cost: [`Geometry::locate`] is a look-up of the zone and a few multiplications; nothing allocates after construction.

use crate::config::Zone;
use crate::divisor::Divisor;
use crate::units::{Bytes, Lba, SECTOR_BYTES, Sectors, SimDuration};

pub use data_sheet::MAX_SURFACES;
pub use error::GeometryError;
use zone_table::{ZoneTable, data_sectors};

mod data_sheet;
mod error;
mod zone_table;

/// Times that the skews must cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchTimes {
    /// Nominal time of one revolution \[ns\].
    pub revolution: SimDuration,
    /// Time to switch to another head of the same cylinder \[ns\].
    pub head_switch: SimDuration,
    /// Time of a seek to the next cylinder \[ns\], which overlaps the head switch.
    pub single_cylinder_seek: SimDuration,
    /// Additional settling time before a write \[ns\], which default skews cover, so that sequential writes lose no turn.
    pub write_settle: SimDuration,
}

impl SwitchTimes {
    /// Time to the next cylinder before a read.
    fn cylinder_switch(&self) -> SimDuration {
        self.single_cylinder_seek.max(self.head_switch)
    }
}

/// Location of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Cylinder, 0 outermost.
    pub cylinder: u32,
    /// Recording surface (head).
    pub surface: u32,
    /// Sector on its track.
    pub sector: u32,
    /// Sectors on that track.
    pub sectors_per_track: u32,
    /// Angle of the start of the sector \[revolutions x 2^-32\].
    pub angle: u32,
    /// Sectors from this one to the end of its track, inclusive.
    pub track_left: u32,
    /// Zone, 0 outermost.
    pub zone: u32,
}

/// Media time of a contiguous run of sectors, and the position of the heads after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// From the start of the first sector to the end of the last, switches included \[ns\].
    pub time: SimDuration,
    /// Cylinder of the last sector.
    pub cylinder: u32,
    /// Surface of the last sector.
    pub surface: u32,
}

/// How fast a long transfer passes the sectors of a zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Mean time of a sector, switches included \[ns x 2^-16\].
    pub sector: u64,
    /// First sector after the zone.
    pub until: u64,
}

/// The geometry of one kind of disk, immutable and shared by all disks of that kind.
#[derive(Clone, Debug)]
pub struct Geometry {
    tables: Box<[ZoneTable]>,
    zones: Box<[Zone]>,
    /// Zone of the start of each block of `2^block_bits` sectors.
    zone_of_block: Box<[u32]>,
    block_bits: u32,
    surfaces: Divisor,
    cylinders: u32,
    sectors: u64,
}

/// Maximum number of blocks for the look-up of a sector's zone, so that few blocks span two zones.
const BLOCKS: u64 = 1024;

impl Geometry {
    /// The geometry of a disk with known zones, outermost first.
    ///
    /// # Errors
    /// A count of zero, a skew of a whole track or more, or more than 2^32 - 1 tracks.
    pub fn from_zones(surfaces: u32, zones: &[Zone], times: SwitchTimes) -> Result<Self, GeometryError> {
        let counts = [
            ("surfaces", u64::from(surfaces)),
            ("zones", zones.len() as u64),
            ("revolution", times.revolution.0),
        ];
        for (what, count) in counts {
            if count == 0 {
                return Err(GeometryError::Zero { what });
            }
        }
        let cylinders: u64 = zones.iter().map(|zone| u64::from(zone.cylinders)).sum();
        if cylinders.saturating_mul(u64::from(surfaces)) > u64::from(u32::MAX) {
            return Err(GeometryError::TooManyTracks { cylinders, surfaces });
        }
        let tracks = |zone: &Zone| u128::from(zone.cylinders) * u128::from(surfaces);
        let bytes =
            |zone: &Zone| tracks(zone) * u128::from(zone.sectors_per_track) * u128::from(SECTOR_BYTES);
        let bytes: u128 = zones.iter().map(bytes).sum();
        if bytes > u128::from(Bytes::LARGEST.0) {
            return Err(GeometryError::TooLarge { bytes });
        }
        let mut tables = Vec::with_capacity(zones.len());
        let mut resolved = Vec::with_capacity(zones.len());
        let (mut first_sector, mut first_cylinder, mut base_angle) = (0_u64, 0_u32, 0_u64);
        for zone in zones {
            let (mut table, zone) =
                ZoneTable::new(zone, surfaces, times, first_sector, first_cylinder, base_angle)?;
            first_sector += data_sectors(&zone, surfaces)?;
            table.end_sector = first_sector;
            first_cylinder += zone.cylinders;
            base_angle = base_angle.wrapping_add(u64::from(zone.cylinders).wrapping_mul(table.cylinder_step));
            tables.push(table);
            resolved.push(zone);
        }
        let block_bits = (first_sector / BLOCKS).checked_ilog2().map_or(0, |bits| bits + 1);
        let zone_of = |sector: u64| tables.partition_point(|zone| zone.end_sector <= sector) as u32;
        let blocks = ((first_sector - 1) >> block_bits) + 1;
        Ok(Self {
            zone_of_block: (0..blocks).map(|block| zone_of(block << block_bits)).collect(),
            block_bits,
            tables: tables.into(),
            zones: resolved.into(),
            surfaces: Divisor::new(surfaces.into()),
            cylinders: first_cylinder,
            sectors: first_sector,
        })
    }

    /// Sectors on the disk.
    #[inline]
    pub const fn sectors(&self) -> Sectors {
        Sectors(self.sectors)
    }

    /// Cylinders in use.
    #[inline]
    pub const fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// Recording surfaces.
    #[inline]
    pub const fn surfaces(&self) -> u32 {
        self.surfaces.get() as u32
    }

    /// The zones, outermost first, with the effective skews (never `None`).
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// The pace of a long transfer in a zone.
    pub(super) fn pace(&self, zone: u32, revolution: SimDuration) -> Pace {
        let table = &self.tables[zone as usize];
        let (surfaces, sectors) = (u128::from(self.surfaces()), u128::from(table.sectors_per_track.get()));
        // Of one cylinder and the step to the next, in units of 2^-32 revolution.
        let track = (u128::from(table.sector_angle) * sectors) >> 32;
        let angle = surfaces * track
            + (surfaces - 1) * u128::from(table.track_switch)
            + u128::from(table.cylinder_switch);
        let time = (angle * u128::from(revolution.0)) >> 16;
        let sector = (time / (surfaces * sectors)).min(u128::from(u64::MAX)) as u64;
        Pace { sector, until: table.end_sector.min(self.sectors) }
    }

    /// The location of the sector at `lba`. Precondition: `lba` is below [`Self::sectors`].
    #[inline]
    pub fn locate(&self, lba: Lba) -> Location {
        debug_assert!(lba.0 < self.sectors, "sector {} of {}", lba.0, self.sectors);
        let mut index = self.zone_of_block[(lba.0 >> self.block_bits) as usize] as usize;
        while lba.0 >= self.tables[index].end_sector {
            index += 1;
        }
        let zone = &self.tables[index];
        let (track, sector) = zone.track_of(lba.0 - zone.first_sector);
        let sectors_per_track = zone.sectors_per_track.get() as u32;
        let (cylinder, surface) = self.surfaces.div_rem(track);
        let angle = zone
            .base_angle
            .wrapping_add(cylinder.wrapping_mul(zone.cylinder_step))
            .wrapping_add(surface.wrapping_mul(zone.track_step))
            .wrapping_add(sector.wrapping_mul(zone.sector_angle));
        Location {
            cylinder: zone.first_cylinder + cylinder as u32,
            surface: surface as u32,
            sector: sector as u32,
            sectors_per_track,
            angle: (angle.wrapping_add(1 << 31) >> 32) as u32,
            track_left: sectors_per_track - sector as u32,
            zone: index as u32,
        }
    }

    /// The media time of `sectors` sectors from `start`, with a revolution of `revolution` \[ns\].
    /// Precondition: `sectors` is at least one and the run is within the disk.
    #[inline]
    pub fn transfer(&self, start: &Location, sectors: Sectors, revolution: SimDuration) -> Transfer {
        let zone = &self.tables[start.zone as usize];
        if sectors.0 <= u64::from(start.track_left) {
            // At most a whole turn.
            let angle = sectors.0 * zone.sector_angle;
            let time = (u128::from(angle) * u128::from(revolution.0) + (1 << 63)) >> 64;
            let time = SimDuration(time as u64);
            return Transfer { time, cylinder: start.cylinder, surface: start.surface };
        }
        self.transfer_over_tracks(start, sectors.0, revolution)
    }

    fn transfer_over_tracks(&self, start: &Location, sectors: u64, revolution: SimDuration) -> Transfer {
        let (mut cylinder, mut surface, mut index) = (start.cylinder, start.surface, start.zone as usize);
        let mut zone = &self.tables[index];
        let mut left = sectors - u64::from(start.track_left);
        // In units of 2^-64 revolution; a run over a whole large disk is far below 2^32 revolutions.
        let mut angle = u128::from(start.track_left) * u128::from(zone.sector_angle);
        while left > 0 {
            surface += 1;
            if surface < self.surfaces() {
                angle += u128::from(zone.track_switch) << 32;
            } else {
                angle += u128::from(zone.cylinder_switch) << 32;
                (surface, cylinder) = (0, cylinder + 1);
                if self.tables.get(index + 1).is_some_and(|next| next.first_cylinder == cylinder) {
                    index += 1;
                    zone = &self.tables[index];
                }
            }
            let passed = left.min(zone.sectors_per_track.get());
            angle += u128::from(passed) * u128::from(zone.sector_angle);
            left -= passed;
        }
        // 2^-64 revolution is far finer than a nanosecond: 2^-40 suffices and keeps the product within 128 bits.
        let time = (((angle >> 24) * u128::from(revolution.0) + (1 << 39)) >> 40) as u64;
        Transfer { time: SimDuration(time), cylinder, surface }
    }
}

#[cfg(test)]
mod tests;
