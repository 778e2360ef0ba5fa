//! Oracle of the flash: checks in debug builds that the map leads every unit to its newest version.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::Place;

type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// The newest version of each unit, and the programmed contents of each place of the flash.
#[derive(Debug, Default)]
pub(super) struct FlashOracle {
    newest: Map<u32, u64>,
    flash: Map<(u32, u32), (u32, u64)>,
}

impl FlashOracle {
    /// The host writes `unit`.
    pub fn write(&mut self, unit: u32) {
        *self.newest.entry(unit).or_default() += 1;
    }

    /// The newest version of `unit` is programmed.
    pub fn program(&mut self, unit: u32, die: u32, place: u32) {
        let version = self.newest.get(&unit).copied().unwrap_or_default();
        self.flash.insert((die, place), (unit, version));
    }

    /// `unit` moves from its place in the map, or from its initial place, to `place`.
    pub fn copy(&mut self, unit: u32, die: u32, before: Option<u32>, place: u32) {
        if let Some(before) = before {
            self.read(unit, die, Place::Flash(before));
        }
        self.program(unit, die, place);
    }

    /// The map locates `unit` at `place` of `die`.
    pub fn read(&self, unit: u32, die: u32, place: Place) {
        let newest = self.newest.get(&unit).copied().unwrap_or_default();
        match place {
            Place::Flash(place) => assert_eq!(
                self.flash.get(&(die, place)),
                Some(&(unit, newest)),
                "unit {unit} is not in its newest version at place {place} of die {die}"
            ),
            Place::Initial | Place::Unwritten => {
                assert_eq!(newest, 0, "the newest version of unit {unit} is lost");
            }

            Place::Buffered => {}
        }
    }
}
