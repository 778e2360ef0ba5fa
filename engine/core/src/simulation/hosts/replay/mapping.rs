//! How the addresses of a trace, and of copies of it, become those of an array.

use crate::config::AddressMap;
use crate::rng::RandomStream;
use crate::trace::Trace;
use crate::units::{Fraction, Lba, Sectors};
use crate::workload::Permutation;

/// 1 MiB, the unit in which `compact` moves addresses, and copies share them \[sectors\].
const EXTENT: u64 = 2048;

/// How the trace's addresses become the array's.
#[derive(Debug)]
pub struct Mapping {
    /// The touched extents, if they are moved together.
    touched: Option<Box<[u64]>>,
    /// The layout of the copies, if there are any.
    copies: Option<Copies>,
    /// The capacity, if addresses wrap at it.
    wrap: Option<u64>,
}

/// The layout of a trace's copies: one after the other, each as long as the trace, but for the shared extents, which are
/// those of the first.
#[derive(Debug)]
struct Copies {
    /// Extents of one copy.
    extents: u64,
    /// Extents that it maps below `shared` are shared.
    order: Permutation,
    shared: u64,
}

impl Copies {
    fn is_shared(&self, extent: u64) -> bool {
        self.shared > 0 && self.order.apply(extent) < self.shared
    }
}

impl Mapping {
    /// The mapping of `copies` of `trace` onto `capacity` sectors. `shared` draws the extents that all copies have in
    /// common, and is their fraction.
    ///
    /// # Errors
    /// The sectors that it needs, if it does not fit.
    pub fn new(
        map: AddressMap,
        trace: &Trace,
        capacity: Sectors,
        copies: u32,
        shared: Option<&(RandomStream, Fraction)>,
    ) -> Result<Self, Sectors> {
        let others = u64::from(copies - 1);
        let copies_of = |extents: u64| {
            let (mut draws, share) = shared.filter(|_| others > 0).cloned()?;
            let shared = (extents as f64 * share.0 + 0.5) as u64;
            Some(Copies { extents, order: Permutation::new(extents, &mut draws), shared })
        };
        let span = trace.end().0.div_ceil(EXTENT).max(1);
        let needed = Sectors((others * span).saturating_mul(EXTENT).saturating_add(trace.end().0));
        if needed <= capacity {
            return Ok(Self { touched: None, copies: copies_of(span), wrap: None });
        }
        match map {
            AddressMap::Error => Err(needed),
            AddressMap::Wrap => {
                let fits = |index| trace.record(index).sectors <= capacity;
                if !(0..trace.len()).all(fits) {
                    return Err(needed);
                }
                Ok(Self { touched: None, copies: copies_of(span), wrap: Some(capacity.0) })
            }
            AddressMap::Compact => {
                let mut touched: Vec<u64> = (0..trace.len())
                    .map(|index| trace.record(index))
                    .filter(|record| record.sectors.0 > 0)
                    .flat_map(|record| record.lba.0 / EXTENT..=(record.lba.0 + record.sectors.0 - 1) / EXTENT)
                    .collect();
                touched.sort_unstable();
                touched.dedup();
                let extents = touched.len() as u64;
                let needed = Sectors((others + 1) * extents * EXTENT);
                if needed > capacity {
                    return Err(needed);
                }
                Ok(Self { touched: Some(touched.into()), copies: copies_of(extents), wrap: None })
            }
        }
    }

    /// Where the request at `lba` of copy `copy` goes.
    #[inline]
    pub fn apply(&self, lba: Lba, sectors: Sectors, copy: u32) -> Lba {
        let mut lba = lba.0;
        if let Some(touched) = &self.touched {
            let place = touched.partition_point(|&extent| extent < lba / EXTENT);
            lba = place as u64 * EXTENT + lba % EXTENT;
        }
        if let Some(copies) = &self.copies
            && !copies.is_shared(lba / EXTENT)
        {
            lba += u64::from(copy) * copies.extents * EXTENT;
        }
        if let Some(capacity) = self.wrap {
            lba = (lba % capacity).min(capacity - sectors.0);
        }
        Lba(lba)
    }
}
