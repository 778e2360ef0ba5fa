//! Service times of one disk for a recorded sequence of requests, one outstanding at a time.
//!
//! ```text
//!   request i ── service ──► done ── gap i ──► request i + 1
//! ```
//!
//! Validates a disk against measurements request by request, with the device, queue and agenda of every run.

use super::{Agenda, BlockDevice as _, Drive, DriveModel, Io, LayoutProblem};
use crate::config;
use crate::event::{Event, EventQueue};
use crate::issue::Issue;
use crate::rng::{Purpose, RandomStream};
use crate::units::{Lba, SimDuration, SimTime};

/// A request of a recorded sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// First sector.
    pub lba: Lba,
    /// Number of sectors.
    pub sectors: u32,
    /// Whether it writes.
    pub is_write: bool,
    /// Time from its completion to the next request.
    pub gap: SimDuration,
}

/// Error of a replay.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// The disk is impossible.
    #[error("{0}")]
    Disk(#[from] LayoutProblem),
    /// A request is empty or beyond the disk.
    #[error("sectors {lba} to {end}; allowed are one or more of the {sectors} sectors of the disk")]
    Beyond {
        /// The request, from 0.
        index: usize,
        /// Its first sector.
        lba: u64,
        /// The sector after its last.
        end: u64,
        /// Sectors of the disk.
        sectors: u64,
    },
}

impl ReplayError {
    /// The issue with its stable code.
    pub fn issue(&self) -> Issue {
        match self {
            Self::Disk(problem) => problem.issue("array"),
            Self::Beyond { index, .. } => {
                Issue::new("disk.bad-request", format!("request {index}"), self.to_string())
            }
        }
    }
}

/// The service time of each request on a disk whose spindle is drawn by `seed`.
///
/// # Errors
/// The disk is impossible, or a request is empty or beyond it.
pub fn service_times(
    disk: &config::Disk,
    seed: u64,
    requests: &[Recorded],
) -> Result<Vec<SimDuration>, ReplayError> {
    let model = DriveModel::shared(disk)?;
    let sectors = model.geometry().sectors().0;
    let mut drive = Drive::new(model, disk, &mut RandomStream::named(seed, 0, "disk", 0, Purpose::Spindle));
    let mut events = EventQueue::new();
    let mut now = SimTime::ZERO;
    let mut times = Vec::with_capacity(requests.len());
    for (index, request) in requests.iter().enumerate() {
        let (lba, end) = (request.lba.0, request.lba.0.saturating_add(u64::from(request.sectors)));
        if end > sectors || end == lba {
            return Err(ReplayError::Beyond { index, lba, end, sectors });
        }
        let done = serve(&mut drive, &mut events, now, request);
        times.push(done.since(now));
        now = done + request.gap;
    }
    Ok(times)
}

/// Serves one request on an idle drive; returns its completion time.
fn serve(drive: &mut Drive, events: &mut EventQueue, now: SimTime, request: &Recorded) -> SimTime {
    let &Recorded { lba, sectors, is_write, .. } = request;
    let io = Io { lba, sectors, is_write, is_background: false, is_forced: false, operation: 0 };
    drive.submit(now, io, &mut Agenda::new(events, 0));
    loop {
        let Some((time, Event::Device { slot, .. })) = events.next() else {
            unreachable!("a drive with an I/O in service has it on its agenda")
        };
        if drive.act(time, slot, false, &mut Agenda::new(events, 0)).is_some() {
            return time;
        }
    }
}
