//! The rules of an address process.

use super::{check_sectors, conflict};
use crate::config::{Address, Placement};
use crate::issue::Issue;
use crate::units::{Bytes, SECTOR_BYTES};

/// Largest number of blocks in all LRU stacks of a stream, for which a run needs memory.
const MAX_STACK_BLOCKS: u64 = 1 << 26;

/// Largest number of leaves of a reuse walk in all footprints of a stream, for which a run needs memory.
const MAX_LEAVES: u64 = 1 << 26;

/// What an address process must fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// Capacity of the array.
    pub capacity: Bytes,
    /// The largest request.
    pub largest: Bytes,
    /// Sources that draw addresses.
    pub sources: u32,
}

/// Checks an address process.
pub(super) fn check_address(place: &str, address: &Address, setting: Setting, issues: &mut Vec<Issue>) {
    let (largest, before) = (setting.largest, issues.len());
    check_extent(place, address, setting, issues);
    let footprint = address.footprint(setting.capacity);
    if let Some(block) = address.block() {
        let place = format!("{place}.block");
        match address {
            // A larger request starts where its block does.
            Address::Zipf { .. } | Address::Pareto { .. } | Address::Normal { .. } => {
                check_sectors(&place, block, issues);
            }
            _ => check_holds_request(&place, block, largest, issues),
        }
    }
    match address {
        Address::Zipf { exponent, approximate: true, .. } if (*exponent - 1.0).abs() < f64::EPSILON => {
            issues.push(conflict(format!("{place}.approximate"), "exponent 1"));
        }
        Address::StridedZones { zone, skip, accessed, .. } => {
            check_zone_walk(place, (*zone, *skip, *accessed), footprint, largest, issues);
        }
        Address::Strided { stride, .. } => {
            let place = format!("{place}.stride");
            check_holds_request(&place, *stride, largest, issues);
            if *stride > footprint {
                issues.push(Issue::new(
                    "scenario.beyond-footprint",
                    place,
                    format!("{} bytes; allowed is up to the footprint, {} bytes", stride.0, footprint.0),
                ));
            }
        }
        Address::Sequential { run, jump_fraction, common, per_user, .. } => {
            let others =
                [("run", run.is_some()), ("jump_fraction", jump_fraction.is_some()), ("per_user", *per_user)];
            if let (true, Some((other, _))) = (common, others.iter().find(|(_, is_given)| *is_given)) {
                issues.push(conflict(format!("{place}.common"), other));
            } else if let (Some(_), Some(_)) = (run, jump_fraction) {
                issues.push(conflict(format!("{place}.jump_fraction"), "run"));
            }
            if let Some(run) = *run
                && run < largest
            {
                issues.push(smaller_than_request(format!("{place}.run"), run, largest));
            }
        }
        Address::HotCold { hot_fraction, .. } if hot_fraction.0 <= 0.0 || hot_fraction.0 >= 1.0 => {
            issues.push(Issue::new(
                "scenario.out-of-range",
                format!("{place}.hot_fraction"),
                format!("{}; allowed is more than 0 and less than 1", hot_fraction.0),
            ));
        }
        _ => {}
    }
    if issues.len() > before {
        return;
    }
    check_zones(place, address, footprint, largest, issues);
    check_curve(place, address, footprint, setting.sources, issues);
    check_leaves(place, address, footprint, setting.sources, issues);
}

fn smaller_than_request(place: impl Into<String>, size: Bytes, largest: Bytes) -> Issue {
    Issue::new(
        "scenario.smaller-than-request",
        place,
        format!("{} bytes; allowed is the largest request, {} bytes, or more", size.0, largest.0),
    )
}

/// Checks that a unit of addresses is whole sectors and holds the largest request.
fn check_holds_request(place: &str, size: Bytes, largest: Bytes, issues: &mut Vec<Issue>) {
    check_sectors(place, size, issues);
    if size < largest {
        issues.push(smaller_than_request(place, size, largest));
    }
}

fn check_zone_walk(
    place: &str,
    (zone, skip, accessed): (Bytes, Bytes, Option<Bytes>),
    footprint: Bytes,
    largest: Bytes,
    issues: &mut Vec<Issue>,
) {
    let zone_place = format!("{place}.zone");
    check_holds_request(&zone_place, zone, largest, issues);
    if zone > footprint {
        issues.push(Issue::new(
            "scenario.beyond-footprint",
            zone_place,
            format!("{} bytes; allowed is up to the footprint, {} bytes", zone.0, footprint.0),
        ));
    }
    if skip.0 > 0 {
        check_sectors(&format!("{place}.skip"), skip, issues);
    }
    if let Some(accessed) = accessed {
        check_sectors(&format!("{place}.accessed"), accessed, issues);
    }
}

fn check_extent(place: &str, address: &Address, setting: Setting, issues: &mut Vec<Issue>) {
    let Setting { capacity, largest, .. } = setting;
    let (given, placement) = address.extent();
    let footprint_place = format!("{place}.footprint");
    if address.is_per_user() {
        if given.is_none() {
            let message = "missing; `per_user` needs the footprint of each user";
            issues.push(Issue::new("scenario.missing-key", footprint_place, message));
            return;
        }
        if matches!(placement, Placement::Spread { .. }) {
            issues.push(Issue::new(
                "scenario.spread-per-user",
                format!("{place}.placement.kind"),
                "spread; allowed with `per_user` are contiguous and scattered, which do not move when users are added",
            ));
        }
    }
    let each = address.footprint(capacity);
    let users = if address.is_per_user() { setting.sources } else { 1 };
    let footprint = Bytes(each.0.saturating_mul(users.into()));
    // Extents are aligned to their size on the array.
    let room = match placement {
        Placement::Contiguous { .. } => capacity,
        Placement::Scattered { .. } | Placement::Spread { .. } => placement.default_footprint(capacity),
    };
    if each < largest {
        issues.push(smaller_than_request(&footprint_place, each, largest));
    } else if footprint > room {
        let times = if users > 1 { format!(" for each of {users} users") } else { String::new() };
        issues.push(Issue::new(
            "scenario.beyond-array",
            &footprint_place,
            format!("{} bytes{times}; the array has room for {} bytes", each.0, room.0),
        ));
    }
    if users > 1 {
        check_sectors(&footprint_place, each, issues);
    }
    match placement {
        Placement::Contiguous { offset } => {
            let place = format!("{place}.placement.offset");
            if !offset.0.is_multiple_of(SECTOR_BYTES) {
                issues.push(Issue::new(
                    "scenario.not-whole-sectors",
                    &place,
                    format!("{} bytes; allowed is a multiple of 512 bytes", offset.0),
                ));
            }
            if offset.0.saturating_add(footprint.0) > capacity.0 {
                issues.push(Issue::new(
                    "scenario.beyond-array",
                    place,
                    format!(
                        "{} bytes; a footprint of {} bytes from there exceeds the array of {} bytes",
                        offset.0, footprint.0, capacity.0
                    ),
                ));
            }
        }
        Placement::Scattered { extent, .. } | Placement::Spread { extent, .. } => {
            check_holds_request(&format!("{place}.placement.extent"), extent, largest, issues);
        }
    }
}

fn check_zones(place: &str, address: &Address, footprint: Bytes, largest: Bytes, issues: &mut Vec<Issue>) {
    let Some(zones) = address.zones() else { return };
    if zones.iter().all(|zone| zone.accesses <= 0.0) {
        let message = "no zone has accesses; allowed is more than 0 for one zone or more";
        issues.push(Issue::new("scenario.no-accesses", format!("{place}.zones"), message));
        return;
    }
    let total: f64 = zones.iter().map(|zone| zone.size).sum();
    for (index, zone) in zones.iter().enumerate() {
        let size = Bytes((zone.size / total * footprint.0 as f64) as u64);
        if size < largest {
            let name = match address {
                Address::HotCold { .. } => "hot_fraction".to_owned(),
                _ => format!("zones.{index}.size"),
            };
            issues.push(smaller_than_request(format!("{place}.{name}"), size, largest));
        }
    }
}

fn check_curve(place: &str, address: &Address, footprint: Bytes, sources: u32, issues: &mut Vec<Issue>) {
    let Address::StackDistance { curve, block, .. } = address else { return };
    let blocks = (footprint.0 / block.0).max(1);
    if blocks.saturating_mul(sources.into()) > MAX_STACK_BLOCKS {
        issues.push(Issue::new(
            "scenario.too-much-memory",
            format!("{place}.footprint"),
            format!("{blocks} blocks in each of {sources} LRU stacks; allowed are {MAX_STACK_BLOCKS} in all"),
        ));
    }
    let (mut size, mut hit_ratio) = (Bytes(0), 0.0);
    for (index, point) in curve.iter().enumerate() {
        let place = format!("{place}.curve.{index}");
        if point.size <= size || !point.size.0.is_multiple_of(block.0) || point.size.0 > blocks * block.0 {
            issues.push(Issue::new(
                "scenario.curve-size",
                format!("{place}.size"),
                format!(
                    "{} bytes; allowed is a multiple of the block of {} bytes above the previous point, {} bytes, and up to the footprint",
                    point.size.0, block.0, size.0
                ),
            ));
        }
        if point.hit_ratio.0 < hit_ratio {
            issues.push(Issue::new(
                "scenario.falling-hit-ratio",
                format!("{place}.hit_ratio"),
                format!("{}; allowed is that of the previous point, {hit_ratio}, or more", point.hit_ratio.0),
            ));
        }
        (size, hit_ratio) = (point.size, point.hit_ratio.0);
    }
}

fn check_leaves(place: &str, address: &Address, footprint: Bytes, sources: u32, issues: &mut Vec<Issue>) {
    let Address::HierarchicalReuse { leaf, block, per_user, .. } = address else { return };
    let leaf_place = format!("{place}.leaf");
    if leaf.0 == 0 || !leaf.0.is_multiple_of(block.0) {
        issues.push(Issue::new(
            "scenario.leaf-not-multiple-of-block",
            leaf_place,
            format!("{} bytes; allowed is a multiple of the block of {} bytes", leaf.0, block.0),
        ));
        return;
    }
    if *leaf > footprint {
        issues.push(Issue::new(
            "scenario.beyond-footprint",
            leaf_place,
            format!("{} bytes; allowed is up to the footprint, {} bytes", leaf.0, footprint.0),
        ));
    }
    let leaves = footprint.0 / leaf.0;
    let footprints = if *per_user { sources } else { 1 };
    if leaves.saturating_mul(footprints.into()) > MAX_LEAVES {
        issues.push(Issue::new(
            "scenario.too-much-memory",
            format!("{place}.footprint"),
            format!("{leaves} leaves in each of {footprints} footprints; allowed are {MAX_LEAVES} in all"),
        ));
    }
}
