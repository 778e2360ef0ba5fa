//! The rules that a configuration must keep beyond the types and ranges of its fields.

use serde::Serialize;

use super::{Address, Arrival, Device, Distribution, Operations, Order, Scenario, Size, Stream};
use crate::disk;
use crate::units::{Bytes, Fraction, SECTOR_BYTES};

/// One rule that a configuration breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// Dotted path of the parameter; empty for the whole.
    pub path: String,
    /// What is wrong, with the value, and what is allowed.
    pub message: String,
}

impl Issue {
    /// An issue at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

/// Lines of a cache, for which a run needs memory.
const MOST_LINES: u64 = 1 << 26;

/// Requests that closed users may have outstanding together.
const MOST_OUTSTANDING: u64 = 1 << 22;

impl Scenario {
    /// All rules that the configuration breaks. `arrays_key` is how its author named the arrays.
    pub(super) fn check(&self, arrays_key: &str) -> Vec<Issue> {
        // The other rules rely on the bounds.
        let mut issues = self.check_bounds(arrays_key);
        if !issues.is_empty() {
            return issues;
        }
        if self.array.is_some() && arrays_key == "arrays" {
            issues.push(Issue::new("array", "is given besides `arrays`; give one of the two"));
        }
        if self.arrays().is_empty() {
            issues.push(Issue::new(arrays_key, "no array is given; give `array` or `arrays`"));
        }
        self.check_cache(&mut issues);
        self.check_power_faults(&mut issues);
        self.check_redundancy(arrays_key, &mut issues);
        self.controller.link.check("controller.link", &mut issues);
        let disks = self.arrays().iter().map(|array| array.disks).fold(0, u32::saturating_add);
        if let Some(back_end) = self.controller.back_end {
            back_end.check("controller.back_end", disks, &mut issues);
        }
        let mut capacities = Vec::new();
        for (index, array) in self.arrays().iter().enumerate() {
            let path = if arrays_key == "array" { "array".to_owned() } else { format!("arrays[{index}]") };
            capacities.push(self.check_array(&path, array, &mut issues));
            if self.arrays()[..index].iter().any(|other| other.name == array.name) {
                issues.push(Issue::new(
                    format!("{path}.name"),
                    format!("{:?} names two arrays; names must differ", array.name),
                ));
            }
        }
        for (index, stream) in self.workload.streams.iter().enumerate() {
            let path = format!("workload.streams[{index}]");
            if self.workload.streams[..index].iter().any(|other| other.name == stream.name) {
                issues.push(Issue::new(
                    format!("{path}.name"),
                    format!("{:?} names two streams; names must differ", stream.name),
                ));
            }
            self.check_stream(&path, stream, &capacities, &mut issues);
        }
        issues
    }

    fn check_cache(&self, issues: &mut Vec<Issue>) {
        let cache = &self.controller.cache;
        let path = "controller.cache";
        if !cache.line.0.is_power_of_two() || !(SECTOR_BYTES..=32 << 10).contains(&cache.line.0) {
            issues.push(Issue::new(
                format!("{path}.line"),
                format!("{} bytes; allowed is a power of two from 512 bytes to 32 KiB", cache.line.0),
            ));
        }
        if let Some(usable) = cache.usable
            && usable > cache.capacity
        {
            issues.push(Issue::new(
                format!("{path}.usable"),
                format!("{} bytes is more than the capacity of {}", usable.0, cache.capacity.0),
            ));
        }
        let lines = cache.usable_bytes().0 / cache.line.0.max(1);
        if lines > MOST_LINES {
            issues.push(Issue::new(
                format!("{path}.capacity"),
                format!(
                    "{lines} lines of {} bytes; allowed is {MOST_LINES} lines, so larger lines or less memory",
                    cache.line.0
                ),
            ));
        }
        check_fraction(&format!("{path}.write_fraction"), cache.write_fraction, issues);
        cache.read.check(&format!("{path}.read"), issues);
        cache.write.check(&format!("{path}.write"), issues);
        self.controller.battery.check("controller.battery", issues);
    }

    /// Checks one array and gives its capacity where that is defined.
    fn check_array(&self, path: &str, array: &super::Array, issues: &mut Vec<Issue>) -> Option<Bytes> {
        let before = issues.len();
        if array.stripe_unit.0 == 0 || !array.stripe_unit.0.is_multiple_of(SECTOR_BYTES) {
            issues.push(Issue::new(
                format!("{path}.stripe_unit"),
                format!("{} bytes; allowed is a multiple of 512 bytes", array.stripe_unit.0),
            ));
        } else if self.controller.cache.capacity.0 > 0
            && self.controller.cache.line.0 > 0
            && !array.stripe_unit.0.is_multiple_of(self.controller.cache.line.0)
        {
            issues.push(Issue::new(
                format!("{path}.stripe_unit"),
                format!(
                    "{} bytes is not a multiple of the cache line of {} bytes",
                    array.stripe_unit.0, self.controller.cache.line.0
                ),
            ));
        }
        if let Device::Disk(disk) = &array.disk
            && let Some(buffer) = &disk.buffer
            && !buffer.segment.0.is_multiple_of(SECTOR_BYTES)
        {
            issues.push(Issue::new(
                format!("{path}.disk.buffer.segment"),
                format!("{} bytes; allowed is a multiple of 512 bytes", buffer.segment.0),
            ));
        }
        if let Device::Server(server) = &array.disk {
            check_distribution(&format!("{path}.disk.service"), &server.service, issues);
        }
        if issues.len() > before {
            return None;
        }
        match disk::layout_of(array) {
            Ok(layout) => Some(layout.capacity().bytes()),
            Err(error) => {
                let field = error.field();
                issues.push(Issue::new(format!("{path}.{field}"), error.to_string()));
                None
            }
        }
    }

    fn check_stream(
        &self,
        path: &str,
        stream: &Stream,
        capacities: &[Option<Bytes>],
        issues: &mut Vec<Issue>,
    ) {
        let (each, name) = match stream.arrival {
            Arrival::Closed { ios, order: Order::Parallel, .. } => (ios, "ios"),
            Arrival::FixedOutstanding { depth, per_user: true } => (depth, "depth"),
            _ => (1, "kind"),
        };
        let outstanding = u64::from(each) * u64::from(self.workload.users);
        if outstanding > MOST_OUTSTANDING {
            issues.push(Issue::new(
                format!("{path}.arrival.{name}"),
                format!(
                    "{each} for each of {} users; allowed is {MOST_OUTSTANDING} I/Os outstanding in all",
                    self.workload.users
                ),
            ));
        }
        let index = match &stream.array {
            None => Some(0),
            Some(name) => self.arrays().iter().position(|array| &array.name == name),
        };
        let Some(index) = index else {
            let names: Vec<_> = self.arrays().iter().map(|array| array.name.as_str()).collect();
            issues.push(Issue::new(
                format!("{path}.array"),
                format!("no array has this name; there are: {}", names.join(", ")),
            ));
            return;
        };
        if let Arrival::Closed { think_time, .. } = &stream.arrival {
            check_distribution(&format!("{path}.arrival.think_time"), think_time, issues);
        }
        if let Arrival::Trace { speed, .. } = stream.arrival {
            if speed <= 0.0 {
                issues.push(Issue::new(
                    format!("{path}.arrival.speed"),
                    format!("{speed}; allowed is more than 0"),
                ));
            }
            for (given, name) in
                [(stream.operations.is_some(), "operations"), (stream.address.is_some(), "address")]
            {
                if given {
                    issues.push(Issue::new(format!("{path}.{name}"), "a trace brings its own; leave it out"));
                }
            }
            return;
        }
        let (Some(operations), Some(address)) = (&stream.operations, &stream.address) else {
            for (given, name) in
                [(stream.operations.is_some(), "operations"), (stream.address.is_some(), "address")]
            {
                if !given {
                    issues.push(Issue::new(
                        format!("{path}.{name}"),
                        "is missing; only a trace may leave it out",
                    ));
                }
            }
            return;
        };
        check_operations(path, operations, issues);
        if let Some(Some(capacity)) = capacities.get(index) {
            check_address(path, address, operations.largest(), *capacity, issues);
        }
    }
}

/// Notes where `value` is no share of a whole.
pub(super) fn check_fraction(path: &str, value: Fraction, issues: &mut Vec<Issue>) {
    if !(0.0..=1.0).contains(&value.0) {
        issues.push(Issue::new(path, format!("{}; allowed is 0 to 1", value.0)));
    }
}

fn check_distribution(path: &str, distribution: &Distribution, issues: &mut Vec<Issue>) {
    match *distribution {
        Distribution::Uniform { low, high } if low > high => issues.push(Issue::new(
            format!("{path}.low"),
            format!("{} ns is above the greatest time of {} ns", low.0, high.0),
        )),
        Distribution::Lognormal { cv, .. } if cv <= 0.0 || !cv.is_finite() => {
            issues.push(Issue::new(format!("{path}.cv"), format!("{cv}; allowed is more than 0")));
        }
        _ => {}
    }
}

fn check_operations(path: &str, operations: &Operations, issues: &mut Vec<Issue>) {
    let path = format!("{path}.operations");
    let sizes: Vec<(String, Bytes)> = match &operations.size {
        Size::Constant { value } => vec![("size.value".to_owned(), *value)],
        Size::Choice { options } => options
            .iter()
            .enumerate()
            .map(|(index, option)| (format!("size.options[{index}].value"), option.value))
            .collect(),
    };
    for (name, size) in sizes {
        if size.0 == 0 || !size.0.is_multiple_of(SECTOR_BYTES) || size.0 > 64 << 20 {
            issues.push(Issue::new(
                format!("{path}.{name}"),
                format!("{} bytes; allowed is a multiple of 512 bytes up to 64 MiB", size.0),
            ));
        }
    }
    if let Size::Choice { options } = &operations.size
        && options.iter().any(|option| option.weight <= 0.0 || !option.weight.is_finite())
    {
        issues.push(Issue::new(format!("{path}.size.options"), "a weight must be more than 0"));
    }
    if let Some(alignment) = operations.alignment
        && (alignment.0 == 0 || !alignment.0.is_multiple_of(SECTOR_BYTES))
    {
        issues.push(Issue::new(
            format!("{path}.alignment"),
            format!("{} bytes; allowed is a multiple of 512 bytes", alignment.0),
        ));
    }
    for (name, value) in
        [("read_fraction", operations.read_fraction), ("fua_fraction", operations.fua_fraction)]
    {
        if !(0.0..=1.0).contains(&value.0) {
            issues.push(Issue::new(format!("{path}.{name}"), format!("{}; allowed is 0 to 1", value.0)));
        }
    }
}

fn check_address(path: &str, address: &Address, largest: Bytes, capacity: Bytes, issues: &mut Vec<Issue>) {
    let path = format!("{path}.address");
    let (footprint, placement) = address.extent();
    let footprint = footprint.unwrap_or_else(|| placement.default_footprint(capacity));
    // Extents lie on whole places of the array.
    let room = match placement {
        super::Placement::Contiguous { .. } => capacity,
        super::Placement::Scattered { .. } | super::Placement::Spread { .. } => {
            placement.default_footprint(capacity)
        }
    };
    if footprint < largest || footprint > room {
        issues.push(Issue::new(
            format!("{path}.footprint"),
            format!(
                "{} bytes; allowed is from the largest request, {} bytes, to what the array holds, {} bytes",
                footprint.0, largest.0, room.0
            ),
        ));
    }
    match placement {
        super::Placement::Contiguous { offset } => {
            if !offset.0.is_multiple_of(SECTOR_BYTES) || offset.0.saturating_add(footprint.0) > capacity.0 {
                issues.push(Issue::new(
                    format!("{path}.placement.offset"),
                    format!(
                        "{} bytes; allowed is a multiple of 512 bytes that leaves room for {} of {} bytes",
                        offset.0, footprint.0, capacity.0
                    ),
                ));
            }
        }
        super::Placement::Scattered { extent } | super::Placement::Spread { extent } => {
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
    if let Address::Zipf { block, exponent, .. } = address {
        if !block.0.is_multiple_of(SECTOR_BYTES) || *block < largest {
            issues.push(Issue::new(
                format!("{path}.block"),
                format!(
                    "{} bytes; allowed is a multiple of 512 bytes, at least the largest request, {} bytes",
                    block.0, largest.0
                ),
            ));
        }
        if !(0.0..=4.0).contains(exponent) {
            issues.push(Issue::new(format!("{path}.exponent"), format!("{exponent}; allowed is 0 to 4")));
        }
    }
    if let Address::Sequential { run: Some(run), .. } = address
        && *run < largest
    {
        issues.push(Issue::new(
            format!("{path}.run"),
            format!("{} bytes is less than the largest request, {} bytes", run.0, largest.0),
        ));
    }
}

impl Operations {
    /// The largest request.
    pub fn largest(&self) -> Bytes {
        match &self.size {
            Size::Constant { value } => *value,
            Size::Choice { options } => options.iter().map(|option| option.value).max().unwrap_or_default(),
        }
    }
}
