//! A walk from zone to zone of a footprint. All sizes in sectors.

use super::coverage::Coverage;
use super::pass::Pass;
use crate::config::Sampling;
use crate::rng::RandomStream;
use crate::units::{Bytes, Sectors};

/// The zones that all users of a stream share.
#[derive(Clone, Debug)]
pub struct ZoneWalk {
    zone: u64,
    /// Distance between the starts of two zones.
    pitch: u64,
    zones: u64,
    /// Data accessed in a zone before the next follows.
    accessed: u64,
    sampling: Option<Sampling>,
    /// Distance between the places of random addresses.
    unit: u64,
}

/// The position of a user.
#[derive(Clone, Debug, Default)]
pub struct ZoneVisit {
    zone: u64,
    accessed: u64,
    next: u64,
    pass: Pass,
    coverage: Option<Coverage>,
}

impl ZoneWalk {
    /// The walk with zones of a size, the gap after each, and the data accessed in each.
    pub fn new(
        (zone, skip, accessed): (Bytes, Bytes, Bytes),
        sampling: Option<Sampling>,
        unit: Sectors,
        footprint: u64,
    ) -> Self {
        let zone = zone.sectors().0;
        let pitch = zone + skip.sectors().0;
        let zones = footprint.saturating_sub(zone) / pitch + 1;
        Self { zone, pitch, zones, accessed: accessed.sectors().0, sampling, unit: unit.0 }
    }

    /// The start of a walk: the first zone, or a random one.
    pub fn start(&self, is_scattered: bool, stream: &mut RandomStream) -> ZoneVisit {
        let zone = if is_scattered { stream.below(self.zones) } else { 0 };
        ZoneVisit { zone, ..ZoneVisit::default() }
    }

    /// The position of the next request and its length, which the end of its pass may shorten.
    pub fn next(
        &self,
        visit: &mut ZoneVisit,
        stream: &mut RandomStream,
        sectors: u64,
        alignment: u64,
    ) -> (u64, u64) {
        if visit.accessed >= self.accessed {
            visit.zone = (visit.zone + 1) % self.zones;
            (visit.accessed, visit.next) = (0, 0);
            visit.pass.restart();
            if let Some(coverage) = &mut visit.coverage {
                coverage.reset();
            }
        }
        let last = (self.zone - sectors) / alignment;
        let mut length = sectors;
        let within = match self.sampling {
            None => {
                if visit.next + sectors > self.zone {
                    visit.next = 0;
                }
                visit.next += sectors;
                visit.next - sectors
            }
            Some(Sampling::Independent) => stream.below(last + 1) * alignment,
            Some(Sampling::Cyclic) => {
                let place = visit.pass.next((self.zone / self.unit).max(1), stream);
                (place * self.unit).min(last * alignment)
            }
            Some(Sampling::WithoutReplacement) => {
                let units = (self.zone / self.unit).max(1);
                let coverage = visit.coverage.get_or_insert_with(|| Coverage::new(units));
                let (first, units) = coverage.draw(stream, sectors.div_ceil(self.unit));
                length = sectors.min(units * self.unit);
                first * self.unit
            }
        };
        visit.accessed += length;
        (visit.zone * self.pitch + within, length)
    }
}
