//! vscsi: the binary traces of VMware's `vscsiStats` as CloudPhysics collected them, versions 1 and 2.
//!
//! ```text
//! version 1, 32 bytes: sn u32, len u32 [bytes], nSG u32, cmd u16, ver u16, lbn u64 [512 bytes], ts u64 [us]
//! version 2, 40 bytes: cmd u16, ver u16, sn u32, len u32 [bytes], nSG u32, lbn u64 [512 bytes], ts u64 [us], rt u64 [us]
//! ```
//!
//! All numbers are little-endian; the high byte of `ver` is the version; `cmd` is the SCSI command. Version 2 adds the
//! response time. Neither process nor volume is recorded.
//!
//! C. A. Waldspurger, N. Park, A. Garthwaite, I. Ahmad: Efficient MRC Construction with SHARDS, FAST, 2015.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::problems::Problem;
use super::super::text::sectors_of;
use super::words::{u16_at, u32_at, u64_at};
use crate::trace::{Op, Record};
use crate::units::{Lba, SimDuration};

/// What a SCSI command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Transfer(Op),
    Flush,
    Other(Problem),
}

/// What the SCSI command of this code asks for.
#[inline]
pub(super) const fn scsi_command(code: u8) -> Command {
    match code {
        0x08 | 0x28 | 0x88 | 0xa8 => Command::Transfer(Op::Read),
        0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x8e | 0xae => Command::Transfer(Op::Write),
        0x35 | 0x91 => Command::Flush,
        0x42 => Command::Other(Problem::Discard),
        _ => Command::Other(Problem::Command),
    }
}

/// The numbers of a record, wherever they stand in it.
struct Fields {
    command: u16,
    version: u16,
    version_at: usize,
    length: u32,
    lbn: u64,
    lbn_at: usize,
    time_us: u64,
    response_us: Option<u64>,
}

#[inline]
fn item(fields: &Fields, version: u16) -> Result<Item, Bad> {
    let at = |from, bytes, expected| Bad { from, to: from + bytes, expected };
    if fields.version >> 8 != version {
        return Err(at(fields.version_at, 2, "the version: 0x01.. or 0x02.., as --format says"));
    }
    if fields.lbn >= 1 << 63 {
        return Err(at(fields.lbn_at, 8, "a block address of less than 2^63"));
    }
    let Some(time) = fields.time_us.checked_mul(1000) else {
        return Err(at(fields.lbn_at + 8, 8, "a time [us] of less than 2^64 ns"));
    };
    let record = Record {
        response: fields.response_us.and_then(|response| Some(SimDuration(response.checked_mul(1000)?))),
        ..Record::flush(SimDuration(time))
    };
    Ok(match scsi_command(fields.command as u8) {
        Command::Other(problem) => Item::Left(problem),
        Command::Flush => Item::Record(record),
        Command::Transfer(op) => match sectors_of(0, fields.length.into()) {
            None => Item::Left(Problem::ZeroLength),
            Some((_, sectors, is_rounded)) => {
                Item::rounded_if(is_rounded, Record { lba: Lba(fields.lbn), sectors, op, ..record })
            }
        },
    })
}

/// Reader of version 1.
#[derive(Debug, Default)]
pub struct V1;

impl Decode for V1 {
    const NAME: &'static str = "vscsi_v1";
    const TITLE: &'static str = "CloudPhysics vscsi, version 1 (binary)";
    const FRAME: Frame = Frame::Bytes(32);

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let fields = Fields {
            command: u16_at(frame, 12),
            version: u16_at(frame, 14),
            version_at: 14,
            length: u32_at(frame, 4),
            lbn: u64_at(frame, 16),
            lbn_at: 16,
            time_us: u64_at(frame, 24),
            response_us: None,
        };
        item(&fields, 1)
    }
}

/// Reader of version 2.
#[derive(Debug, Default)]
pub struct V2;

impl Decode for V2 {
    const NAME: &'static str = "vscsi_v2";
    const TITLE: &'static str = "CloudPhysics vscsi, version 2 (binary)";
    const FRAME: Frame = Frame::Bytes(40);

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let fields = Fields {
            command: u16_at(frame, 0),
            version: u16_at(frame, 2),
            version_at: 2,
            length: u32_at(frame, 8),
            lbn: u64_at(frame, 16),
            lbn_at: 16,
            time_us: u64_at(frame, 24),
            response_us: Some(u64_at(frame, 32)),
        };
        item(&fields, 2)
    }
}
