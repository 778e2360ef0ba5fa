//! Passes over a range in random order.

use super::super::permutation::Permutation;
use crate::rng::RandomStream;

/// The position of a source in its pass.
#[derive(Clone, Debug, Default)]
pub struct Pass {
    visited: u64,
    order: Option<Permutation>,
}

impl Pass {
    /// The next of `places` places; a new pass has a new order unless it `is_cyclic`.
    pub fn next(&mut self, places: u64, is_cyclic: bool, stream: &mut RandomStream) -> u64 {
        if self.visited >= places {
            self.restart(is_cyclic);
        }
        let order = self.order.get_or_insert_with(|| Permutation::new(places, stream));
        self.visited += 1;
        order.apply(self.visited - 1)
    }

    /// Begins a new pass.
    pub fn restart(&mut self, is_cyclic: bool) {
        self.visited = 0;
        if !is_cyclic {
            self.order = None;
        }
    }
}
