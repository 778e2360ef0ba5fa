//! vscsi: the binary traces of VMware's `vscsiStats` as CloudPhysics collected them, versions 1 and 2.
//!
//! ```text
//! version 1, 32 bytes: sn u32, len u32 [bytes], nSG u32, cmd u16, ver u16, lbn u64 [512 bytes], ts u64 [us]
//! version 2, 40 bytes: cmd u16, ver u16, sn u32, len u32 [bytes], nSG u32, lbn u64 [512 bytes], ts u64 [us], rt u64 [us]
//! ```
//!
//! All numbers are little-endian; the high byte of `ver` is the version; the low byte of `cmd` is the SCSI command.
//! Version 2 adds the response time. The format has no process or volume.
//!
//! C. A. Waldspurger, N. Park, A. Garthwaite, I. Ahmad: Efficient MRC Construction with SHARDS, FAST, 2015.

use super::scsi::ScsiCommand;
use crate::trace::binary::{u16_at, u32_at, u64_at};
use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::extent::Extent;
use crate::trace::problems::Problem;
use crate::trace::record::Record;
use crate::units::{Lba, SimDuration};

const LBN_AT: usize = 16;
const TIME_AT: usize = 24;

/// Decodes a record of version `version` whose other numbers begin at these bytes.
#[inline]
fn decode(
    frame: &[u8],
    version: u16,
    (command_at, length_at): (usize, usize),
    response_us: Option<u64>,
) -> Result<Item, BadField> {
    let bad = |from, bytes, expected| Err(BadField { from, to: from + bytes, expected });
    let version_at = command_at + 2;
    if u16_at(frame, version_at) >> 8 != version {
        return bad(version_at, 2, "the version: 0x01.. or 0x02.., as in --format");
    }
    let lbn = u64_at(frame, LBN_AT);
    if lbn >= 1 << 63 {
        return bad(LBN_AT, 8, "a block address of less than 2^63");
    }
    let Some(time) = u64_at(frame, TIME_AT).checked_mul(1000).map(SimDuration) else {
        return bad(TIME_AT, 8, "a time [us] of less than 2^64 ns");
    };
    let response = response_us.and_then(|response| response.checked_mul(1000)).map(SimDuration);
    Ok(match ScsiCommand::of_code(u16_at(frame, command_at) as u8) {
        ScsiCommand::Other(problem) => Item::Skipped(problem),
        ScsiCommand::Flush => Item::Record(Record { response, ..Record::flush(time) }),
        ScsiCommand::Transfer(op) => match Extent::of_bytes(0, u32_at(frame, length_at).into()) {
            None => Item::Skipped(Problem::ZeroLength),
            Some(extent) => {
                let record = Record { response, lba: Lba(lbn), ..Record::new(time, op, extent) };
                Item::transfer(record, extent.is_rounded)
            }
        },
    })
}

/// Decoder of version 1.
#[derive(Debug, Default)]
pub struct V1;

impl Decoder for V1 {
    const NAME: &'static str = "vscsi_v1";
    const TITLE: &'static str = "CloudPhysics vscsi, version 1 (binary)";
    const FRAMING: Framing = Framing::Bytes(32);

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        decode(frame, 1, (12, 4), None)
    }
}

/// Decoder of version 2.
#[derive(Debug, Default)]
pub struct V2;

impl Decoder for V2 {
    const NAME: &'static str = "vscsi_v2";
    const TITLE: &'static str = "CloudPhysics vscsi, version 2 (binary)";
    const FRAMING: Framing = Framing::Bytes(40);

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        decode(frame, 2, (0, 8), Some(u64_at(frame, 32)))
    }
}
