//! The flash translation layer: the location of each logical unit.
//!
//! ```text
//!   logical pages, dealt out to the dies in turn; within a die every unit is mapped on its own
//!
//!   unit ─► die = page mod dies, address within the die ─► map: buffered | place (block, position)
//! ```
//!
//! The address of a unit determines its die (static allocation), but not its place on the die. The map contains the units
//! written in the run; the others are where the initial state put them: in order, or anywhere (see
//! [`super::blocks`]).

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::Place;
use super::blocks::{Blocks, Writer};
use super::model::SsdModel;
use super::steady_state;
use crate::config::Precondition;
use crate::rng::RandomStream;

/// Marks a unit whose newest version is in the write buffer.
const BUFFERED: u32 = u32::MAX;

/// Maximum writes by which the dies of an SSD are desynchronised.
const MAX_STEPS: u32 = 1 << 20;

/// The map of one SSD.
#[derive(Debug)]
pub(super) struct Translation {
    dies: u32,
    page: u32,
    per_die: u32,
    initial: Precondition,
    /// Units in the write buffer.
    buffered: u32,
    map: HashMap<u32, u32, FxBuildHasher>,
    blocks: Vec<Blocks>,
    stream: RandomStream,
    /// Units moved by a copy, with their new places.
    moved: Vec<(u32, u32)>,
    #[cfg(debug_assertions)]
    oracle: super::oracle::FlashOracle,
}

impl Translation {
    /// The map of a new SSD of `model`; `state` is its [`SsdModel::initial_state`].
    pub fn new(model: &SsdModel, state: &[u32], mut stream: RandomStream) -> Self {
        let per_die = model.units_per_die;
        let empty = Blocks::new(model.blocks_per_die, model.units_per_block, model.gc_low_mark);
        let blocks = match model.precondition {
            Precondition::Empty => vec![empty; model.dies as usize],
            Precondition::Sequential => {
                let mut filled = empty;
                for first in (0..per_die).step_by(model.units_per_block as usize) {
                    filled.fill_in_order(first, (per_die - first).min(model.units_per_block));
                }
                vec![filled; model.dies as usize]
            }
            Precondition::Random => {
                let mut filled = empty;
                for &count in state {
                    filled.fill_anonymously(count);
                }
                let mut blocks = vec![filled; model.dies as usize];
                // The dies are desynchronised.
                let most = (2 * model.units_per_block).min(MAX_STEPS / model.dies + 1);
                for die in &mut blocks {
                    for _ in 0..stream.below(most.into()) {
                        steady_state::overwrite(die, &mut stream);
                    }
                    for writer in [Writer::Host, Writer::Collector] {
                        die.pad(writer, model.units_per_page);
                    }
                }
                blocks
            }
        };
        Self {
            dies: model.dies,
            page: model.units_per_page,
            per_die,
            initial: model.precondition,
            buffered: 0,
            map: HashMap::default(),
            blocks,
            stream,
            moved: Vec::new(),
            #[cfg(debug_assertions)]
            oracle: super::oracle::FlashOracle::default(),
        }
    }

    /// The die that holds `unit`, and its address there.
    #[inline]
    pub const fn locate(&self, unit: u32) -> (u32, u32) {
        let page = unit / self.page;
        (page % self.dies, page / self.dies * self.page + unit % self.page)
    }

    /// The location of `unit`.
    #[inline]
    pub fn find(&self, unit: u32) -> Place {
        match self.map.get(&unit) {
            Some(&BUFFERED) => Place::Buffered,
            Some(&place) => Place::Flash(place),
            None if self.initial == Precondition::Empty => Place::Unwritten,
            None => Place::Initial,
        }
    }

    /// Flash pages of the units `first` to `last` of one logical page, except those in the write buffer.
    #[inline]
    pub fn pages_of(&self, first: u32, last: u32) -> u32 {
        let is_simple = match self.initial {
            // A single unit is in a single page, unless it is in the buffer.
            Precondition::Random | Precondition::Sequential if first == last => self.buffered == 0,
            Precondition::Sequential => self.map.is_empty(),
            Precondition::Random | Precondition::Empty => false,
        };
        if is_simple && !cfg!(debug_assertions) { 1 } else { self.look_up_pages(first, last) }
    }

    fn look_up_pages(&self, first: u32, last: u32) -> u32 {
        let mut pages = 0;
        let mut before = None;
        for unit in first..=last {
            let place = self.find(unit);
            #[cfg(debug_assertions)]
            self.oracle.read(unit, self.locate(unit).0, place);
            let page = match place {
                Place::Buffered | Place::Unwritten => continue,
                Place::Flash(place) => Some(place / self.page),
                // In order, the units of a logical page share a flash page; scattered, no two do.
                Place::Initial if self.initial == Precondition::Sequential => Some(BUFFERED),
                Place::Initial => None,
            };
            pages += u32::from(page.is_none() || page != before);
            before = page;
        }
        pages
    }

    /// A new version of `unit` is in the write buffer; returns whether it replaced one there.
    pub fn buffer(&mut self, unit: u32) -> bool {
        #[cfg(debug_assertions)]
        self.oracle.write(unit);
        match self.map.insert(unit, BUFFERED) {
            Some(BUFFERED) => return true,
            before => self.invalidate(unit, before),
        }
        self.buffered += 1;
        false
    }

    /// Programs the newest version of `unit`. Precondition: the host has room on its die.
    pub fn program(&mut self, unit: u32) {
        let (die, address) = self.locate(unit);
        let place = self.blocks[die as usize].write(Writer::Host, address);
        match self.map.insert(unit, place) {
            Some(BUFFERED) => self.buffered -= 1,
            before => {
                #[cfg(debug_assertions)]
                self.oracle.write(unit);
                self.invalidate(unit, before);
            }
        }
        #[cfg(debug_assertions)]
        self.oracle.program(unit, die, place);
    }

    /// The version of `unit` on the flash, at `before` in the map, is no longer valid.
    fn invalidate(&mut self, unit: u32, before: Option<u32>) {
        let (die, address) = self.locate(unit);
        let blocks = &mut self.blocks[die as usize];
        match (before, self.initial) {
            (Some(place), _) => blocks.invalidate(place),
            (None, Precondition::Empty) => {}
            // Blocks were filled in order, starting with the first.
            (None, Precondition::Sequential) => blocks.invalidate(address),
            (None, Precondition::Random) => blocks.invalidate_anonymous(&mut self.stream),
        }
    }

    /// Whether `unit` has a version that a partial write must be merged with.
    pub fn has_old_version(&self, unit: u32) -> bool {
        matches!(self.find(unit), Place::Flash(_) | Place::Initial)
    }

    /// Pads the host's page.
    pub fn pad(&mut self, die: u32) {
        self.blocks[die as usize].pad(Writer::Host, self.page);
    }

    /// Whether garbage collection of `die` is due.
    #[inline]
    pub fn is_collection_due(&mut self, die: u32) -> bool {
        self.blocks[die as usize].is_collection_due()
    }

    /// Whether the victim of `die` can be erased.
    pub fn is_victim_empty(&self, die: u32) -> bool {
        self.blocks[die as usize].is_victim_empty()
    }

    /// Erases the victim of `die`.
    pub fn erase(&mut self, die: u32) {
        self.blocks[die as usize].erase();
    }

    /// Copies a page of valid units of the victim of `die`, or the remaining ones; returns their number.
    pub fn copy(&mut self, die: u32) -> u32 {
        let (dies, page, per_die) = (self.dies, self.page, self.per_die);
        let unit_of = |address: u32| (address / page * dies + die) * page + address % page;
        let Self { map, blocks, moved, .. } = self;
        let blocks = &mut blocks[die as usize];
        // Units still in order have not been written since; they enter the map now.
        let copied = blocks.copy(
            page,
            |address| address < per_die && !map.contains_key(&unit_of(address)),
            |address, place| moved.push((unit_of(address), place)),
        );
        blocks.pad(Writer::Collector, page);
        for (unit, place) in self.moved.drain(..) {
            #[cfg(debug_assertions)]
            self.oracle.copy(unit, die, self.map.get(&unit).copied(), place);
            self.map.insert(unit, place);
        }
        copied
    }

    /// Valid units of the victim of `die` when it was chosen.
    pub fn victim_valid(&self, die: u32) -> u32 {
        self.blocks[die as usize].victim_valid()
    }

    /// A defect for a test: the host's newest write of unit 0 is missing in the map.
    #[cfg(all(test, debug_assertions))]
    pub fn miss_a_version(&mut self) {
        self.oracle.write(0);
    }

    /// Conservation: exactly the mapped units are valid.
    #[cfg(any(test, debug_assertions))]
    pub fn check(&self) {
        let mut mapped = vec![0_u64; self.dies as usize];
        let mut known = vec![0_u64; self.dies as usize];
        for (&unit, &place) in &self.map {
            let die = self.locate(unit).0 as usize;
            known[die] += 1;
            mapped[die] += u64::from(place != BUFFERED);
        }
        for (die, blocks) in self.blocks.iter().enumerate() {
            let initial = match self.initial {
                Precondition::Empty => 0,
                Precondition::Sequential | Precondition::Random => u64::from(self.per_die) - known[die],
            };
            if self.initial == Precondition::Random {
                assert_eq!(blocks.anonymous(), initial, "an address without a place is anonymous");
            }
            blocks.check(mapped[die] + initial);
        }
    }
}
