//! MSPS: the production server traces of Microsoft (2008), events of Windows (ETW) as text.
//!
//! ```text
//! BeginHeader
//!   DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,      IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, ...
//! EndHeader
//!   DiskRead,      12340,          System (   4),         56,  0xfffffa80, 0x0009c35000, 0x00001000,        3801,        0, ...
//! ```
//!
//! The header says at which place each event has its fields; without one the places above are assumed. Taken are
//! `DiskRead`, `DiskWrite` and `DiskFlush`; other events are skipped. Offset and size are hexadecimal \[bytes\], times
//! are microseconds. Windows notes a request when it is *completed*: its arrival is the time stamp less the elapsed
//! time, so the lines are not in order of arrival, and the elapsed time is the response time. The disk is the volume.
//!
//! S. Kavalanekar, B. Worthington, Q. Zhang, V. Sharda: Characterization of Storage Workload Traces from Production
//! Windows Servers, IISWC, 2008.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::problems::Problem;
use super::super::text::{Cell, Line, sectors_of};
use crate::trace::{Flags, Op, Record};
use crate::units::{Lba, Sectors, SimDuration};

/// Fields of a line that are looked at.
const FIELDS: usize = 24;

/// At which place an event has its fields.
#[derive(Clone, Copy, Debug)]
struct Places {
    time: usize,
    process: usize,
    offset: usize,
    size: usize,
    elapsed: usize,
    disk: usize,
}

const TRANSFER: Places = Places { time: 1, process: 2, offset: 5, size: 6, elapsed: 7, disk: 8 };
const FLUSH: Places = Places { time: 1, process: 2, offset: 0, size: 0, elapsed: 5, disk: 6 };

/// Reader of the csv of MSPS.
#[derive(Debug)]
pub struct Msps {
    is_header: bool,
    read: Places,
    write: Places,
    flush: Places,
}

impl Default for Msps {
    fn default() -> Self {
        Self { is_header: false, read: TRANSFER, write: TRANSFER, flush: FLUSH }
    }
}

impl Msps {
    fn places(&mut self, event: &[u8]) -> Option<&mut Places> {
        match event {
            b"DiskRead" => Some(&mut self.read),
            b"DiskWrite" => Some(&mut self.write),
            b"DiskFlush" => Some(&mut self.flush),
            _ => None,
        }
    }

    /// Learns from a line of the header where an event has its fields.
    fn learn(&mut self, cells: &[Cell<'_>]) {
        let Some(places) = self.places(cells[0].bytes) else { return };
        for (place, cell) in cells.iter().enumerate() {
            match cell.bytes {
                b"TimeStamp" => places.time = place,
                b"ByteOffset" => places.offset = place,
                b"IOSize" => places.size = place,
                b"ElapsedTime" => places.elapsed = place,
                b"DiskNum" => places.disk = place,
                name if name.starts_with(b"Process Name") => places.process = place,
                _ => {}
            }
        }
    }
}

/// The number in the brackets of `System (   4)`.
fn process_id(cell: Cell<'_>) -> Option<u32> {
    let open = cell.bytes.iter().rposition(|&byte| byte == b'(')?;
    let digits = cell.bytes[open + 1..].strip_suffix(b")")?.trim_ascii();
    u32::try_from(Cell { from: 0, bytes: digits }.digits()?).ok()
}

impl Decode for Msps {
    const NAME: &'static str = "msps";
    const TITLE: &'static str = "Microsoft production servers, ETW (csv)";
    const FRAME: Frame = Frame::Line;

    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let mut cells = [Cell { from: frame.len(), bytes: &[] }; FIELDS];
        let mut line = Line::new(frame);
        for cell in &mut cells {
            if line.at == frame.len() {
                break;
            }
            *cell = line.cell();
        }
        match cells[0].bytes {
            b"BeginHeader" => self.is_header = true,
            b"EndHeader" => self.is_header = false,
            _ if self.is_header => self.learn(&cells),
            event => return self.event(event, &cells),
        }
        Ok(Item::Nothing)
    }
}

impl Msps {
    fn event(&mut self, event: &[u8], cells: &[Cell<'_>; FIELDS]) -> Result<Item, Bad> {
        let Some(&mut places) = self.places(event) else {
            // `OS Version: ...` follows the header; everything else has its time second.
            let is_event = event.first().is_some_and(u8::is_ascii_alphabetic)
                && (cells[1].digits().is_some() || event.starts_with(b"OS Version"));
            let expected = "an event such as DiskRead, with its time [us] second; or BeginHeader";
            return if is_event { Ok(Item::Nothing) } else { Err(cells[0].bad(expected)) };
        };
        let microseconds = |cell: Cell<'_>, expected| {
            cell.digits().and_then(|number| number.checked_mul(1000)).ok_or(cell.bad(expected))
        };
        let completed = microseconds(cells[places.time], "a time [us]")?;
        let elapsed = microseconds(cells[places.elapsed], "an elapsed time [us]")?;
        let process = process_id(cells[places.process])
            .ok_or_else(|| cells[places.process].bad("a process as name (id)"))?;
        let disk = cells[places.disk];
        let volume = disk.digits().and_then(|disk| u32::try_from(disk).ok());
        let base = Record {
            time: SimDuration(completed.saturating_sub(elapsed)),
            process,
            volume: volume.ok_or(disk.bad("the number of a disk"))?,
            lba: Lba(0),
            sectors: Sectors(0),
            op: Op::Flush,
            flags: Flags::NONE,
            response: Some(SimDuration(elapsed)),
        };
        let record = if event == b"DiskFlush" {
            base
        } else {
            let (offset, size) = (cells[places.offset], cells[places.size]);
            let bytes = offset.hexadecimal().ok_or(offset.bad("an offset in hexadecimal digits [bytes]"))?;
            let length = size.hexadecimal().ok_or(size.bad("a size in hexadecimal digits [bytes]"))?;
            let beyond = size.bad("a size [bytes] of less than 2 TiB, within 2^64 bytes");
            let (lba, sectors, is_rounded) = sectors_of(bytes, length).ok_or(beyond)?;
            let op = if event == b"DiskRead" { Op::Read } else { Op::Write };
            let item = Item::rounded_if(is_rounded, Record { lba, sectors, op, ..base });
            let Item::Record(record) = item else { return Ok(item) };
            record
        };
        Ok(if elapsed > completed { Item::Noted(record, Problem::BeforeZero) } else { Item::Record(record) })
    }
}
