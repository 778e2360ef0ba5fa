//! Devices: what serves an I/O at the bottom of an array.
//!
//! ```text
//!   submit ──► queue (foreground | background) ──► in service ──► finish
//!              order: SPTF, SSTF, C-LOOK, FCFS      seek, rotation, transfer
//! ```

pub mod drive;
pub mod geometry;
mod queue;
pub mod seek;
mod server;
mod usage;

use std::sync::Arc;

use crate::config;
use crate::raid::{Layout, LayoutError};
use crate::rng::{Purpose, Stream};
use crate::units::{Lba, Sectors, SimDuration, SimTime};

pub use drive::{Drive, DriveModel};
pub use server::Server;
pub use usage::Usage;

/// One I/O of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// First sector on the device.
    pub lba: Lba,
    /// Number of sectors.
    pub sectors: u32,
    /// Whether it writes.
    pub is_write: bool,
    /// Whether it yields to foreground I/Os (destage and read-ahead).
    pub is_background: bool,
    /// The array operation that it belongs to.
    pub operation: u32,
}

/// An I/O that has gone into service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// The service slot that it occupies.
    pub slot: u32,
    /// When it will be done.
    pub done: SimTime,
}

/// A device of an array.
#[derive(Debug)]
pub enum Device {
    /// A disk with arms and platters.
    Drive(Drive),
    /// An abstract server.
    Server(Server),
}

impl Device {
    /// Takes `io` at `now`; gives when it will be done where it goes into service at once.
    #[inline]
    pub fn submit(&mut self, now: SimTime, io: Io) -> Option<Started> {
        match self {
            Self::Drive(drive) => drive.submit(now, io),
            Self::Server(server) => server.submit(now, io),
        }
    }

    /// Ends the service in `slot` at `now`; gives the I/O and what goes into service next.
    /// Background I/Os wait for foreground ones where `yields` is true.
    #[inline]
    pub fn finish(&mut self, now: SimTime, slot: u32, yields: bool) -> (Io, Option<Started>) {
        match self {
            Self::Drive(drive) => drive.finish(now, yields),
            Self::Server(server) => server.finish(now, slot, yields),
        }
    }

    /// How much the device has been used.
    pub const fn usage(&self) -> &Usage {
        match self {
            Self::Drive(drive) => &drive.usage,
            Self::Server(server) => &server.usage,
        }
    }

    /// How much the device has been used, to be advanced or reset.
    pub const fn usage_mut(&mut self) -> &mut Usage {
        match self {
            Self::Drive(drive) => &mut drive.usage,
            Self::Server(server) => &mut server.usage,
        }
    }

    /// Cylinders between the arm and `lba`; 0 where there is no arm.
    #[inline]
    pub fn distance(&self, lba: Lba) -> u32 {
        match self {
            Self::Drive(drive) => drive.distance(lba),
            Self::Server(_) => 0,
        }
    }
}

/// The devices of one array, all of one model, each with its own random streams.
///
/// # Errors
/// A geometry or a seek curve that cannot exist; see [`layout_of`].
pub fn build(array: &config::Array, seed: u64, replicate: u32) -> Result<Vec<Device>, LayoutProblem> {
    match &array.disk {
        config::Device::Disk(disk) => {
            let model = Arc::new(DriveModel::new(disk)?);
            Ok((0..array.disks)
                .map(|index| {
                    let name = format!("{}/disk", array.name);
                    let mut stream = Stream::named(seed, replicate, &name, index, Purpose::Spindle);
                    Device::Drive(Drive::new(Arc::clone(&model), disk, &mut stream))
                })
                .collect())
        }
        config::Device::Server(server) => Ok((0..array.disks)
            .map(|index| {
                let name = format!("{}/disk", array.name);
                let stream = Stream::named(seed, replicate, &name, index, Purpose::Service);
                Device::Server(Server::new(server, stream))
            })
            .collect()),
    }
}

/// Why an array cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LayoutProblem {
    /// The disk's tracks and sectors are impossible.
    #[error("{0}")]
    Geometry(#[from] geometry::GeometryError),
    /// The disk's seek curve is impossible.
    #[error("{0}")]
    Seek(#[from] seek::SeekError),
    /// The RAID level does not go with the number or the size of the disks.
    #[error("{0}")]
    Layout(#[from] LayoutError),
}

impl LayoutProblem {
    /// The parameter of the array that is at fault.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Geometry(_) => "disk.geometry",
            Self::Seek(_) => "disk.seek",
            Self::Layout(LayoutError::Disks { .. }) => "disks",
            Self::Layout(LayoutError::StripeUnit { .. }) => "stripe_unit",
        }
    }
}

/// How an array lays its data over its devices.
///
/// # Errors
/// The RAID level does not go with the number or the size of the disks, or the disk itself cannot exist.
pub fn layout_of(array: &config::Array) -> Result<Layout, LayoutProblem> {
    let sectors = match &array.disk {
        config::Device::Disk(disk) => DriveModel::new(disk)?.geometry().sectors(),
        config::Device::Server(server) => server.capacity.sectors(),
    };
    Ok(Layout::new(array.raid, array.disks, array.stripe_unit.sectors(), sectors)?)
}

/// The time over which an I/O of a device may be late against its computed place on the track: the rounding of
/// angles and times to whole nanoseconds, far below the gap between two sectors.
pub(crate) const ROUNDING: SimDuration = SimDuration(64);

/// The number of sectors of an I/O as a count.
#[inline]
pub(crate) const fn count(io: &Io) -> Sectors {
    Sectors(io.sectors as u64)
}
