//! Slabs and index links: storage for short-lived entries without an allocation each.

use std::ops::{Index, IndexMut};

/// A link to another entry of the same slab, or the end of a list. Half the size of `Option<u32>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link(u32);

impl Link {
    /// The end of a list.
    pub const END: Self = Self(u32::MAX);

    /// A link to the entry at `index`.
    #[inline]
    pub const fn to(index: u32) -> Self {
        Self(index)
    }

    /// The linked index, or none at the end of a list.
    #[inline]
    pub const fn get(self) -> Option<u32> {
        if self.0 == u32::MAX { None } else { Some(self.0) }
    }
}

/// Entries with stable indices; freed indices are reused, the latest first.
#[derive(Debug)]
pub struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    /// Adds `entry` and returns its index.
    #[inline]
    pub fn insert(&mut self, entry: T) -> u32 {
        if let Some(index) = self.free.pop() {
            self.entries[index as usize] = entry;
            index
        } else {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        }
    }

    /// Removes and returns the entry at `index`. Precondition: it is present.
    #[inline]
    pub fn remove(&mut self, index: u32) -> T {
        self.free.push(index);
        self.entries[index as usize]
    }

    /// The entries by index. Visits all indices, so only for rare events.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mut is_free = vec![false; self.entries.len()];
        for &index in &self.free {
            is_free[index as usize] = true;
        }
        self.entries.iter().zip(is_free).filter_map(|(entry, is_free)| (!is_free).then_some(entry))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.entries[index as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.entries[index as usize]
    }
}

/// A first-in-first-out list through a link field of the entries of a slab.
#[derive(Clone, Copy, Debug)]
pub struct LinkedQueue {
    head: Link,
    tail: Link,
}

impl Default for LinkedQueue {
    fn default() -> Self {
        Self { head: Link::END, tail: Link::END }
    }
}

impl LinkedQueue {
    /// Whether the list is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.head == Link::END
    }

    /// The first entry.
    #[inline]
    pub const fn first(self) -> Option<u32> {
        self.head.get()
    }

    /// Appends the entry at `index`; `next` gives the link field of an entry.
    #[inline]
    pub fn push<T>(&mut self, slab: &mut Slab<T>, index: u32, next: impl Fn(&mut T) -> &mut Link) {
        *next(&mut slab[index]) = Link::END;
        match self.tail.get() {
            Some(tail) => *next(&mut slab[tail]) = Link::to(index),
            None => self.head = Link::to(index),
        }
        self.tail = Link::to(index);
    }

    /// Removes and returns the first entry.
    #[inline]
    pub fn pop<T>(&mut self, slab: &mut Slab<T>, next: impl Fn(&mut T) -> &mut Link) -> Option<u32> {
        let index = self.head.get()?;
        self.head = *next(&mut slab[index]);
        if self.head == Link::END {
            self.tail = Link::END;
        }
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_keeps_order_and_a_slab_reuses_indices() {
        let mut slab: Slab<(u8, Link)> = Slab::default();
        let mut queue = LinkedQueue::default();
        for value in 0..4 {
            let index = slab.insert((value, Link::END));
            queue.push(&mut slab, index, |entry| &mut entry.1);
        }
        let mut seen = Vec::new();
        while let Some(index) = queue.pop(&mut slab, |entry| &mut entry.1) {
            seen.push(slab.remove(index).0);
        }
        assert_eq!(seen, [0, 1, 2, 3]);
        assert_eq!(slab.iter().count(), 0);
        assert!(slab.len() == 0 && queue.is_empty());
        assert_eq!(slab.insert((9, Link::END)), 3, "the place freed last is used first");
        assert_eq!(slab.iter().map(|entry| entry.0).collect::<Vec<_>>(), [9]);
    }
}
