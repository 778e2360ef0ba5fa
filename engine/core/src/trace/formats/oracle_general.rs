//! oracleGeneral: the binary traces of cache simulators (libCacheSim), of any kind of objects.
//!
//! ```text
//! 24 bytes: time u32 [s], object u64, size u32 [bytes], next access i64 (its number, or -1 for none)
//! ```
//!
//! All numbers are little-endian. The format has no operations: every access is a read. The number of an object is taken
//! as the address of a sector; numbers beyond 2^62, which are hashes, are folded into 2^62 with a warning. Objects
//! therefore overlap or not according to their numbers: in CloudPhysics' traces these are block addresses. Times are
//! whole seconds: the records of a second are spread evenly over it in their order.
//!
//! Recognised by the sizes, and by the numbers of next accesses, which lie ahead.

use crate::trace::binary::{u32_at, u64_at};
use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::extent::Extent;
use crate::trace::problems::Problem;
use crate::trace::record::{Op, Record};
use crate::units::{Bytes, Lba, Sectors, SimDuration};

const ADDRESSES: u64 = 1 << 62;

/// Sizes of block traces are smaller \[bytes\].
const LARGEST: u32 = 1 << 30;

/// Sizes are smaller in a trace whose format is recognised; letters and digits read as a size are larger.
const PLAUSIBLE: Sectors = Bytes(1 << 27).sectors();

/// Decoder of oracleGeneral.
#[derive(Debug, Default)]
pub struct OracleGeneral {
    accesses: i64,
}

impl Decoder for OracleGeneral {
    const NAME: &'static str = "oracle_general";
    const TITLE: &'static str = "oracleGeneral of libCacheSim (binary)";
    const FRAMING: Framing = Framing::Bytes(24);
    const IS_WHOLE_SECONDS: bool = true;

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let (object, size) = (u64_at(frame, 4), u32_at(frame, 12));
        let next = u64_at(frame, 16).cast_signed();
        let is_first = self.accesses == 0;
        self.accesses += 1;
        if size >= LARGEST {
            return Err(BadField { from: 12, to: 16, expected: "a size of less than 1 GiB" });
        }
        if next < -1 || next == 0 && is_first {
            return Err(BadField {
                from: 16,
                to: 24,
                expected: "the number of the next access, or -1 for none",
            });
        }
        let Some(extent) = Extent::of_bytes(0, size.into()) else {
            return Ok(Item::Skipped(Problem::ZeroLength));
        };
        let time = SimDuration(u64::from(u32_at(frame, 0)) * 1_000_000_000);
        let record = Record { lba: Lba(object % ADDRESSES), ..Record::new(time, Op::Read, extent) };
        Ok(match Item::transfer(record, extent.is_rounded) {
            Item::Record(record) if object >= ADDRESSES => Item::Flagged(record, Problem::Folded),
            item => item,
        })
    }

    /// The clock never goes back nor more than a day ahead, and all sizes are plausible.
    fn is_plausible(records: &[Record]) -> bool {
        const DAY: u64 = 86_400_000_000_000;
        records.len() > 1
            && records.iter().all(|record| record.sectors < PLAUSIBLE)
            && records
                .windows(2)
                .all(|pair| pair[1].time.0.checked_sub(pair[0].time.0).is_some_and(|step| step <= DAY))
    }
}
