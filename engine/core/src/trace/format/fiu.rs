//! FIU: the traces of Florida International University's systems group (home directories, mail, web).
//!
//! ```text
//! time [ns] pid process lba [512 bytes] size [512 bytes] R|W major minor md5...
//! 89967404000000 4892 syslogd 904265560 8 W 6 0 531e779d9eadf2b4d54bf5f1f7a4a3c5
//! ```
//!
//! The digests of the data at the end of the line are not read. The name of a process may hold spaces. The device is
//! the volume, major times 2^20 plus minor. No response time is recorded.
//!
//! R. Koller, R. Rangaswami: I/O Deduplication: Utilizing Content Similarity to Improve I/O Performance, FAST, 2010.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::text::{Cell, Line};
use super::block_layer::device_number;
use crate::trace::{Flags, Op, Record};
use crate::units::{Lba, Sectors, SimDuration};

/// Words of a process's name.
const WORDS: usize = 16;

/// Reader of FIU's traces.
#[derive(Debug, Default)]
pub struct Fiu;

const ADDRESS: &str = "a block address [512 bytes] after the process's name";

/// Whether an address, a size and an operation stand here.
fn is_extent(mut line: Line<'_>) -> bool {
    line.word().digits().is_some()
        && line.word().digits().is_some()
        && matches!(line.word().bytes, b"R" | b"W" | b"r" | b"w" | b"Read" | b"Write")
}

impl Decode for Fiu {
    const NAME: &'static str = "fiu";
    const TITLE: &'static str = "FIU (text)";
    const FRAME: Frame = Frame::Line;

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let mut line = Line::new(frame);
        let time = SimDuration(line.spaced_number(u64::MAX, "a time [ns]")?);
        let process = line.spaced_number(u32::MAX.into(), "a process id")? as u32;
        let name = line.word();
        let mut words = 1;
        let mut ahead = line;
        while !is_extent(ahead) {
            words += 1;
            if ahead.word().bytes.is_empty() || words > WORDS {
                ahead = line;
                break;
            }
        }
        line = ahead;
        if name.bytes.is_empty() {
            return Err(name.bad("the name of a process"));
        }
        let lba = line.spaced_number((1 << 63) - 1, ADDRESS)?;
        let sectors = line.spaced_number(u32::MAX.into(), "a size [512 bytes]")?;
        let kind: Cell<'_> = line.word();
        let op = match kind.bytes {
            b"R" | b"r" | b"Read" => Op::Read,
            b"W" | b"w" | b"Write" => Op::Write,
            _ => return Err(kind.bad("R or W")),
        };
        let major = line.spaced_number(0xfff, "the major number of a device")? as u32;
        let minor = line.spaced_number(0xf_ffff, "the minor number of a device")? as u32;
        let record = Record {
            time,
            process,
            volume: device_number(major, minor),
            lba: Lba(lba),
            sectors: Sectors(sectors),
            op,
            flags: Flags::NONE,
            response: None,
        };
        Ok(Item::rounded_if(false, record))
    }
}
