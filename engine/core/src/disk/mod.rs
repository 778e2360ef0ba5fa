//! Devices: hard disks, SSDs and abstract servers, which serve the I/Os of an array.
//!
//! ```text
//!   submit ──► queue (foreground | background) ──► in service ──► done
//!              order: SPTF, SSTF, LOOK, C-LOOK, FCFS     seek, rotation, transfer
//! ```

mod buffer;
pub mod drive;
pub mod geometry;
mod order;
mod prefetch;
mod queue;
pub mod replay;
pub mod seek;
mod server;
mod service;
pub mod ssd;
mod usage;

use std::ops::Range;
use std::sync::Arc;

use crate::config;
use crate::event::{Event, EventQueue};
use crate::issue::Issue;
use crate::raid::{Layout, LayoutError};
use crate::rng::{Purpose, RandomStream};
use crate::units::{Lba, Sectors, SimDuration, SimTime};

pub use drive::{Drive, DriveModel};
pub use server::Server;
pub use ssd::{FlashCounts, Ssd, SsdModel};
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
    /// Whether it yields to foreground I/Os (as destage and read-ahead do).
    pub is_background: bool,
    /// Whether it completes only on the media, independent of the device's cache. A forced write of no sectors is a flush:
    /// it completes when all writes completed before its arrival are on the media.
    pub is_forced: bool,
    /// Array operation that it belongs to.
    pub operation: u32,
}

/// An I/O that a device has served.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// The I/O.
    pub io: Io,
    /// From when on its data could move: those of a write when the device had the command, those of a read when its service
    /// began.
    pub since: SimTime,
}

/// Schedules the events of a device.
#[derive(Debug)]
pub struct Agenda<'a> {
    events: &'a mut EventQueue,
    device: u32,
}

impl<'a> Agenda<'a> {
    /// The agenda of the device with this index.
    #[inline]
    pub const fn new(events: &'a mut EventQueue, device: u32) -> Self {
        Self { events, device }
    }

    /// Schedules a call of [`BlockDevice::act`] with `slot` at `time`.
    #[inline]
    pub fn schedule(&mut self, time: SimTime, slot: u32) {
        self.events.schedule(time, Event::Device { device: self.device, slot });
    }
}

/// A device that serves the I/Os of an array: a hard disk, an SSD, an abstract server.
///
/// ```text
///   submit ─► agenda: slot at a time ─► act(slot) ─► the I/O that it completes, if any; more on the agenda
/// ```
///
/// Each entry of the agenda leads to exactly one call of [`Self::act`], at its time and with its slot. The device defines
/// its slots: an I/O in service, a step of one, or work that no I/O waits for.
pub trait BlockDevice {
    /// Accepts `io` at `now`.
    fn submit(&mut self, now: SimTime, io: Io, agenda: &mut Agenda<'_>);

    /// Acts on `slot` at `now`; returns the I/O that this completes, if any.
    /// Background I/Os wait for foreground ones if `yields` is true.
    fn act(&mut self, now: SimTime, slot: u32, yields: bool, agenda: &mut Agenda<'_>) -> Option<Served>;

    /// Usage of the device.
    fn usage(&self) -> &Usage;

    /// Usage of the device, to advance or reset.
    fn usage_mut(&mut self) -> &mut Usage;

    /// The cylinder of `lba`; 0 without an arm.
    fn cylinder(&self, _lba: Lba) -> u32 {
        0
    }

    /// The cylinder of the arm; 0 without an arm.
    fn arm(&self) -> u32 {
        0
    }

    /// Whether a completed write can be lost with the power, so that flushes must reach this device.
    fn is_volatile(&self) -> bool {
        false
    }

    /// Checks the invariants of the device, in debug builds.
    fn check(&self) {}

    /// The power fails at `now`: calls `lose` with each run of sectors (first, number) of completed writes that are not on the
    /// media. Afterwards the device is empty and idle; the caller removes its events.
    fn lose_power(&mut self, now: SimTime, lose: &mut dyn FnMut(Lba, Sectors));

    /// The device fails permanently at `now`: returns its unfinished I/Os. Afterwards it is empty and idle; the caller
    /// removes its events.
    fn fail(&mut self, now: SimTime) -> Vec<Io>;
}

/// A device of any kind.
#[derive(Debug)]
pub enum Device {
    /// A hard disk.
    Drive(Drive),
    /// An abstract server.
    Server(Server),
    /// A solid-state disk.
    Ssd(Box<Ssd>),
}

/// Forwards a call to the device in the enum, by static dispatch.
macro_rules! hand_on {
    ($self:ident, $device:ident => $call:expr) => {
        match $self {
            Self::Drive($device) => $call,
            Self::Server($device) => $call,
            Self::Ssd($device) => $call,
        }
    };
}

impl BlockDevice for Device {
    #[expect(clippy::inline_always, reason = "the call of the device is the only one of an I/O")]
    #[inline(always)]
    fn submit(&mut self, now: SimTime, io: Io, agenda: &mut Agenda<'_>) {
        hand_on!(self, device => device.submit(now, io, agenda));
    }

    #[inline]
    fn act(&mut self, now: SimTime, slot: u32, yields: bool, agenda: &mut Agenda<'_>) -> Option<Served> {
        hand_on!(self, device => device.act(now, slot, yields, agenda))
    }

    #[inline]
    fn usage(&self) -> &Usage {
        hand_on!(self, device => device.usage())
    }

    #[inline]
    fn usage_mut(&mut self) -> &mut Usage {
        hand_on!(self, device => device.usage_mut())
    }

    #[inline]
    fn cylinder(&self, lba: Lba) -> u32 {
        hand_on!(self, device => device.cylinder(lba))
    }

    #[inline]
    fn arm(&self) -> u32 {
        hand_on!(self, device => device.arm())
    }

    fn check(&self) {
        hand_on!(self, device => device.check());
    }

    fn is_volatile(&self) -> bool {
        hand_on!(self, device => device.is_volatile())
    }

    fn lose_power(&mut self, now: SimTime, lose: &mut dyn FnMut(Lba, Sectors)) {
        hand_on!(self, device => device.lose_power(now, lose));
    }

    fn fail(&mut self, now: SimTime) -> Vec<Io> {
        hand_on!(self, device => device.fail(now))
    }
}

/// Builds the devices of one array behind `back_end`, all of one model and each with its own random streams.
///
/// # Errors
/// The device is impossible; see [`layout_of`].
pub fn build(
    array: &config::Array,
    back_end: Option<&config::BackEnd>,
    indices: Range<u32>,
    seed: u64,
    replicate: u32,
) -> Result<Vec<Device>, LayoutProblem> {
    match &array.disk {
        config::Device::Disk(disk) => {
            let model = DriveModel::shared(disk)?;
            Ok(indices
                .map(|index| {
                    let name = format!("{}/disk", array.name);
                    let mut stream = RandomStream::named(seed, replicate, &name, index, Purpose::Spindle);
                    Device::Drive(Drive::new(Arc::clone(&model), disk, &mut stream))
                })
                .collect())
        }
        config::Device::Server(server) => Ok(indices
            .map(|index| {
                let name = format!("{}/disk", array.name);
                let stream = RandomStream::named(seed, replicate, &name, index, Purpose::Service);
                Device::Server(Server::new(server, stream))
            })
            .collect()),
        config::Device::Ssd(ssd) => {
            let (tunnel, fetch) = back_end.map_or_else(Default::default, config::BackEnd::sata_overheads);
            let model = Arc::new(SsdModel::new(ssd, array.disks)?.behind(tunnel, fetch));
            let name = format!("{}/disk", array.name);
            let state =
                model.initial_state(RandomStream::named(seed, replicate, &array.name, 0, Purpose::Flash));
            Ok(indices
                .map(|index| {
                    let stream = RandomStream::named(seed, replicate, &name, index, Purpose::Flash);
                    let retries = RandomStream::named(seed, replicate, &name, index, Purpose::Service);
                    Device::Ssd(Box::new(Ssd::new(Arc::clone(&model), &state, stream, retries)))
                })
                .collect())
        }
    }
}

/// Error of an impossible array.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LayoutProblem {
    /// The disk's tracks and sectors are impossible.
    #[error("{0}")]
    Geometry(#[from] geometry::GeometryError),
    /// The disk's seek curve is impossible.
    #[error("{0}")]
    Seek(#[from] seek::SeekError),
    /// The SSD's flash is impossible.
    #[error("{0}")]
    Flash(#[from] ssd::FlashError),
    /// The RAID level does not support the number or size of the disks.
    #[error("{0}")]
    Layout(#[from] LayoutError),
}

impl LayoutProblem {
    /// The issue for the array at `place`.
    pub fn issue(&self, place: &str) -> Issue {
        let (code, field) = match self {
            Self::Geometry(_) => ("scenario.impossible-geometry", "disk.geometry"),
            Self::Seek(_) => ("scenario.impossible-seek-curve", "disk.seek"),
            Self::Flash(error) => (error.code, error.field),
            Self::Layout(LayoutError::Disks { .. }) => ("scenario.raid-disk-count", "disks"),
            Self::Layout(LayoutError::Groups { .. }) => ("scenario.raid-disk-count", "groups"),
            Self::Layout(LayoutError::StripeUnit { .. }) => {
                ("scenario.stripe-unit-above-disk", "stripe_unit")
            }
        };
        Issue::new(code, format!("{place}.{field}"), self.to_string())
    }
}

/// The layout of the data of an array on its devices.
///
/// # Errors
/// The array or its device is impossible.
pub fn layout_of(array: &config::Array) -> Result<Layout, LayoutProblem> {
    let sectors = match &array.disk {
        config::Device::Disk(disk) => DriveModel::shared(disk)?.geometry().sectors(),
        config::Device::Server(server) => server.capacity.sectors(),
        config::Device::Ssd(ssd) => SsdModel::new(ssd, array.disks)?.sectors(),
    };
    Ok(Layout::grouped(array.raid, array.disks, array.groups, array.stripe_unit.sectors(), sectors)?)
}

/// Tolerance between the computed and the scheduled time of an I/O: the rounding of angles and times to whole
/// nanoseconds, far below the gap between two sectors.
pub(crate) const ROUNDING: SimDuration = SimDuration(64);

/// The number of sectors of an I/O as a count.
#[inline]
pub(crate) const fn count(io: &Io) -> Sectors {
    Sectors(io.sectors as u64)
}
