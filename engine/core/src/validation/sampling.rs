//! The rules of sampling without replacement.

use crate::config::{Address, Operations, Sampling};
use crate::issue::Issue;
use crate::units::Bytes;

/// Largest number of units of the maps of a stream's sources, for which a run needs memory.
const MAX_UNITS: u64 = 1 << 34;

/// Checks that requests of several sizes can be drawn without replacement, in units of their alignment.
pub(super) fn check_sampling(
    place: &str,
    (operations, address): (&Operations, &Address),
    capacity: Bytes,
    sources: u32,
    issues: &mut Vec<Issue>,
) {
    let extent = match address {
        Address::Uniform { sampling: Sampling::WithoutReplacement, .. } => address.footprint(capacity),
        Address::StridedZones { sampling: Some(Sampling::WithoutReplacement), zone, .. } => *zone,
        _ => return,
    };
    let unit = operations.alignment.unwrap_or_else(|| operations.largest());
    if operations.alignment.is_none() && operations.smallest() < unit {
        issues.push(Issue::new(
            "scenario.missing-key",
            format!("{place}.operations.alignment"),
            "missing; several sizes without replacement need the unit in which they are placed",
        ));
        return;
    }
    if unit < operations.largest() && !operations.are_multiples_of(unit) {
        issues.push(Issue::new(
            "scenario.size-not-multiple-of-alignment",
            format!("{place}.operations.alignment"),
            format!("{} bytes; without replacement, all sizes must be multiples of it", unit.0),
        ));
    }
    let units = extent.0 / unit.0;
    if units.saturating_mul(sources.into()) > MAX_UNITS {
        issues.push(Issue::new(
            "scenario.too-much-memory",
            format!("{place}.address.footprint"),
            format!(
                "{units} units of the alignment for each of {sources} sources; allowed are {MAX_UNITS} in all"
            ),
        ));
    }
}
