//! FIU: the traces of Florida International University's systems group (home directories, mail, web).
//!
//! ```text
//! time [ns] pid process lba [512 bytes] size [512 bytes] R|W major minor md5...
//! 89967404000000 4892 syslogd 904265560 8 W 6 0 531e779d9eadf2b4d54bf5f1f7a4a3c5
//! ```
//!
//! The digests of the data at the end of the line are ignored. The name of a process may contain spaces. The device is
//! the volume, major times 2^20 plus minor. The format has no response time.
//!
//! R. Koller, R. Rangaswami: I/O Deduplication: Utilizing Content Similarity to Improve I/O Performance, FAST, 2010.

use super::block_layer::device_number;
use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::extent::Extent;
use crate::trace::record::{Op, Record};
use crate::trace::text::{Field, LAST_LBA, SpacedLine};
use crate::units::SimDuration;

/// Maximum words of a process's name.
const WORDS: usize = 16;

/// Decoder of FIU's traces.
#[derive(Debug, Default)]
pub struct Fiu;

const fn operation(field: Field<'_>) -> Option<Op> {
    match field.bytes {
        b"R" | b"r" | b"Read" => Some(Op::Read),
        b"W" | b"w" | b"Write" => Some(Op::Write),
        _ => None,
    }
}

/// Whether an address, a size and an operation follow.
fn is_extent(mut line: SpacedLine<'_>) -> bool {
    line.field().digits().is_some() && line.field().digits().is_some() && operation(line.field()).is_some()
}

impl Decoder for Fiu {
    const NAME: &'static str = "fiu";
    const TITLE: &'static str = "FIU (text)";
    const FRAMING: Framing = Framing::Lines;

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = SpacedLine::new(frame);
        let time = SimDuration(line.number(u64::MAX, "a time [ns]")?);
        let process = line.number_u32("a process id")?;
        let name = line.field();
        let mut words = 1;
        let mut ahead = line;
        while !is_extent(ahead) {
            words += 1;
            if ahead.field().bytes.is_empty() || words > WORDS {
                ahead = line;
                break;
            }
        }
        line = ahead;
        if name.bytes.is_empty() {
            return Err(name.bad("the name of a process"));
        }
        let lba = line.number(LAST_LBA, "a block address [512 bytes] after the process name")?;
        let sectors = line.number_u32("a size [512 bytes]")?;
        let kind = line.field();
        let op = operation(kind).ok_or_else(|| kind.bad("R or W"))?;
        let major = line.number(0xfff, "a major device number")? as u32;
        let minor = line.number(0xf_ffff, "a minor device number")? as u32;
        let extent = Extent::of_sectors(lba, sectors.into());
        let volume = device_number(major, minor);
        Ok(Item::transfer(Record { process, volume, ..Record::new(time, op, extent) }, false))
    }
}
