//! oracleGeneral: the binary traces of cache simulators (libCacheSim), made of any kind of objects.
//!
//! ```text
//! 24 bytes: time u32 [s], object u64, size u32 [bytes], next access i64 (its number, or -1 for none)
//! ```
//!
//! All numbers are little-endian. The format knows no operations, so every access is a read. The object's number is
//! taken for the address of a sector; numbers beyond 2^62, which are hashes, are folded into 2^62 and counted. Whether
//! objects overlap is therefore up to their numbers: in CloudPhysics' own they are block addresses. Times are whole
//! seconds: the records of a second are spread evenly over it in their order.
//!
//! Recognised by its sizes, and by the numbers of next accesses, which lie ahead.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::problems::Problem;
use super::super::text::sectors_of;
use super::words::{u32_at, u64_at};
use crate::trace::{Op, Record};
use crate::units::{Bytes, Lba, Sectors, SimDuration};

const ADDRESSES: u64 = 1 << 62;

/// A size that no object of a block trace has \[bytes\].
const LARGEST: u32 = 1 << 30;

/// Objects are smaller where the format is recognised; what letters and digits would mean as a size is larger.
const PLAUSIBLE: Sectors = Bytes(1 << 27).sectors();

/// Reader of oracleGeneral.
#[derive(Debug, Default)]
pub struct OracleGeneral {
    accesses: i64,
}

impl Decode for OracleGeneral {
    const NAME: &'static str = "oracle_general";
    const TITLE: &'static str = "oracleGeneral of libCacheSim (binary)";
    const FRAME: Frame = Frame::Bytes(24);
    const IS_WHOLE_SECONDS: bool = true;

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let (object, size) = (u64_at(frame, 4), u32_at(frame, 12));
        let next = u64_at(frame, 16).cast_signed();
        let is_first = self.accesses == 0;
        self.accesses += 1;
        if size >= LARGEST {
            return Err(Bad { from: 12, to: 16, expected: "a size of less than 1 GiB" });
        }
        if next < -1 || next == 0 && is_first {
            return Err(Bad { from: 16, to: 24, expected: "the number of the next access, or -1 for none" });
        }
        let Some((_, sectors, is_rounded)) = sectors_of(0, size.into()) else {
            return Ok(Item::Left(Problem::ZeroLength));
        };
        let record = Record {
            lba: Lba(object % ADDRESSES),
            sectors,
            op: Op::Read,
            ..Record::flush(SimDuration(u64::from(u32_at(frame, 0)) * 1_000_000_000))
        };
        Ok(match Item::rounded_if(is_rounded, record) {
            Item::Record(record) if object >= ADDRESSES => Item::Noted(record, Problem::Folded),
            item => item,
        })
    }

    /// The clock never goes back, nor far ahead, and few accesses are of nothing.
    fn is_plausible(records: &[Record]) -> bool {
        const DAY: u64 = 86_400_000_000_000;
        records.len() > 1
            && records.iter().all(|record| record.sectors < PLAUSIBLE)
            && records
                .windows(2)
                .all(|pair| pair[1].time.0.checked_sub(pair[0].time.0).is_some_and(|step| step <= DAY))
    }
}
