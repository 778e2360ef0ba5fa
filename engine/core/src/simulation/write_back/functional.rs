//! Writes and destages of the functional warm-up, which take no time.

use super::WriteBack;
use crate::simulation::context::Context;
use crate::write_cache::{Accepted, mask};

/// The progress of the functional warm-up of a write cache.
#[derive(Debug)]
pub struct Fill {
    /// Lines to which the cache is filled.
    target: u32,
    /// Lines destaged.
    destaged: u64,
    /// Whether the sweeps of the arrays have begun.
    has_begun: Box<[bool]>,
}

impl Fill {
    /// A warm-up that fills the cache to `target` lines of `arrays` arrays.
    pub fn new(target: u32, arrays: usize) -> Self {
        Self { target, destaged: 0, has_begun: vec![false; arrays].into() }
    }

    /// Whether the cache is filled, and what it holds has the order of a long run.
    pub fn is_over(&self) -> bool {
        self.destaged >= u64::from(self.target)
    }

    /// Lines that the cache may hold when `accepted` have been accepted.
    ///
    /// A sweep that passes all addresses once while twice the target is accepted, at a constant pace, finds at each stripe
    /// what was accepted for it since the beginning: it destages accepted^2 / (4 target), and when it is through, the cache
    /// holds the target, most of it just before the sweep and nothing just behind it, as in a long run.
    const fn level(&self, accepted: u64) -> u64 {
        let target = self.target as u64;
        let accepted = if accepted < 2 * target { accepted } else { 2 * target };
        accepted - accepted * accepted / (4 * target)
    }
}

impl WriteBack {
    /// Accepts a write into one line, and destages what the policy chooses as far as `fill` asks for it. When the cache has
    /// accepted half of its target, the sweep of a policy by address begins at the line that is written: it may be
    /// anywhere. Sooner, hot lines would often be that line.
    pub fn warm_up(
        &mut self,
        context: &mut Context,
        (array, lba, sectors): (u16, u64, u64),
        fill: &mut Fill,
    ) {
        let line = self.lines.line_of(lba);
        let mask = mask(lba - self.lines.start(line), sectors);
        while self.cache.accept(context.now(), array, line, mask, true) == Accepted::Full {
            if !self.destage_at_once(context, (array, line), fill) {
                return;
            }
        }
        context.probe.watch(|oracle| oracle.accept(None, array, lba, sectors, true));
        let used = |back: &Self| u64::from(back.cache.used());
        while used(self) > fill.level(used(self) + fill.destaged)
            && self.destage_at_once(context, (array, line), fill)
        {}
    }

    /// Destages the stripe of an array that the policy chooses, if there is one; from `line` on if the sweep begins.
    fn destage_at_once(&mut self, context: &mut Context, (array, line): (u16, u64), fill: &mut Fill) -> bool {
        let accepted = u64::from(self.cache.used()) + fill.destaged;
        let begins = !fill.has_begun[array as usize] && 2 * accepted >= u64::from(fill.target);
        let from = if begins { self.cache.stripe_of(array, line).stripe } else { 0 };
        fill.has_begun[array as usize] |= begins;
        let group = self.cache.choose(array, |stripe| stripe < from);
        let Some(group) = group.or_else(|| self.cache.choose(array, |_| false)) else { return false };
        let (_, lines, count) = self.cache.begin_destage(group, &mut self.extents);
        context.probe.watch(|oracle| oracle.forget_destaged(array, &self.extents));
        self.cache.end_destage(lines, |_, _| ());
        fill.destaged += u64::from(count);
        true
    }
}
