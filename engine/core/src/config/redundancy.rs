//! Failing disks, hot spares and rebuilds: the rules that they keep, and their normal form.

use super::{Array, Fault, Issue, Level, Rebuild, Scenario};
use crate::raid::DEFAULT_GROUPS;
use crate::units::SimDuration;

impl Scenario {
    /// Notes the rules that failing disks and rebuilds break.
    pub(super) fn check_redundancy(&self, arrays_key: &str, issues: &mut Vec<Issue>) {
        for (index, array) in self.arrays().iter().enumerate() {
            let path = if arrays_key == "array" { "array".to_owned() } else { format!("arrays[{index}]") };
            for (place, &disk) in array.failed_disks.iter().enumerate() {
                check_disk(&format!("{path}.failed_disks[{place}]"), disk, array, issues);
            }
        }
        for (index, fault) in self.faults.iter().enumerate() {
            let (Fault::DiskFails { array: name, .. } | Fault::RebuildStarts { array: name, .. }) = fault
            else {
                continue;
            };
            let Some(array) = self.array_of(name.as_ref()) else {
                let names: Vec<_> = self.arrays().iter().map(|array| array.name.as_str()).collect();
                let name = name.as_deref().unwrap_or_default();
                issues.push(Issue::new(
                    format!("faults[{index}].array"),
                    format!("{name:?} is no array; allowed is one of {}", names.join(", ")),
                ));
                continue;
            };
            if let Fault::DiskFails { disk, .. } = fault {
                check_disk(&format!("faults[{index}].disk"), *disk, array, issues);
            } else if !self.has_failed_by(array, fault.at()) {
                issues.push(Issue::new(
                    format!("faults[{index}].at"),
                    format!(
                        "{} ns; no disk of array {:?} has failed by then: allowed is no earlier than a fault disk_fails of it",
                        fault.at().0,
                        array.name
                    ),
                ));
            }
        }
    }

    /// Whether a disk of `array` fails at `at` or before.
    fn has_failed_by(&self, array: &Array, at: SimDuration) -> bool {
        !array.failed_disks.is_empty()
            || self.faults.iter().any(|fault| {
                matches!(fault, Fault::DiskFails { at: fails, array: of, .. }
                    if *fails <= at && self.array_of(of.as_ref()).is_some_and(|of| of.name == array.name))
            })
    }

    /// The array of this name, or the first.
    fn array_of(&self, name: Option<&String>) -> Option<&Array> {
        match name {
            None => self.arrays().first(),
            Some(name) => self.arrays().iter().find(|array| &array.name == name),
        }
    }

    /// Brings failing disks and rebuilds to their normal form: a disk that has failed at the start is one that fails at
    /// time 0; spares that are not taken, and rebuilds that do not happen, have no settings.
    pub(super) fn normalise_redundancy(&mut self) {
        let first = self.arrays().first().map(|array| array.name.clone());
        for fault in &mut self.faults {
            if let Fault::DiskFails { array, .. } | Fault::RebuildStarts { array, .. } = fault
                && array.is_none()
            {
                array.clone_from(&first);
            }
        }
        let mut failed = Vec::new();
        for array in self.arrays.iter_mut().flatten() {
            let disks = std::mem::take(&mut array.failed_disks);
            let name = Some(array.name.clone());
            failed.extend(disks.into_iter().map(|disk| Fault::DiskFails {
                at: SimDuration::ZERO,
                array: name.clone(),
                disk,
            }));
        }
        self.faults.splice(0..0, failed);
        for array in self.arrays.iter_mut().flatten() {
            let of_array = |name: &Option<String>| name.as_ref() == Some(&array.name);
            let count = |is: &dyn Fn(&Fault) -> bool| self.faults.iter().filter(|fault| is(fault)).count();
            let fails = count(&|fault| matches!(fault, Fault::DiskFails { array, .. } if of_array(array)));
            let rebuilds =
                count(&|fault| matches!(fault, Fault::RebuildStarts { array, .. } if of_array(array)));
            // Without redundancy the first failure ends the run; and no more spares are taken than disks fail.
            let spares = if array.raid == Level::Raid0 { 0 } else { array.hot_spares.min(fails as u32) };
            array.hot_spares = spares;
            if array.raid == Level::Raid0 || (spares == 0 && rebuilds == 0) {
                array.rebuild = Rebuild::default();
            }
            if !array.raid.is_grouped() {
                array.groups = DEFAULT_GROUPS;
            }
        }
    }
}

fn check_disk(path: &str, disk: u32, array: &Array, issues: &mut Vec<Issue>) {
    if disk >= array.disks {
        let (last, name, disks) = (array.disks.saturating_sub(1), &array.name, array.disks);
        issues.push(Issue::new(
            path,
            format!("{disk}; allowed is 0 to {last}, since array {name:?} has {disks} disks"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(array: &str, faults: &str) -> Result<Scenario, Vec<String>> {
        let text = format!(
            r#"{{"workload": {{"streams": [{{"name": "s", "arrival": {{"kind": "poisson", "rate": 10}},
                    "operations": {{"read_fraction": 0.5, "size": {{"kind": "constant", "value": 4096}}}},
                    "address": {{"kind": "uniform"}}}}]}},
                "array": {{"disks": 4, "disk": {{"kind": "server",
                    "service": {{"kind": "constant", "value": 1000}}, "capacity": 10551296}}{array}}},
                "faults": {faults}}}"#
        );
        let said = |issue: &Issue| format!("{}: {}", issue.path, issue.message);
        Scenario::from_json(&text).unwrap().normalise().map_err(|issues| issues.iter().map(said).collect())
    }

    #[test]
    fn disks_and_arrays_that_are_not_there_cannot_fail() {
        let said = scenario(r#", "raid": "5", "failed_disks": [1, 4]"#, "[]").unwrap_err();
        assert_eq!(said, ["array.failed_disks[1]: 4; allowed is 0 to 3, since array \"array\" has 4 disks"]);
        let said = scenario(
            r#", "raid": "5""#,
            r#"[{"kind": "disk_fails", "at": 1, "disk": 9}, {"kind": "disk_fails", "at": 1, "array": "b", "disk": 0},
                {"kind": "rebuild_starts", "at": 0}]"#,
        )
        .unwrap_err();
        let paths: Vec<_> = said.iter().map(|text| text.split(':').next().unwrap()).collect();
        assert_eq!(paths, ["faults[0].disk", "faults[1].array", "faults[2].at"]);
    }

    #[test]
    fn what_cannot_matter_is_one_configuration() {
        let canonical = |array: &str, faults: &str| scenario(array, faults).unwrap().to_canonical_json();
        let plain = canonical(r#", "raid": "5""#, "[]");
        for array in
            [r#", "raid": "5", "hot_spares": 2"#, r#", "raid": "5", "groups": 4, "rebuild": {"depth": 9}"#]
        {
            assert_eq!(canonical(array, "[]"), plain);
        }
        let fails = r#"[{"kind": "disk_fails", "at": 0, "disk": 1, "array": "array"}]"#;
        let failed = canonical(r#", "raid": "5", "failed_disks": [1]"#, "[]");
        assert_eq!(canonical(r#", "raid": "5""#, fails), failed);
        assert_ne!(failed, plain);
        assert_eq!(
            canonical(r#", "raid": "5", "hot_spares": 1"#, fails),
            canonical(r#", "raid": "5", "hot_spares": 3"#, fails)
        );
        let slow = r#", "raid": "5", "hot_spares": 1, "rebuild": {"rate": 1000}"#;
        assert_ne!(canonical(slow, fails), canonical(r#", "raid": "5", "hot_spares": 1"#, fails));
    }
}
