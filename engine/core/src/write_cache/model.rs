//! Random operations on a write cache against a naive one: a map from sectors to versions.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use proptest::prelude::*;

use super::tests::parts;
use super::*;
use crate::config::DestagePolicy as Policy;
use crate::destage::WaterMarks;
use crate::units::{Lba, SimDuration};

const LINE: u64 = 8;
const STRIPE: u64 = 32;
const ARRAYS: u16 = 2;
const SECTORS: u64 = 6 * STRIPE;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A write of sectors from `lba`, line by line, until the cache is full.
    Write { array: u16, lba: u64, sectors: u64 },
    /// The policy's next destage starts.
    Begin { array: u16 },
    /// The destage of the oldest stripe at its age limit starts.
    BeginOverdue { array: u16 },
    /// The oldest or newest destage in flight ends.
    End { is_latest: bool },
    /// A write around the cache starts.
    Around { array: u16, lba: u64, sectors: u64 },
    /// The first write around the cache is on the media.
    EndAround,
    /// The power is cut, with or without loss of the memory.
    Cut { loses: bool },
}

fn step() -> impl Strategy<Value = Step> {
    let write = || (0..ARRAYS, 0..SECTORS - 24, prop::sample::select(vec![1_u64, 3, 8, 16, 24]));
    prop_oneof![
        12 => write().prop_map(|(array, lba, sectors)| Step::Write { array, lba, sectors }),
        6 => (0..ARRAYS).prop_map(|array| Step::Begin { array }),
        2 => (0..ARRAYS).prop_map(|array| Step::BeginOverdue { array }),
        6 => any::<bool>().prop_map(|is_latest| Step::End { is_latest }),
        4 => write().prop_map(|(array, lba, sectors)| Step::Around { array, lba, sectors }),
        4 => Just(Step::EndAround),
        1 => any::<bool>().prop_map(|loses| Step::Cut { loses }),
    ]
}

/// A destage in flight: array, stripe, the cache's list of lines, and the sectors with their versions.
#[derive(Debug)]
struct InFlight {
    array: u16,
    stripe: u64,
    lines: Link,
    sectors: Vec<(u64, u64)>,
}

/// A write around the cache: request, array, stripe, sectors and their version.
#[derive(Debug)]
struct Around {
    request: u32,
    array: u16,
    stripe: u64,
    extent: Extent,
    version: u64,
}

/// The naive cache: versions by array and sector.
#[derive(Debug, Default)]
struct Naive {
    dirty: BTreeMap<(u16, u64), u64>,
    clean: BTreeMap<(u16, u64), u64>,
    media: BTreeMap<(u16, u64), u64>,
    in_flight: Vec<InFlight>,
    around: Vec<Around>,
    /// Time at which each dirty stripe got its first dirty sector.
    since: BTreeMap<(u16, u64), u64>,
    accepted: u64,
    absorbed: u64,
    destaged: u64,
    lost: u64,
}

impl Naive {
    fn is_busy(&self, array: u16, stripe: u64) -> bool {
        self.in_flight.iter().any(|in_flight| (in_flight.array, in_flight.stripe) == (array, stripe))
            || self.around.iter().any(|around| (around.array, around.stripe) == (array, stripe))
    }

    fn going_sectors(&self) -> u64 {
        self.in_flight.iter().map(|in_flight| in_flight.sectors.len() as u64).sum()
    }

    /// Lines with dirty sectors, and lines in flight.
    fn used(&self) -> u32 {
        let mut dirty: Vec<_> = self.dirty.keys().map(|&(array, sector)| (array, sector / LINE)).collect();
        dirty.dedup();
        let mut count = dirty.len();
        for in_flight in &self.in_flight {
            let mut lines: Vec<_> = in_flight.sectors.iter().map(|&(sector, _)| sector / LINE).collect();
            lines.dedup();
            count += lines.len();
        }
        count as u32
    }

    fn has_dirty_line(&self, array: u16, line: u64) -> bool {
        self.dirty.range((array, line * LINE)..(array, (line + 1) * LINE)).next().is_some()
    }

    fn forget_age(&mut self) {
        let dirty = &self.dirty;
        self.since.retain(|&(array, stripe), _| {
            dirty.range((array, stripe * STRIPE)..(array, (stripe + 1) * STRIPE)).next().is_some()
        });
    }
}

/// The sectors of an extent.
fn sectors(extent: Extent) -> std::ops::Range<u64> {
    extent.lba.0..extent.lba.0 + extent.sectors.0
}

/// The parts of the sectors `from` to `to` by blocks of `size`, with the number of the block.
fn blocks(from: u64, to: u64, size: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    (from / size..=(to - 1) / size).map(move |n| (n, from.max(n * size), to.min((n + 1) * size)))
}

const AGE: u64 = 20;

/// The cache and the naive cache.
struct Pair {
    cache: WriteCache,
    naive: Naive,
    prefers_full: bool,
    keeps_clean: bool,
}

type Verdict = Result<(), TestCaseError>;

impl Pair {
    /// Writes the sectors from `lba`, line by line, until the cache is full.
    fn write(&mut self, now: u64, version: u64, array: u16, lba: u64, sectors: u64) -> Verdict {
        let Self { cache, naive, .. } = self;
        let fits = cache.has_room(array, Extent { lba: Lba(lba), sectors: Sectors(sectors) });
        for (line, from, to) in blocks(lba, lba + sectors, LINE) {
            let is_new = !naive.has_dirty_line(array, line);
            let has_room = naive.used() < cache.capacity();
            let bits = mask(from - line * LINE, to - from);
            let accepted = cache.accept(SimTime(now), array, line, bits, true);
            if is_new && !has_room {
                prop_assert_eq!(accepted, Accepted::Full);
                prop_assert!(!fits, "room for a write that did not fit");
                return Ok(());
            }
            let absorbed =
                (from..to).filter(|&sector| naive.dirty.contains_key(&(array, sector))).count() as u32;
            prop_assert_eq!(accepted, Accepted::In { absorbed, was_dirty: !is_new });
            naive.since.entry((array, line * LINE / STRIPE)).or_insert(now);
            for sector in from..to {
                naive.dirty.insert((array, sector), version);
                naive.clean.remove(&(array, sector));
            }
            naive.accepted += to - from;
            naive.absorbed += u64::from(absorbed);
        }
        prop_assert!(fits, "no room for a write that fit");
        Ok(())
    }

    /// Starts a destage: the policy's next, or the oldest at its age limit.
    fn begin(&mut self, now: u64, array: u16, by_age: bool) -> Verdict {
        let Self { cache, naive, prefers_full, .. } = self;
        let mut out = Vec::new();
        let is_busy = |stripe| naive.is_busy(array, stripe);
        let stripes = naive.since.iter().filter(|&(&(a, stripe), _)| a == array && !is_busy(stripe));
        let chosen = if by_age {
            let chosen = cache.overdue(array, SimTime(now), SimDuration(AGE), is_busy);
            let oldest = stripes.map(|(&(_, stripe), &since)| (since, stripe)).min();
            let due = oldest.filter(|&(since, _)| since + AGE <= now);
            let given = chosen.map(|group| cache.groups.since(group).map(|since| since.0));
            prop_assert_eq!(given, due.map(|(since, _)| Some(since)), "the oldest that is of age");
            chosen
        } else {
            let is_full = |stripe: u64| {
                let first = (array, stripe * STRIPE);
                naive.dirty.range(first..(array, first.1 + STRIPE)).count() as u64 == STRIPE
            };
            let mut stripes = stripes.map(|(&(_, stripe), _)| stripe).peekable();
            let has_any = stripes.peek().is_some();
            let has_full = stripes.any(is_full);
            let chosen = cache.choose(array, is_busy);
            prop_assert_eq!(chosen.is_some(), has_any, "what is dirty and not busy can leave");
            if let (true, true, Some(group)) = (*prefers_full, has_full, chosen) {
                prop_assert!(is_full(cache.groups.get(group).place().stripe), "full stripes first");
            }
            chosen
        };
        let Some(group) = chosen else { return Ok(()) };
        let (stripe, lines, _) = cache.begin_destage(group, &mut out);
        prop_assert!(!naive.is_busy(array, stripe));
        prop_assert!(
            out.windows(2).all(|w| w[0].lba.0 + w[0].sectors.0 < w[1].lba.0),
            "extents rise and do not touch: {:?}",
            out
        );
        let mut leaving = Vec::new();
        for sector in out.iter().copied().flat_map(sectors) {
            let version = naive.dirty.remove(&(array, sector));
            prop_assert!(version.is_some(), "sector {} was not dirty", sector);
            leaving.push((sector, version.unwrap_or_default()));
        }
        naive.since.remove(&(array, stripe));
        let first = (array, stripe * STRIPE);
        prop_assert_eq!(naive.dirty.range(first..(array, first.1 + STRIPE)).count(), 0, "all of it");
        naive.in_flight.push(InFlight { array, stripe, lines, sectors: leaving });
        Ok(())
    }

    /// Ends a destage.
    fn end(&mut self, is_latest: bool) -> Verdict {
        let Self { cache, naive, keeps_clean, .. } = self;
        if naive.in_flight.is_empty() {
            return Ok(());
        }
        let index = if is_latest { naive.in_flight.len() - 1 } else { 0 };
        let InFlight { array, lines, sectors, .. } = naive.in_flight.remove(index);
        prop_assert_eq!(cache.end_destage(lines, |_, _| ()), sectors.len() as u64);
        naive.destaged += sectors.len() as u64;
        for (sector, version) in sectors {
            let before = naive.media.insert((array, sector), version);
            prop_assert!(before.is_none_or(|before| before < version), "media never go back");
            if *keeps_clean && !naive.dirty.contains_key(&(array, sector)) {
                naive.clean.insert((array, sector), version);
            }
        }
        Ok(())
    }

    /// Starts a write around the cache.
    fn around(&mut self, version: u64, array: u16, lba: u64, count: u64) {
        let Self { cache, naive, .. } = self;
        let request = version as u32;
        for (stripe, from, to) in blocks(lba, lba + count, STRIPE) {
            // Writes to one stripe are serialised; a destage in flight comes first.
            if naive.is_busy(array, stripe) {
                continue;
            }
            let extent = Extent { lba: Lba(from), sectors: Sectors(to - from) };
            cache.forget_clean(array, extent);
            cache.claim(request, array, stripe, extent);
            for sector in from..to {
                naive.clean.remove(&(array, sector));
            }
            naive.around.push(Around { request, array, stripe, extent, version });
        }
    }

    /// Ends the first write around the cache.
    fn end_around(&mut self) -> Verdict {
        let Self { cache, naive, .. } = self;
        if naive.around.is_empty() {
            return Ok(());
        }
        let Around { request, array, stripe, extent, version } = naive.around.remove(0);
        let mut gone = Vec::new();
        let count = cache.supersede(request, stripe, |line, mask| {
            gone.extend((0..LINE).filter(|bit| mask >> bit & 1 == 1).map(|bit| line * LINE + bit));
        });
        gone.sort_unstable();
        let older: Vec<u64> = sectors(extent)
            .filter(|&sector| naive.dirty.get(&(array, sector)).is_some_and(|&dirty| dirty < version))
            .collect();
        prop_assert_eq!((&gone, count), (&older, older.len() as u64), "what is older is dropped");
        naive.absorbed += count;
        for sector in sectors(extent) {
            let before = naive.media.insert((array, sector), version);
            prop_assert!(before.is_none_or(|before| before < version), "media never go back");
        }
        for sector in older {
            naive.dirty.remove(&(array, sector));
        }
        naive.forget_age();
        Ok(())
    }

    /// Cuts the power.
    fn cut(&mut self, now: u64, loses: bool) -> Verdict {
        let Self { cache, naive, .. } = self;
        naive.around.clear();
        let mut absorbed = 0;
        for InFlight { array, stripe, sectors, .. } in std::mem::take(&mut naive.in_flight) {
            for (sector, version) in sectors {
                if let Entry::Vacant(place) = naive.dirty.entry((array, sector)) {
                    place.insert(version);
                    naive.clean.remove(&(array, sector));
                } else {
                    absorbed += 1;
                }
            }
            naive.since.entry((array, stripe)).or_insert(now);
        }
        prop_assert_eq!(cache.cut_power(SimTime(now)), absorbed);
        naive.absorbed += absorbed;
        if loses {
            naive.lost += naive.dirty.len() as u64;
            naive.dirty.clear();
            naive.clean.clear();
            naive.since.clear();
            cache.lose_all();
        }
        Ok(())
    }

    /// Checks that both hold the same.
    fn compare(&self) -> Verdict {
        let Self { cache, naive, .. } = self;
        let dirty = naive.dirty.len() as u64 + naive.going_sectors();
        prop_assert_eq!((cache.used(), cache.dirty_sectors()), (naive.used(), dirty));
        prop_assert!(cache.used() <= cache.taken() && cache.taken() <= cache.capacity(), "dirty <= capacity");
        let gone = naive.destaged + naive.absorbed + naive.lost;
        prop_assert_eq!(naive.accepted, gone + dirty, "sectors are conserved");
        for array in 0..ARRAYS {
            for sector in 0..SECTORS {
                let is_in_flight = naive.in_flight.iter().any(|in_flight| {
                    in_flight.array == array && in_flight.sectors.iter().any(|&(s, _)| s == sector)
                });
                let held = cache.holds(array, sector / LINE, 1 << (sector % LINE));
                let is_dirty = is_in_flight || naive.dirty.contains_key(&(array, sector));
                prop_assert_eq!(held == Some(Held::Dirty), is_dirty, "sector {} of {}", sector, array);
                if held == Some(Held::Clean) {
                    let clean = naive.clean.get(&(array, sector));
                    prop_assert_eq!(
                        clean,
                        naive.media.get(&(array, sector)),
                        "what is clean is on the media"
                    );
                }
            }
        }
        Ok(())
    }
}

/// Random steps, one per nanosecond.
fn run(policy: Policy, prefers_full: bool, keeps_clean: bool, steps: &[Step]) -> Verdict {
    let destage = Destage::new(policy, ARRAYS.into(), WaterMarks::new(8, 4));
    let parts = Parts { destage, prefers_full, keeps_clean, ..parts(10, policy) };
    let cache = WriteCache::new(parts, &[Sectors(STRIPE); ARRAYS as usize]);
    let mut pair = Pair { cache, naive: Naive::default(), prefers_full, keeps_clean };
    for (now, &step) in (0..).zip(steps) {
        let version = now + 1;
        match step {
            Step::Write { array, lba, sectors } => pair.write(now, version, array, lba, sectors)?,
            Step::Begin { array } => pair.begin(now, array, false)?,
            Step::BeginOverdue { array } => pair.begin(now, array, true)?,
            Step::End { is_latest } => pair.end(is_latest)?,
            Step::Around { array, lba, sectors } => pair.around(version, array, lba, sectors),
            Step::EndAround => pair.end_around()?,
            Step::Cut { loses } => pair.cut(now, loses)?,
        }
        pair.compare()?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_policy_agrees_with_a_naive_cache(
        steps in prop::collection::vec(step(), 1..150),
        prefers_full: bool,
        keeps_clean: bool,
    ) {
        for &policy in Policy::ALL {
            run(policy, prefers_full, keeps_clean, &steps)?;
        }
    }
}
