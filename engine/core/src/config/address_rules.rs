//! The rules that an address process must keep.

use super::check::check_fraction;
use super::{Address, Issue, Placement};
use crate::units::{Bytes, SECTOR_BYTES};

/// Blocks of all stacks of a stream together, for which a run needs memory.
const MOST_STACKED: u64 = 1 << 26;

/// What an address process must fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// The array's capacity.
    pub capacity: Bytes,
    /// The largest request.
    pub largest: Bytes,
    /// Sources that draw addresses.
    pub sources: u32,
}

impl Address {
    /// Notes the rules that it breaks.
    pub(super) fn check(&self, path: &str, setting: Setting, issues: &mut Vec<Issue>) {
        let (largest, before) = (setting.largest, issues.len());
        self.check_extent(path, setting, issues);
        let footprint = self.footprint(setting.capacity);
        let mut check_unit = |name: &str, size: Bytes| {
            if !size.0.is_multiple_of(SECTOR_BYTES) || size < largest {
                issues.push(Issue::new(
                    format!("{path}.{name}"),
                    format!(
                        "{} bytes; allowed is a multiple of 512 bytes, at least the largest request, {} bytes",
                        size.0, largest.0
                    ),
                ));
            }
        };
        if let Some(block) = self.block() {
            check_unit("block", block);
        }
        match self {
            Self::Strided { stride, .. } => {
                check_unit("stride", *stride);
                if *stride > footprint {
                    issues.push(Issue::new(
                        format!("{path}.stride"),
                        format!("{} bytes is more than the footprint of {} bytes", stride.0, footprint.0),
                    ));
                }
            }
            Self::Zipf { exponent, .. } if !(0.0..=4.0).contains(exponent) => {
                issues.push(Issue::new(format!("{path}.exponent"), format!("{exponent}; allowed is 0 to 4")));
            }
            Self::Sequential { run, jump_fraction, common: true, per_user, .. }
                if run.is_some() || jump_fraction.is_some() || *per_user =>
            {
                issues.push(Issue::new(
                    format!("{path}.common"),
                    "one endless run of all users has no `run`, no `jump_fraction` and no `per_user`; leave them out",
                ));
            }
            Self::Sequential { run: Some(run), .. } if *run < largest => issues.push(Issue::new(
                format!("{path}.run"),
                format!("{} bytes is less than the largest request, {} bytes", run.0, largest.0),
            )),
            Self::Sequential { run: None, jump_fraction: Some(share), .. } => {
                check_fraction(&format!("{path}.jump_fraction"), *share, issues);
            }
            Self::Sequential { run: Some(_), jump_fraction: Some(_), .. } => issues.push(Issue::new(
                format!("{path}.jump_fraction"),
                "is given besides `run`; leave one of the two out",
            )),
            Self::HotCold { hot_fraction, access_fraction, .. } => {
                check_fraction(&format!("{path}.access_fraction"), *access_fraction, issues);
                if hot_fraction.0 <= 0.0 || hot_fraction.0 >= 1.0 {
                    let message = format!("{}; allowed is more than 0 and less than 1", hot_fraction.0);
                    issues.push(Issue::new(format!("{path}.hot_fraction"), message));
                }
            }
            _ => {}
        }
        if issues.len() > before {
            return;
        }
        self.check_zones(path, footprint, largest, issues);
        self.check_curve(path, footprint, setting.sources, issues);
    }

    fn check_extent(&self, path: &str, setting: Setting, issues: &mut Vec<Issue>) {
        let Setting { capacity, largest, .. } = setting;
        let (given, placement) = self.extent();
        if self.is_per_user() {
            if given.is_none() {
                issues.push(Issue::new(
                    format!("{path}.footprint"),
                    "is missing; with `per_user` it says how much each user has",
                ));
                return;
            }
            if matches!(placement, Placement::Spread { .. }) {
                issues.push(Issue::new(
                    format!("{path}.placement.kind"),
                    "spread; with `per_user` allowed are contiguous and scattered: spread extents of all users would move with every further user",
                ));
            }
        }
        let each = self.footprint(capacity);
        let users = if self.is_per_user() { setting.sources } else { 1 };
        let footprint = Bytes(each.0.saturating_mul(users.into()));
        // Extents lie on whole places of the array.
        let room = match placement {
            Placement::Contiguous { .. } => capacity,
            Placement::Scattered { .. } | Placement::Spread { .. } => placement.default_footprint(capacity),
        };
        if each < largest || footprint > room {
            let each_of = if users > 1 { format!(" for each of {users} users") } else { String::new() };
            issues.push(Issue::new(
                format!("{path}.footprint"),
                format!(
                    "{} bytes{each_of}; allowed is from the largest request, {} bytes, to what the array holds, {} bytes",
                    each.0, largest.0, room.0
                ),
            ));
        }
        if users > 1 && !each.0.is_multiple_of(SECTOR_BYTES) {
            issues.push(Issue::new(
                format!("{path}.footprint"),
                format!("{} bytes; with `per_user` allowed is a multiple of 512 bytes", each.0),
            ));
        }
        match placement {
            Placement::Contiguous { offset } => {
                if !offset.0.is_multiple_of(SECTOR_BYTES) || offset.0.saturating_add(footprint.0) > capacity.0
                {
                    issues.push(Issue::new(
                        format!("{path}.placement.offset"),
                        format!(
                            "{} bytes; allowed is a multiple of 512 bytes that leaves room for {} of {} bytes",
                            offset.0, footprint.0, capacity.0
                        ),
                    ));
                }
            }
            Placement::Scattered { extent } | Placement::Spread { extent } => {
                if !extent.0.is_multiple_of(SECTOR_BYTES) || extent < largest {
                    issues.push(Issue::new(
                        format!("{path}.placement.extent"),
                        format!(
                            "{} bytes; allowed is a multiple of 512 bytes, at least the largest request, {} bytes",
                            extent.0, largest.0
                        ),
                    ));
                }
            }
        }
    }

    fn check_zones(&self, path: &str, footprint: Bytes, largest: Bytes, issues: &mut Vec<Issue>) {
        let Some(zones) = self.zones() else { return };
        let is_number = |value: f64| value.is_finite() && value >= 0.0;
        if zones.iter().any(|zone| zone.size <= 0.0 || !is_number(zone.size) || !is_number(zone.accesses))
            || zones.iter().all(|zone| zone.accesses <= 0.0)
        {
            issues.push(Issue::new(
                format!("{path}.zones"),
                "allowed are sizes of more than 0, and accesses of 0 or more that are not all 0",
            ));
            return;
        }
        let total: f64 = zones.iter().map(|zone| zone.size).sum();
        for (index, zone) in zones.iter().enumerate() {
            let size = (zone.size / total * footprint.0 as f64) as u64;
            if size < largest.0 {
                let name = match self {
                    Self::HotCold { .. } => "hot_fraction".to_owned(),
                    _ => format!("zones[{index}].size"),
                };
                issues.push(Issue::new(
                    format!("{path}.{name}"),
                    format!("leaves {size} bytes, less than the largest request, {} bytes", largest.0),
                ));
            }
        }
    }

    fn check_curve(&self, path: &str, footprint: Bytes, sources: u32, issues: &mut Vec<Issue>) {
        let Self::StackDistance { curve, block, .. } = self else { return };
        let blocks = (footprint.0 / block.0).max(1);
        if blocks.saturating_mul(sources.into()) > MOST_STACKED {
            issues.push(Issue::new(
                format!("{path}.footprint"),
                format!("{blocks} blocks in each of {sources} stacks; allowed are {MOST_STACKED} in all"),
            ));
        }
        let (mut size, mut hit_ratio) = (Bytes(0), 0.0);
        for (index, point) in curve.iter().enumerate() {
            let path = format!("{path}.curve[{index}]");
            if point.size <= size || !point.size.0.is_multiple_of(block.0) || point.size.0 > blocks * block.0
            {
                issues.push(Issue::new(
                    format!("{path}.size"),
                    format!(
                        "{} bytes; allowed is more than the point before, {} bytes, up to the footprint, in whole blocks of {} bytes",
                        point.size.0, size.0, block.0
                    ),
                ));
            }
            if !(hit_ratio..=1.0).contains(&point.hit_ratio.0) {
                issues.push(Issue::new(
                    format!("{path}.hit_ratio"),
                    format!(
                        "{}; allowed is from that of the point before, {hit_ratio}, to 1",
                        point.hit_ratio.0
                    ),
                ));
            }
            (size, hit_ratio) = (point.size, point.hit_ratio.0);
        }
    }
}
