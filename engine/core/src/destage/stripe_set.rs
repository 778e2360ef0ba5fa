//! A set of stripes ordered by address: pages (bitmaps) of 4096 stripes, found by hashing, and an order of the non-empty pages.
//!
//! ```text
//!   stripe = page x 4096 + bit       page 7:  words with members 0b...0110 ─► word 1: 0b...0100 ─► bit 64 + 2
//! ```
//!
//! A sweep usually finds its next stripe in its current page: two words and no search. Dirty stripes are dense enough
//! for that (a cache of thousands of lines over an array of a million stripes has tens per page); if they are sparse,
//! each has its own page, and the order of pages equals an order of stripes.
//!
//! Cost: O(1) per stripe that enters or leaves, O(log p) if it is alone in its page, p pages; 520 bytes per page.

use std::collections::{BTreeSet, HashMap};

use rustc_hash::FxBuildHasher;

/// Stripes per page.
const PAGE: u64 = 64 * 64;

/// The members among 4096 consecutive stripes.
type Page = [u64; 64];

/// A set of stripes.
#[derive(Debug, Default)]
pub struct StripeSet {
    /// Index of each page with members.
    index: HashMap<u64, u32, FxBuildHasher>,
    pages: Vec<Page>,
    /// Words of each page that have members: together, so that they stay in the processor's cache.
    used: Vec<u64>,
    free: Vec<u32>,
    /// Pages with members, by address.
    order: BTreeSet<u64>,
}

impl StripeSet {
    /// Adds a stripe.
    #[inline]
    pub fn insert(&mut self, stripe: u64) {
        let (page, place) = (stripe / PAGE, stripe % PAGE);
        let slot = match self.index.get(&page) {
            Some(&slot) => slot,
            None => self.add_page(page),
        };
        self.pages[slot as usize][(place / 64) as usize] |= 1 << (place % 64);
        self.used[slot as usize] |= 1 << (place / 64);
    }

    /// Removes a stripe; returns whether it was present.
    #[inline]
    pub fn remove(&mut self, stripe: u64) -> bool {
        let (number, place) = (stripe / PAGE, stripe % PAGE);
        let Some(&slot) = self.index.get(&number) else { return false };
        let (word, bit) = (&mut self.pages[slot as usize][(place / 64) as usize], 1 << (place % 64));
        let was_in = *word & bit != 0;
        *word &= !bit;
        if *word == 0 {
            let used = &mut self.used[slot as usize];
            *used &= !(1 << (place / 64));
            if *used == 0 {
                self.remove_page(number, slot);
            }
        }
        was_in
    }

    /// The first member from `stripe`.
    #[inline]
    pub fn next_from(&self, stripe: u64) -> Option<u64> {
        let (page, place) = (stripe / PAGE, stripe % PAGE);
        if let Some(&slot) = self.index.get(&page)
            && let Some(place) = self.next_in(slot, place)
        {
            return Some(page * PAGE + place);
        }
        let &page = self.order.range(page + 1..).next()?;
        let place = self.next_in(self.index[&page], 0)?;
        Some(page * PAGE + place)
    }

    /// The first member from `place` of the page in `slot`.
    #[inline]
    fn next_in(&self, slot: u32, place: u64) -> Option<u64> {
        let (page, used) = (&self.pages[slot as usize], self.used[slot as usize]);
        let word = place / 64;
        let here = page[word as usize] >> (place % 64);
        if here != 0 {
            return Some(place + u64::from(here.trailing_zeros()));
        }
        let later = used & (u64::MAX << 1 << word);
        if later == 0 {
            return None;
        }
        let word = later.trailing_zeros();
        Some(u64::from(word * 64 + page[word as usize].trailing_zeros()))
    }

    fn add_page(&mut self, page: u64) -> u32 {
        // A freed page has no members.
        let slot = self.free.pop().unwrap_or_else(|| {
            self.pages.push([0; 64]);
            self.used.push(0);
            (self.pages.len() - 1) as u32
        });
        self.index.insert(page, slot);
        self.order.insert(page);
        slot
    }

    fn remove_page(&mut self, page: u64, slot: u32) {
        self.index.remove(&page);
        self.order.remove(&page);
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Stripes at the edges of words and pages, in neighbouring and in distant pages.
    fn stripe() -> impl Strategy<Value = u64> {
        let page = prop_oneof![0..3_u64, Just(1 << 40)];
        let place = prop_oneof![0..3_u64, 62..66_u64, 4030..4034_u64, 4094..4096_u64];
        (page, place).prop_map(|(page, place)| page * PAGE + place)
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_tree(steps in prop::collection::vec((stripe(), any::<bool>(), stripe()), 1..200)) {
            let (mut set, mut tree) = (StripeSet::default(), BTreeSet::new());
            for (stripe, enters, from) in steps {
                if enters {
                    set.insert(stripe);
                    tree.insert(stripe);
                } else {
                    prop_assert_eq!(set.remove(stripe), tree.remove(&stripe));
                }
                prop_assert_eq!(set.next_from(from), tree.range(from..).next().copied());
            }
        }
    }

    #[test]
    fn pages_are_used_again() {
        let mut set = StripeSet::default();
        for stripe in (0..50).map(|page| page * PAGE) {
            set.insert(stripe);
            assert!(set.remove(stripe) && !set.remove(stripe));
        }
        assert_eq!((set.pages.len(), set.next_from(0)), (1, None));
    }
}
