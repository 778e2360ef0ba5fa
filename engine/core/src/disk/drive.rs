//! A disk drive: arm, spindle, media, buffer and queue.
//!
//! Model of an I/O on the media \[all ns\]; see `service.rs` for the buffer:
//!
//! ```text
//!   service = command + move + wait + max(media, bus)
//!   move    = seek(distance) | head switch | settle | 0, for a write plus write overhead, and write settle if it moves
//!   wait    = (angle of the first sector - angle under the head) mod revolution
//!   max     = of a read that is sent late: max(media, part of the media + bus); of a write whose data come early:
//!             media, and as many revolutions as the data come later
//! ```
//!
//! The command time of an I/O that waited in the queue overlaps the previous I/O. Each drive's spindle has its own phase
//! and speed. Not modelled: thermal recalibration, retries.
//!
//! Ruemmler, Wilkes: An introduction to disk drive modeling, IEEE Computer 27(3), 1994.

use std::cell::RefCell;
use std::sync::Arc;

use super::buffer::Buffer;
use super::geometry::{Geometry, Pace, SwitchTimes};
use super::queue::Class;
use super::seek::SeekCurve;
use super::{Agenda, BlockDevice, Io, LayoutProblem, Served, Usage};
use crate::config::{self, DiskGeometry, QueuePolicy, Seek};
use crate::divisor::Divisor;
use crate::rng::RandomStream;
use crate::transfer_rate::TransferRate;
use crate::units::{Lba, Sectors, SimDuration, SimTime};

/// Models cached per thread: a sweep has few kinds of drives, and tabulating a seek curve takes longer than all other
/// checks of a configuration.
const KEPT: usize = 8;

/// The part that all drives of one kind share.
#[derive(Debug)]
pub struct DriveModel {
    pub(super) geometry: Geometry,
    pub(super) seek: SeekCurve,
    revolution: SimDuration,
    pub(super) write_settle: u64,
    pub(super) write_overhead: u64,
    /// Time between a seek and a read or a write that does not continue the last I/O.
    pub(super) after_seek: [u64; 2],
    pub(super) head_switch: u64,
    /// Minimum time to another surface of the same cylinder before a read.
    pub(super) read_switch: u64,
    pub(super) read_settle: u64,
    pub(super) command_time: SimDuration,
    pub(super) bus_rate: Option<TransferRate>,
    /// Share of a read that passes the head before the interface sends the first of it.
    pub(super) send_after: f64,
    /// Whether the interface takes the data of a write from its command on.
    pub(super) takes_early: bool,
    pub(super) policy: QueuePolicy,
    pub(super) age_limit: Option<SimDuration>,
    /// By how much a younger I/O has to be nearer \[ns\].
    pub(super) near_tie: u64,
    /// Pace of a long transfer, by zone.
    pub(super) paces: Box<[Pace]>,
}

impl DriveModel {
    /// Derives tracks and seek curve from a configuration.
    ///
    /// # Errors
    /// The geometry or seek curve is impossible.
    pub fn new(disk: &config::Disk) -> Result<Self, LayoutProblem> {
        let revolution = disk.rpm.revolution();
        let single_cylinder_seek = single_cylinder_seek(&disk.seek);
        let longest = single_cylinder_seek.max(disk.head_switch) + disk.write_settle;
        // A fast spindle passes a skew in less time.
        let margin = SimDuration((longest.0 as f64 * disk.speed_tolerance.0).ceil() as u64);
        let times = SwitchTimes {
            revolution,
            head_switch: disk.head_switch,
            single_cylinder_seek,
            write_settle: disk.write_settle + margin,
        };
        let geometry = match &disk.geometry {
            DiskGeometry::Zones { surfaces, zones } => Geometry::from_zones(*surfaces, zones, times),
            DiskGeometry::Rates { capacity, cylinders, outer_rate, inner_rate, zones } => {
                Geometry::from_rates(*capacity, *cylinders, outer_rate.0, inner_rate.0, *zones, times)
            }
        }?;
        let cylinders = geometry.cylinders();
        let seek = match &disk.seek {
            Seek::Figures { track_to_track, average, full_stroke } => {
                SeekCurve::from_figures(*track_to_track, *average, *full_stroke, cylinders)?
            }
            Seek::Table { points } => {
                let points: Vec<_> = points.iter().map(|point| (point.distance, point.time)).collect();
                SeekCurve::from_table(&points, cylinders)?
            }
            Seek::TwoPiece { boundary, a, b, c, e } => {
                let [a, b, c, e] = [a, b, c, e].map(|time| time.0 as f64);
                SeekCurve::two_piece(*boundary, a, b, c, e, cylinders)?
            }
        };
        let paces = (0..geometry.zones().len() as u32).map(|zone| geometry.pace(zone, revolution)).collect();
        Ok(Self {
            geometry,
            seek,
            revolution,
            paces,
            write_settle: disk.write_settle.0,
            write_overhead: disk.write_overhead.0,
            after_seek: [0, disk.write_settle.0 + disk.write_overhead.0],
            head_switch: disk.head_switch.0,
            read_switch: disk.head_switch.max(disk.read_settle).0,
            read_settle: disk.read_settle.0,
            command_time: disk.command_time,
            bus_rate: disk.bus_rate.map(TransferRate::from),
            send_after: disk.send_after.0,
            takes_early: disk.early_write_data,
            policy: disk.queue.policy,
            age_limit: disk.queue.age_limit,
            near_tie: (revolution.0 as f64 * disk.queue.near_tie_fraction.0 + 0.5) as u64,
        })
    }

    /// [`Self::new`] with a cache of the last few configurations.
    ///
    /// # Errors
    /// The geometry or seek curve is impossible.
    pub fn shared(disk: &config::Disk) -> Result<Arc<Self>, LayoutProblem> {
        thread_local! {
            static MODELS: RefCell<Vec<(config::Disk, Arc<DriveModel>)>> = const { RefCell::new(Vec::new()) };
        }
        MODELS.with_borrow_mut(|models| {
            if let Some((_, model)) = models.iter().find(|(known, _)| known == disk) {
                return Ok(Arc::clone(model));
            }
            let model = Arc::new(Self::new(disk)?);
            if models.len() == KEPT {
                models.remove(0);
            }
            models.push((disk.clone(), Arc::clone(&model)));
            Ok(model)
        })
    }

    /// Tracks and sectors.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Seek time against distance.
    pub const fn seek(&self) -> &SeekCurve {
        &self.seek
    }
}

fn single_cylinder_seek(seek: &Seek) -> SimDuration {
    match seek {
        Seek::Figures { track_to_track, .. } => *track_to_track,
        Seek::Table { points } => points.first().map_or(SimDuration::ZERO, |point| point.time),
        Seek::TwoPiece { a, b, .. } => *a + *b,
    }
}

/// One disk drive.
#[derive(Debug)]
pub struct Drive {
    pub(super) model: Arc<DriveModel>,
    pub(super) revolution: Divisor,
    pub(super) phase: u64,
    pub(super) cylinder: u32,
    pub(super) surface: u32,
    /// Whether the last I/O on the track was a write.
    pub(super) has_written: bool,
    /// Sector after the last one that passed the head.
    pub(super) head_lba: Lba,
    /// Sector after the last I/O, from which LOOK and C-LOOK continue.
    pub(super) next_lba: Lba,
    /// Whether LOOK moves to higher addresses.
    pub(super) is_upwards: bool,
    pub(super) current: Option<Served>,
    pub(super) foreground: Class,
    pub(super) background: Class,
    pub(super) buffer: Option<Box<Buffer>>,
    pub(super) usage: Usage,
}

impl BlockDevice for Drive {
    #[inline]
    fn cylinder(&self, lba: Lba) -> u32 {
        self.model.geometry.locate(lba).cylinder
    }

    #[inline]
    fn arm(&self) -> u32 {
        self.cylinder
    }

    #[inline]
    fn submit(&mut self, now: SimTime, io: Io, agenda: &mut Agenda<'_>) {
        self.usage.arrive(now);
        let waiting = self.place(now, io);
        if self.current.is_none() {
            agenda.schedule(self.start(now, waiting, true), 0);
        } else if io.is_background {
            self.background.push(waiting);
        } else {
            self.foreground.push(waiting);
        }
    }

    /// The arm keeps its position, and the spindle its phase.
    fn lose_power(&mut self, now: SimTime, lose: &mut dyn FnMut(Lba, Sectors)) {
        self.usage.cut(now);
        if let Some(mut buffer) = self.buffer.take() {
            self.idle(&mut buffer, now);
            buffer.lose_power(now, |first, end| lose(Lba(first), Sectors(end - first)));
            self.buffer = Some(buffer);
        }
        self.current = None;
        self.foreground.clear();
        self.background.clear();
    }

    fn fail(&mut self, now: SimTime) -> Vec<Io> {
        self.usage.cut(now);
        if let Some(buffer) = &mut self.buffer {
            buffer.lose_power(now, |_, _| {});
        }
        let waiting = self.foreground.drain().chain(self.background.drain()).map(|waiting| waiting.io);
        self.current.take().map(|served| served.io).into_iter().chain(waiting).collect()
    }

    #[inline]
    fn act(&mut self, now: SimTime, _slot: u32, yields: bool, agenda: &mut Agenda<'_>) -> Option<Served> {
        self.usage.end(now);
        let Some(served) = self.current.take() else {
            unreachable!("a drive finishes only what it has started")
        };
        if let Some(next) = self.choose(now, yields) {
            agenda.schedule(self.start(now, next, false), 0);
        }
        Some(served)
    }

    fn is_volatile(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.caches_writes)
    }

    #[inline]
    fn usage(&self) -> &Usage {
        &self.usage
    }

    #[inline]
    fn usage_mut(&mut self) -> &mut Usage {
        &mut self.usage
    }
}

impl Drive {
    /// Builds in a defect: forced writes complete in the buffer.
    #[cfg(all(test, debug_assertions))]
    pub fn ignore_force(&mut self) {
        if let Some(buffer) = &mut self.buffer {
            buffer.ignores_force = true;
        }
    }

    /// A drive of `model`; the phase and speed of its spindle are drawn from `stream`.
    pub fn new(model: Arc<DriveModel>, config: &config::Disk, stream: &mut RandomStream) -> Self {
        let offset = (2.0 * stream.unit() - 1.0) * config.speed_tolerance.0;
        let phase = stream.unit();
        let nominal = model.revolution.0;
        let (revolution, phase) = if config.synchronised_spindles {
            (nominal, 0)
        } else {
            let revolution = (nominal as f64 / (1.0 + offset) + 0.5) as u64;
            (revolution, (phase * revolution as f64) as u64)
        };
        Self {
            model,
            revolution: Divisor::new(revolution),
            phase,
            cylinder: 0,
            surface: 0,
            has_written: false,
            head_lba: Lba(0),
            next_lba: Lba(0),
            is_upwards: true,
            current: None,
            foreground: Class::new(&config.queue),
            background: Class::new(&config.queue),
            buffer: config
                .buffer
                .as_ref()
                .map(|buffer| Box::new(Buffer::new(buffer, config.command_time, stream.clone()))),
            usage: Usage::new(1),
        }
    }
}

#[cfg(test)]
mod tests;
