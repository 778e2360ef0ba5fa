//! Passes over a range in a random order that is the same in each.

use super::super::permutation::Permutation;
use crate::rng::RandomStream;

/// The position of a source in its pass.
#[derive(Clone, Debug, Default)]
pub struct Pass {
    visited: u64,
    order: Option<Permutation>,
}

impl Pass {
    /// The next of `places` places.
    pub fn next(&mut self, places: u64, stream: &mut RandomStream) -> u64 {
        if self.visited >= places {
            self.restart();
        }
        let order = self.order.get_or_insert_with(|| Permutation::new(places, stream));
        self.visited += 1;
        order.apply(self.visited - 1)
    }

    /// Begins a new pass.
    pub const fn restart(&mut self) {
        self.visited = 0;
    }
}
