//! The order in which the segments of a buffer were last used.
//!
//! ```text
//!   ends ──► least recently used ──► ... ──► most recently used ──► ends
//! ```

/// Maximum number of segments of a buffer, as the configuration allows.
const MAX_SEGMENTS: usize = 64;

/// A ring of the segments and, as one more place, its two ends.
#[derive(Debug)]
pub(super) struct Recency {
    places: [Place; MAX_SEGMENTS + 1],
    /// The place between the most and the least recently used segment.
    ends: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    older: u8,
    newer: u8,
}

impl Recency {
    /// `count` segments, the first of which was used least recently.
    pub fn new(count: usize) -> Self {
        let mut places = [Place::default(); MAX_SEGMENTS + 1];
        let ends = count.min(MAX_SEGMENTS) as u8;
        for place in 0..=ends {
            places[place as usize] = Place {
                older: if place == 0 { ends } else { place - 1 },
                newer: if place == ends { 0 } else { place + 1 },
            };
        }
        Self { places, ends }
    }

    /// Makes `segment` the most recently used.
    #[inline]
    pub fn touch(&mut self, segment: usize) {
        let Place { older, newer } = self.places[segment];
        self.places[older as usize].newer = newer;
        self.places[newer as usize].older = older;
        let newest = self.places[self.ends as usize].older;
        self.places[newest as usize].newer = segment as u8;
        self.places[segment] = Place { older: newest, newer: self.ends };
        self.places[self.ends as usize].older = segment as u8;
    }

    /// The segments, the least recently used first.
    #[inline]
    pub fn oldest_first(&self) -> impl Iterator<Item = usize> {
        let mut at = self.ends;
        std::iter::from_fn(move || {
            at = self.places[at as usize].newer;
            (at != self.ends).then_some(at as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_agrees_with_a_list(count in 1..=MAX_SEGMENTS, touched in prop::collection::vec(0..MAX_SEGMENTS, 0..200)) {
            let mut recency = Recency::new(count);
            let mut list: Vec<usize> = (0..count).collect();
            for segment in touched.into_iter().map(|segment| segment % count) {
                recency.touch(segment);
                list.retain(|&other| other != segment);
                list.push(segment);
                prop_assert_eq!(recency.oldest_first().collect::<Vec<_>>(), &list[..]);
            }
        }
    }
}
