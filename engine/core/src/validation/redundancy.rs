//! Rules and normal form of failed disks, hot spares and rebuilds.

use super::{array_place, unknown_name};
use crate::config::{Array, Fault, Level, Rebuild, Scenario};
use crate::issue::Issue;
use crate::raid::DEFAULT_GROUPS;
use crate::units::SimDuration;

impl Scenario {
    /// Checks failed disks and rebuilds.
    pub(super) fn check_redundancy(&self, arrays_key: &str, issues: &mut Vec<Issue>) {
        for (index, array) in self.arrays().iter().enumerate() {
            let place = array_place(arrays_key, index);
            for (position, &disk) in array.failed_disks.iter().enumerate() {
                check_disk(format!("{place}.failed_disks.{position}"), disk, array, issues);
            }
        }
        for (index, fault) in self.faults.iter().enumerate() {
            let (Fault::DiskFails { array: name, .. } | Fault::RebuildStarts { array: name, .. }) = fault
            else {
                continue;
            };
            let Some(array) = self.array_of(name.as_ref()) else {
                let known = self.arrays().iter().map(|array| array.name.as_str());
                let name = name.as_deref().unwrap_or_default();
                issues.push(unknown_name(format!("faults.{index}.array"), name, known));
                continue;
            };
            if let Fault::DiskFails { disk, .. } = fault {
                check_disk(format!("faults.{index}.disk"), *disk, array, issues);
            } else if !self.has_failed_by(array, fault.at()) {
                issues.push(Issue::new(
                    "scenario.rebuild-before-failure",
                    format!("faults.{index}.at"),
                    format!(
                        "{} ns; allowed is at or after the first disk failure of array {:?}",
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

    /// The array with this name (default: the first).
    fn array_of(&self, name: Option<&String>) -> Option<&Array> {
        match name {
            None => self.arrays().first(),
            Some(name) => self.arrays().iter().find(|array| &array.name == name),
        }
    }

    /// Brings failed disks and rebuilds to their normal form: a disk failed at the start becomes a fault at time 0, and
    /// unused spares and rebuilds have no settings.
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
            // Without redundancy the first failure ends the run, and no more spares are used than disks fail.
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

fn check_disk(place: String, disk: u32, array: &Array, issues: &mut Vec<Issue>) {
    if disk >= array.disks {
        issues.push(Issue::new(
            "scenario.no-such-disk",
            place,
            format!(
                "{disk}; allowed is 0 to {}, the disks of array {:?}",
                array.disks.saturating_sub(1),
                array.name
            ),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(array: &str, faults: &str) -> Result<Scenario, Vec<(&'static str, String)>> {
        let text = format!(
            r#"{{"workload": {{"streams": [{{"name": "s", "arrival": {{"kind": "poisson", "rate": 10}},
                    "operations": {{"read_fraction": 0.5, "size": {{"kind": "constant", "value": 4096}}}},
                    "address": {{"kind": "uniform"}}}}]}},
                "array": {{"disks": 4, "disk": {{"kind": "server",
                    "service": {{"kind": "constant", "value": 1000}}, "capacity": 10551296}}{array}}},
                "faults": {faults}}}"#
        );
        Scenario::from_json(&text)
            .unwrap()
            .normalise()
            .map_err(|issues| issues.into_iter().map(|issue| (issue.code, issue.place)).collect())
    }

    #[test]
    fn faults_name_disks_and_arrays_that_exist() {
        let found = scenario(r#", "raid": "5", "failed_disks": [1, 4]"#, "[]").unwrap_err();
        assert_eq!(found, [("scenario.no-such-disk", "array.failed_disks.1".into())]);
        let found = scenario(
            r#", "raid": "5""#,
            r#"[{"kind": "disk_fails", "at": 1, "disk": 9}, {"kind": "disk_fails", "at": 1, "array": "b", "disk": 0},
                {"kind": "rebuild_starts", "at": 0}]"#,
        )
        .unwrap_err();
        assert_eq!(
            found,
            [
                ("scenario.no-such-disk", "faults.0.disk".into()),
                ("scenario.unknown-name", "faults.1.array".into()),
                ("scenario.rebuild-before-failure", "faults.2.at".into()),
            ]
        );
    }

    #[test]
    fn settings_without_effect_are_left_out() {
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
