//! fio iolog: what `fio --write_iolog` writes and `--read_iolog` replays, versions 2 and 3.
//!
//! ```text
//! fio version 2 iolog          fio version 3 iolog
//! /dev/sdb add                 0 /dev/sdb add
//! /dev/sdb write 0 4096        0 /dev/sdb write 0 4096
//! /dev/sdb wait 250            250 /dev/sdb read 4096 4096
//! ```
//!
//! Offsets and lengths are bytes. Version 3 has the time since the start of the run \[us\] before each line. Version 2
//! has no times: the time goes on with each `wait` \[us\] only, so what stands between two waits has one time. `sync`
//! and `datasync` are flushes that a process waits for; `trim` and `sync_file_range` are left out and counted. Files are
//! numbered in the order in which they appear; the number is the volume. Neither process nor response time is recorded.

use rustc_hash::FxHashMap;

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::problems::Problem;
use super::super::text::{Cell, Line, MICROSECONDS, sectors_of};
use crate::trace::{Flags, Op, Record};
use crate::units::SimDuration;

/// Files that one trace may name, and bytes that a name may have.
const FILES: usize = 1 << 16;
const NAME: usize = 256;

/// Reader of fio's iologs.
#[derive(Debug, Default)]
pub struct Iolog {
    version: Option<u32>,
    files: FxHashMap<Box<[u8]>, u32>,
    /// The time of the line at hand in version 2.
    clock: SimDuration,
}

impl Iolog {
    fn file(&mut self, name: Cell<'_>) -> Result<u32, Bad> {
        if let Some(&number) = self.files.get(name.bytes) {
            return Ok(number);
        }
        if name.bytes.is_empty() || name.bytes.len() > NAME || self.files.len() == FILES {
            return Err(name.bad("a file's name of at most 256 bytes; a trace may name 65,536 files"));
        }
        let number = self.files.len() as u32;
        self.files.insert(name.bytes.into(), number);
        Ok(number)
    }
}

impl Decode for Iolog {
    const NAME: &'static str = "fio_iolog";
    const TITLE: &'static str = "fio iolog, versions 2 and 3 (text)";
    const FRAME: Frame = Frame::Line;

    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let mut line = Line::new(frame);
        let Some(version) = self.version else {
            self.version = match frame {
                b"fio version 2 iolog" => Some(2),
                b"fio version 3 iolog" => Some(3),
                _ => {
                    let expected = "`fio version 2 iolog` or `fio version 3 iolog`";
                    return Err(Bad { from: 0, to: frame.len(), expected });
                }
            };
            return Ok(Item::Nothing);
        };
        if version == 3 {
            self.clock = SimDuration(line.spaced_time(MICROSECONDS, "a time [us]")?);
        }
        let name = line.word();
        let action = line.word();
        let op = match action.bytes {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"sync" | b"datasync" => {
                let volume = self.file(name)?;
                return Ok(Item::Record(Record { volume, flags: Flags::SYNC, ..Record::flush(self.clock) }));
            }
            b"add" | b"open" | b"close" => {
                self.file(name)?;
                return Ok(Item::Nothing);
            }
            b"trim" => return Ok(Item::Left(Problem::Discard)),
            b"sync_file_range" => return Ok(Item::Left(Problem::Command)),
            b"wait" if version == 2 => {
                let from = line.at;
                let wait = line.spaced_time(MICROSECONDS, "a time [us]")?;
                let beyond = Bad { from, to: frame.len(), expected: "times of less than 2^64 ns together" };
                self.clock = SimDuration(self.clock.0.checked_add(wait).ok_or(beyond)?);
                return Ok(Item::Nothing);
            }
            _ => {
                return Err(
                    action.bad("add, open, close, read, write, sync, datasync, trim, or wait (version 2)")
                );
            }
        };
        let offset = line.spaced_number(u64::MAX, "an offset [bytes]")?;
        let from = line.at;
        let size = line.spaced_number(u64::MAX, "a length [bytes]")?;
        let beyond =
            Bad { from, to: line.at, expected: "a length [bytes] of less than 2 TiB, within 2^64 bytes" };
        let (lba, sectors, is_rounded) = sectors_of(offset, size).ok_or(beyond)?;
        let volume = self.file(name)?;
        Ok(Item::rounded_if(is_rounded, Record { volume, lba, sectors, op, ..Record::flush(self.clock) }))
    }
}
