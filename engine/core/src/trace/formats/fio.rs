//! fio iolog: what `fio --write_iolog` writes and `--read_iolog` replays, versions 2 and 3.
//!
//! ```text
//! fio version 2 iolog          fio version 3 iolog
//! /dev/sdb add                 0 /dev/sdb add
//! /dev/sdb write 0 4096        0 /dev/sdb write 0 4096
//! /dev/sdb wait 250            250 /dev/sdb read 4096 4096
//! ```
//!
//! Offsets and lengths are bytes. Version 3 has the time since the start of the run \[us\] before each line. In version
//! 2 time advances with each `wait` \[us\] only: all requests between two waits have the same time. `sync` and `datasync`
//! are flushes that a process waits for; `trim` and `sync_file_range` are skipped with a warning. Files are numbered in
//! the order in which they appear; the number is the volume. The format has no process or response time.

use rustc_hash::FxHashMap;

use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::problems::Problem;
use crate::trace::record::{Flags, Op, Record};
use crate::trace::text::{Field, MICROSECONDS, SpacedLine};
use crate::units::SimDuration;

/// Maximum files of a trace.
const FILES: usize = 1 << 16;
/// Maximum bytes of a file name.
const NAME: usize = 256;

/// Decoder of fio's iologs.
#[derive(Debug, Default)]
pub struct Iolog {
    version: Option<u32>,
    files: FxHashMap<Box<[u8]>, u32>,
    /// The time of the current line.
    clock: SimDuration,
}

impl Iolog {
    fn file(&mut self, name: Field<'_>) -> Result<u32, BadField> {
        if let Some(&number) = self.files.get(name.bytes) {
            return Ok(number);
        }
        if name.bytes.is_empty() || name.bytes.len() > NAME || self.files.len() == FILES {
            return Err(name.bad("a file name of at most 256 bytes, one of at most 65,536"));
        }
        let number = self.files.len() as u32;
        self.files.insert(name.bytes.into(), number);
        Ok(number)
    }
}

impl Decoder for Iolog {
    const NAME: &'static str = "fio_iolog";
    const TITLE: &'static str = "fio iolog, versions 2 and 3 (text)";
    const FRAMING: Framing = Framing::Lines;

    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = SpacedLine::new(frame);
        let Some(version) = self.version else {
            self.version = match frame {
                b"fio version 2 iolog" => Some(2),
                b"fio version 3 iolog" => Some(3),
                _ => {
                    let expected = "`fio version 2 iolog` or `fio version 3 iolog`";
                    return Err(BadField { from: 0, to: frame.len(), expected });
                }
            };
            return Ok(Item::Ignored);
        };
        if version == 3 {
            self.clock = line.time(MICROSECONDS, "a time [us]")?;
        }
        let name = line.field();
        let action = line.field();
        let op = match action.bytes {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"sync" | b"datasync" => {
                let volume = self.file(name)?;
                return Ok(Item::Record(Record { volume, flags: Flags::SYNC, ..Record::flush(self.clock) }));
            }
            b"add" | b"open" | b"close" => {
                self.file(name)?;
                return Ok(Item::Ignored);
            }
            b"trim" => return Ok(Item::Skipped(Problem::Discard)),
            b"sync_file_range" => return Ok(Item::Skipped(Problem::OtherCommand)),
            b"wait" if version == 2 => {
                self.clock = line.time_after(Some(self.clock.0), "a time [us]")?;
                return Ok(Item::Ignored);
            }
            _ => {
                return Err(
                    action.bad("add, open, close, read, write, sync, datasync, trim, or wait (version 2)")
                );
            }
        };
        let extent = line.extent()?;
        let volume = self.file(name)?;
        Ok(Item::transfer(Record { volume, ..Record::new(self.clock, op, extent) }, extent.is_rounded))
    }
}
