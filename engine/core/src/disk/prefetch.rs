//! What a drive reads without a command: after a read from the media, and after a hit on what was read ahead.

use super::Io;
use super::buffer::Buffer;
use super::drive::Drive;
use super::geometry::{Location, Pace};
use super::queue::Waiting;
use super::service::Access;
use crate::config::DiskReadAhead;
use crate::units::{Lba, SimDuration, SimTime};

impl Drive {
    /// Starts the read-ahead after a read of `..end` from the media.
    pub(super) fn fill(&self, buffer: &mut Buffer, read: &Waiting, access: &mut Access, end: u64) {
        let disk_end = self.model.geometry.sectors().0;
        let longest = end + buffer.size;
        let (kept, limit) = match buffer.read_ahead {
            DiskReadAhead::Off => {
                buffer.idle_from = access.end;
                buffer.forget(read.io.lba.0, end);
                return;
            }
            DiskReadAhead::Track => return self.fill_track(buffer, read, access, end),
            DiskReadAhead::Segment => (end, longest),
            DiskReadAhead::Stream if buffer.ends_at(read.io.lba.0) => (end, longest),
            DiskReadAhead::Stream => (end, end),
            DiskReadAhead::SegmentOnArrival => {
                let kept = read.io.lba.0 - self.passed(read, access).min(buffer.size);
                (kept, longest)
            }
            DiskReadAhead::TrackEnd => (end, longest.min(self.track_end(end))),
            DiskReadAhead::CylinderEnd => (end, longest.min(self.cylinder_end(end))),
        };
        let pace = self.model.paces[read.location.zone as usize];
        buffer.idle_from = access.end;
        buffer.begin_fill((kept, end), access.end, pace, limit.min(disk_end), None);
    }

    /// The first sector after the track of the last sector of `..end`.
    fn track_end(&self, end: u64) -> u64 {
        end + u64::from(self.model.geometry.locate(Lba(end - 1)).track_left) - 1
    }

    /// The first sector after the cylinder of the last sector of `..end`.
    fn cylinder_end(&self, end: u64) -> u64 {
        let last = self.model.geometry.locate(Lba(end - 1));
        let tracks = u64::from(self.model.geometry.surfaces() - 1 - last.surface);
        end + u64::from(last.track_left) - 1 + tracks * u64::from(last.sectors_per_track)
    }

    /// Sectors of the track that pass after the arrival of the head, before the first one read.
    fn passed(&self, read: &Waiting, access: &Access) -> u64 {
        let sector = self.sector_time(&read.location);
        let passed = (u128::from(access.start.since(access.arrived).0) << 16) / u128::from(sector.max(1));
        (passed as u64).min(u64::from(read.location.sector))
    }

    /// Time of a sector of a track \[ns x 2^-16\].
    fn sector_time(&self, location: &Location) -> u64 {
        (self.revolution.get() << 16) / u64::from(location.sectors_per_track)
    }

    /// Reads the whole track of a read, from the arrival of the head.
    fn fill_track(&self, buffer: &mut Buffer, read: &Waiting, access: &mut Access, end: u64) {
        let first = read.io.lba.0;
        let location = &read.location;
        let disk_end = self.model.geometry.sectors().0;
        let spt = u64::from(location.sectors_per_track);
        let track_start = first - u64::from(location.sector);
        let track_end = (track_start + spt).min(disk_end);
        let pace = Pace { sector: self.sector_time(location), until: disk_end };
        let turned = access.arrived + SimDuration(self.revolution.get());
        if end > track_end {
            // It ends on a later track, where the read-ahead continues.
            let limit = (track_end + (end - track_end).div_ceil(spt) * spt).min(disk_end);
            let kept = first.max(end.saturating_sub(buffer.size));
            buffer.idle_from = access.end;
            buffer.begin_fill((kept, end), access.end, pace, limit, None);
            return;
        }
        // A head that arrives within the run reads its end first, the start a turn later.
        if turned < access.end {
            access.end = turned;
            access.start = access.start.min(turned);
        }
        buffer.idle_from = access.end;
        let room = buffer.size.saturating_sub(end - first);
        let kept = first - self.passed(read, access).min(room);
        let holds_track = buffer.size >= spt && turned > access.end;
        let limit = track_end.min(kept + buffer.size).max(end);
        let whole = holds_track.then_some((turned, track_start));
        buffer.begin_fill((kept, end), access.end, pace, limit, whole);
    }

    /// After a hit on prefetched data, the drive continues as far as there is room.
    pub(super) fn read_on(&self, buffer: &mut Buffer, now: SimTime, sent: u64) {
        let disk_end = self.model.geometry.sectors().0;
        if let Some(next) = buffer.resumes_at(sent, now) {
            if next < disk_end {
                let io = Io {
                    lba: Lba(next),
                    sectors: 1,
                    is_write: false,
                    is_background: true,
                    is_forced: false,
                    operation: 0,
                };
                let waiting = self.place(now, io);
                let moving = self.moving(&waiting);
                let wait = self.positioning(self.turned(now), moving, &waiting);
                let pace = self.model.paces[waiting.location.zone as usize];
                buffer.resume(now + SimDuration(wait), pace, sent, disk_end);
            }
        } else {
            while let Some(next) = buffer.reached_zone(sent).filter(|&next| next < disk_end) {
                buffer.enter_zone(self.model.paces[self.model.geometry.locate(Lba(next)).zone as usize]);
            }
            buffer.make_room(sent, disk_end);
        }
    }
}
