//! Zones of a footprint.

use crate::config::AddressZone;

/// A part of the footprint, uniform within.
#[derive(Clone, Copy, Debug)]
pub struct Zone {
    /// Cumulative share of the accesses, including its own.
    pub sum: f64,
    /// First sector.
    pub start: u64,
    /// Sectors.
    pub length: u64,
}

/// The zones of a footprint, with bounds at multiples of `grain`. Each is at least as long as the largest request.
pub fn lay_out(zones: &[AddressZone], footprint: u64, largest: u64, grain: u64) -> Box<[Zone]> {
    let size: f64 = zones.iter().map(|zone| zone.size).sum();
    let accesses: f64 = zones.iter().map(|zone| zone.accesses).sum();
    let (mut sizes, mut sum) = (0.0, 0.0);
    let mut start = 0;
    let mut laid_out = Vec::with_capacity(zones.len());
    for (index, zone) in zones.iter().enumerate() {
        sizes += zone.size / size;
        sum += zone.accesses / accesses;
        let is_last = index + 1 == zones.len();
        let bound = (sizes * footprint as f64) as u64 / grain * grain;
        let end = if is_last { footprint } else { bound.clamp(start, footprint) };
        let from = start.min(footprint - largest);
        laid_out.push(Zone { sum, start: from, length: (end - from).max(largest).min(footprint - from) });
        start = end;
    }
    laid_out.into()
}
