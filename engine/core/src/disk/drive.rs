//! A disk drive: arm, spindle, media and the order in which it serves its queue.
//!
//! Model of one I/O \[all ns\]:
//!
//! ```text
//!   service = command + move + wait + max(media, bus)
//!   move    = seek(distance) | head switch | 0, plus write settle for a write
//!   wait    = (angle of the first sector - angle under the head) mod revolution
//! ```
//!
//! The command time of an I/O that waited in the queue is hidden behind the I/O before it. Each drive's spindle has
//! a phase and a speed of its own. Not modelled here: the drive's own buffer and read-ahead, defects, thermal
//! recalibration.
//!
//! Ruemmler, Wilkes: An introduction to disk drive modeling, IEEE Computer 27(3), 1994.

use std::sync::Arc;

use super::geometry::{Geometry, SwitchTimes};
use super::queue::{Class, Waiting};
use super::seek::SeekCurve;
use super::{Agenda, BlockDevice, Io, LayoutProblem, ROUNDING, Usage, count};
use crate::config::{self, DiskGeometry, QueuePolicy, Seek};
use crate::rng::Stream;
use crate::units::{Bandwidth, Lba, Sectors, SimDuration, SimTime};

/// What all drives of one kind share.
#[derive(Debug)]
pub struct DriveModel {
    geometry: Geometry,
    seek: SeekCurve,
    revolution: SimDuration,
    write_settle: u64,
    head_switch: u64,
    command_time: SimDuration,
    bus_rate: Option<Bandwidth>,
    policy: QueuePolicy,
    age_limit: Option<SimDuration>,
}

impl DriveModel {
    /// Derives tracks and seek curve from a configuration.
    ///
    /// # Errors
    /// A geometry or a seek curve that cannot exist.
    pub fn new(disk: &config::Disk) -> Result<Self, LayoutProblem> {
        let revolution = disk.rpm.revolution();
        let times = SwitchTimes {
            revolution,
            head_switch: disk.head_switch,
            single_cylinder_seek: single_cylinder_seek(&disk.seek),
        };
        let geometry = match &disk.geometry {
            DiskGeometry::Zones { surfaces, zones } => Geometry::from_zones(*surfaces, zones, times)?,
            DiskGeometry::Rates { capacity, cylinders, outer_rate, inner_rate, zones } => {
                Geometry::from_rates(*capacity, *cylinders, outer_rate.0, inner_rate.0, *zones, times)?
            }
        };
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
        Ok(Self {
            geometry,
            seek,
            revolution,
            write_settle: disk.write_settle.0,
            head_switch: disk.head_switch.0,
            command_time: disk.command_time,
            bus_rate: disk.bus_rate,
            policy: disk.queue.policy,
            age_limit: disk.queue.age_limit,
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
    model: Arc<DriveModel>,
    revolution: u64,
    phase: u64,
    cylinder: u32,
    surface: u32,
    /// Sector after the last I/O, from which C-LOOK goes on.
    next_lba: Lba,
    current: Option<Io>,
    foreground: Class,
    background: Class,
    usage: Usage,
}

impl BlockDevice for Drive {
    fn distance(&self, lba: Lba) -> u32 {
        self.model.geometry.locate(lba).cylinder.abs_diff(self.cylinder)
    }

    #[inline]
    fn submit(&mut self, now: SimTime, io: Io, agenda: &mut Agenda<'_>) {
        self.usage.arrive(now);
        let location = self.model.geometry.locate(io.lba);
        let angle_ns = ((u64::from(location.angle) * self.revolution) >> 32) as u32;
        let waiting = Waiting { io, arrived: now, location, angle_ns };
        if self.current.is_none() {
            agenda.schedule(self.start(now, &waiting, self.model.command_time), 0);
        } else if io.is_background {
            self.background.push(waiting);
        } else {
            self.foreground.push(waiting);
        }
    }

    /// The arm stays where it is, and the spindle goes on in time.
    fn lose_power(&mut self, now: SimTime, _lose: &mut dyn FnMut(Lba, Sectors)) {
        self.usage.cut(now);
        self.current = None;
        self.foreground.clear();
        self.background.clear();
    }

    fn fail(&mut self, now: SimTime) -> Vec<Io> {
        self.usage.cut(now);
        let waiting = self.foreground.drain().chain(self.background.drain()).map(|waiting| waiting.io);
        self.current.take().into_iter().chain(waiting).collect()
    }

    #[inline]
    fn act(&mut self, now: SimTime, _slot: u32, yields: bool, agenda: &mut Agenda<'_>) -> Option<Io> {
        self.usage.end(now);
        let Some(io) = self.current.take() else { unreachable!("a drive finishes only what it has started") };
        if let Some(next) = self.choose(now, yields) {
            agenda.schedule(self.start(now, &next, SimDuration::ZERO), 0);
        }
        Some(io)
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
    /// A drive of `model`, with the phase and speed of its spindle drawn from `stream`.
    pub fn new(model: Arc<DriveModel>, config: &config::Disk, stream: &mut Stream) -> Self {
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
            revolution,
            phase,
            cylinder: 0,
            surface: 0,
            next_lba: Lba(0),
            current: None,
            foreground: Class::new(config.queue.depth),
            background: Class::new(config.queue.depth),
            usage: Usage::new(1),
        }
    }

    /// Takes the I/O that is to be served next out of the queue.
    #[inline]
    fn choose(&mut self, now: SimTime, yields: bool) -> Option<Waiting> {
        if let Some(limit) = self.model.age_limit {
            for class in [&mut self.foreground, &mut self.background] {
                // The window is in order of arrival, so its first has waited longest.
                if class.window().first().is_some_and(|w| now.since(w.arrived) >= limit) {
                    return Some(class.take(0));
                }
            }
        }
        let foreground = self.best(now, self.foreground.window());
        let background = if self.background.is_empty() || (yields && foreground.is_some()) {
            None
        } else {
            self.best(now, self.background.window())
        };
        match (foreground, background) {
            (Some((index, cost)), other) if other.is_none_or(|(_, least)| cost <= least) => {
                Some(self.foreground.take(index))
            }
            (_, Some((index, _))) => Some(self.background.take(index)),
            _ => None,
        }
    }

    /// The index and cost of the best of `window` under the drive's policy; the first of equals.
    #[inline]
    fn best(&self, now: SimTime, window: &[Waiting]) -> Option<(usize, u64)> {
        let under_head = self.under_head(now);
        let mut best = None;
        for (index, waiting) in window.iter().enumerate() {
            let cost = match self.model.policy {
                QueuePolicy::Sptf => {
                    let moving = self.moving(waiting);
                    // No rotational wait can make up for a move that alone takes longer than the best so far.
                    if best.is_some_and(|(_, least)| moving >= least) {
                        continue;
                    }
                    self.positioning(under_head, moving, waiting)
                }
                QueuePolicy::Sstf => u64::from(waiting.location.cylinder.abs_diff(self.cylinder)),
                // Addresses behind the arm come after all those ahead of it.
                QueuePolicy::CLook => waiting.io.lba.0.wrapping_sub(self.next_lba.0),
                QueuePolicy::Fcfs => waiting.arrived.0,
            };
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((index, cost));
            }
        }
        best
    }

    /// The angle under the head at `time` \[ns after the index mark\].
    #[inline]
    fn under_head(&self, time: SimTime) -> u64 {
        (time.0 + self.phase) % self.revolution
    }

    /// Time to bring the head to the track, settled \[ns\].
    #[inline]
    fn moving(&self, waiting: &Waiting) -> u64 {
        let model = &*self.model;
        let distance = waiting.location.cylinder.abs_diff(self.cylinder);
        let moving = if distance > 0 {
            model.seek.time(distance).0
        } else if waiting.location.surface == self.surface {
            0
        } else {
            model.head_switch
        };
        if waiting.io.is_write { moving + model.write_settle } else { moving }
    }

    /// Time until the first sector is under the head, when the angle `under_head` is under it now and the move takes
    /// `moving` \[ns\].
    #[inline]
    fn positioning(&self, under_head: u64, moving: u64, waiting: &Waiting) -> u64 {
        let mut after_move = under_head + moving;
        // A few subtractions are cheaper than a division: moves last a few revolutions at most, where they are sane.
        if after_move >= 16 * self.revolution {
            after_move %= self.revolution;
        }
        while after_move >= self.revolution {
            after_move -= self.revolution;
        }
        let angle = u64::from(waiting.angle_ns);
        let wait =
            if after_move <= angle { angle - after_move } else { angle + self.revolution - after_move };
        if wait + ROUNDING.0 >= self.revolution { moving } else { moving + wait }
    }

    /// Takes `waiting` into service; gives when it will be done.
    #[inline]
    fn start(&mut self, now: SimTime, waiting: &Waiting, command: SimDuration) -> SimTime {
        let ready = now + command;
        let positioning = self.positioning(self.under_head(ready), self.moving(waiting), waiting);
        let io = waiting.io;
        let model = &*self.model;
        let transfer = model.geometry.transfer(&waiting.location, count(&io), SimDuration(self.revolution));
        let bus = model.bus_rate.map_or(SimDuration::ZERO, |rate| rate.time_for(count(&io).bytes()));
        self.cylinder = transfer.cylinder;
        self.surface = transfer.surface;
        self.next_lba = io.lba + count(&io);
        self.usage.begin(io.is_write);
        self.current = Some(io);
        ready + SimDuration(positioning) + transfer.time.max(bus)
    }
}
