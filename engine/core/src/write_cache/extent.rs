//! Runs of sectors.

use crate::units::{Lba, Sectors};

/// A run of sectors of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First sector.
    pub lba: Lba,
    /// Number of sectors.
    pub sectors: Sectors,
}

/// Appends the runs of set bits of `mask`, whose lowest bit is sector `base`; joins the first run to the last extent
/// if they are adjacent.
pub(super) fn join_runs(base: u64, mut mask: u64, extents: &mut Vec<Extent>) {
    let mut sector = base;
    while mask != 0 {
        let skip = mask.trailing_zeros();
        mask >>= skip;
        let run = mask.trailing_ones();
        sector += u64::from(skip);
        match extents.last_mut() {
            Some(last) if last.lba.0 + last.sectors.0 == sector => last.sectors.0 += u64::from(run),
            _ => extents.push(Extent { lba: Lba(sector), sectors: Sectors(u64::from(run)) }),
        }
        sector += u64::from(run);
        mask = if run == 64 { 0 } else { mask >> run };
    }
}
