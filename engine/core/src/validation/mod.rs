//! Validation of a configuration: the bounds of single fields, the rules between fields, the normal form.

mod address;
mod array;
mod bounds;
mod controller;
mod normal_form;
mod operations;
mod power_faults;
mod redundancy;
mod sampling;
#[cfg(test)]
mod tests;
mod workload;

pub use bounds::is_within_bounds;

use crate::config::{Distribution, Scenario};
use crate::issue::Issue;
use crate::units::{Bytes, SECTOR_BYTES};

impl Scenario {
    /// Validates the configuration and converts it to its normal form.
    ///
    /// # Errors
    /// All rules that it breaks.
    pub fn normalise(self) -> Result<Self, Vec<Issue>> {
        self.normalise_after(Self::check_bounds)
    }

    /// Validates and converts a configuration each of whose fields is within its bounds ([`is_within_bounds`]): checking
    /// them takes longer than everything else, and neighbouring points of a sweep share most fields.
    ///
    /// # Errors
    /// All rules between fields that it breaks.
    pub fn normalise_bounded(self) -> Result<Self, Vec<Issue>> {
        self.normalise_after(|_, _| Vec::new())
    }

    fn normalise_after(
        mut self,
        check_bounds: impl Fn(&Self, &str) -> Vec<Issue>,
    ) -> Result<Self, Vec<Issue>> {
        let arrays_key = match (&self.array, &self.arrays) {
            (Some(array), None) => {
                self.arrays = Some(vec![array.clone()]);
                "array"
            }
            _ => "arrays",
        };
        // The other rules rely on the bounds.
        let mut issues = check_bounds(&self, arrays_key);
        if issues.is_empty() {
            issues = self.check_rules(arrays_key);
        }
        if !issues.is_empty() {
            return Err(issues);
        }
        self.array = None;
        self.reduce_to_normal_form();
        Ok(self)
    }

    /// All rules between fields that the configuration breaks. `arrays_key` is the key under which its author gave the
    /// arrays.
    fn check_rules(&self, arrays_key: &str) -> Vec<Issue> {
        let mut issues = Vec::new();
        if self.array.is_some() && arrays_key == "arrays" {
            issues.push(conflict("array", "arrays"));
        }
        if self.arrays().is_empty() {
            issues.push(Issue::new("scenario.missing-key", arrays_key, "missing; give `array` or `arrays`"));
        }
        self.check_controller(&mut issues);
        self.check_power_faults(&mut issues);
        self.check_redundancy(arrays_key, &mut issues);
        check_unique(
            self.arrays().iter().map(|array| array.name.as_str()),
            |index| format!("{}.name", array_place(arrays_key, index)),
            &mut issues,
        );
        let capacities: Vec<_> = (0..)
            .zip(self.arrays())
            .map(|(index, array)| self.check_array(&array_place(arrays_key, index), array, &mut issues))
            .collect();
        self.check_workload(&capacities, &mut issues);
        issues
    }
}

/// Where the array of this index is in the author's configuration.
fn array_place(arrays_key: &str, index: usize) -> String {
    if arrays_key == "array" { "array".to_owned() } else { format!("arrays.{index}") }
}

/// A key beside another key that excludes it.
fn conflict(place: impl Into<String>, other: &str) -> Issue {
    Issue::new(
        "scenario.conflicting-keys",
        place,
        format!("conflicts with `{other}`; give only one of the two"),
    )
}

/// Checks a distribution of times.
fn check_distribution(place: &str, distribution: &Distribution, issues: &mut Vec<Issue>) {
    if let Distribution::Uniform { low, high } = distribution
        && low > high
    {
        issues.push(Issue::new(
            "scenario.low-above-high",
            format!("{place}.low"),
            format!("{} ns; allowed is up to `high`, {} ns", low.0, high.0),
        ));
    }
}

/// Checks that a size is a positive multiple of the sector.
fn check_sectors(place: &str, size: Bytes, issues: &mut Vec<Issue>) {
    if size.0 == 0 || !size.0.is_multiple_of(SECTOR_BYTES) {
        issues.push(Issue::new(
            "scenario.not-whole-sectors",
            place,
            format!("{} bytes; allowed is a positive multiple of 512 bytes", size.0),
        ));
    }
}

/// Checks that no two names are equal.
fn check_unique<'a>(
    names: impl Iterator<Item = &'a str>,
    place: impl Fn(usize) -> String,
    issues: &mut Vec<Issue>,
) {
    let mut seen = Vec::new();
    for (index, name) in names.enumerate() {
        if seen.contains(&name) {
            issues.push(Issue::new(
                "scenario.duplicate-name",
                place(index),
                format!("{name:?} is used twice; names must differ"),
            ));
        }
        seen.push(name);
    }
}

/// An issue for a reference to a name that does not exist.
fn unknown_name<'a>(place: String, name: &str, known: impl Iterator<Item = &'a str>) -> Issue {
    let known: Vec<_> = known.collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Issue::new("scenario.unknown-name", place, format!("{name:?} does not exist; defined: {known}"))
}
