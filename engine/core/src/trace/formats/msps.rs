//! MSPS: the production server traces of Microsoft (2008), events of Windows (ETW) as text.
//!
//! ```text
//! BeginHeader
//!   DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,      IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, ...
//! EndHeader
//!   DiskRead,      12340,          System (   4),         56,  0xfffffa80, 0x0009c35000, 0x00001000,        3801,        0, ...
//! ```
//!
//! The header names the fields of each event; without one the order above is assumed. `DiskRead`, `DiskWrite` and
//! `DiskFlush` are read, other events are ignored. Offset and size are hexadecimal \[bytes\], times are microseconds.
//! Windows records a request when it *completes*: its arrival is the time stamp less the elapsed time, so the lines are
//! not in order of arrival, and the elapsed time is the response time. The disk is the volume.
//!
//! S. Kavalanekar, B. Worthington, Q. Zhang, V. Sharda: Characterization of Storage Workload Traces from Production
//! Windows Servers, IISWC, 2008.

use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::problems::Problem;
use crate::trace::record::{Op, Record};
use crate::trace::text::{CsvLine, Field};
use crate::units::SimDuration;

/// Fields of a line that are looked at.
const FIELDS: usize = 24;

/// The index of each field of an event.
#[derive(Clone, Copy, Debug)]
struct Layout {
    time: usize,
    process: usize,
    offset: usize,
    size: usize,
    elapsed: usize,
    disk: usize,
}

const TRANSFER: Layout = Layout { time: 1, process: 2, offset: 5, size: 6, elapsed: 7, disk: 8 };
const FLUSH: Layout = Layout { time: 1, process: 2, offset: 0, size: 0, elapsed: 5, disk: 6 };

/// Decoder of the csv of MSPS.
#[derive(Debug)]
pub struct Msps {
    is_header: bool,
    read: Layout,
    write: Layout,
    flush: Layout,
}

impl Default for Msps {
    fn default() -> Self {
        Self { is_header: false, read: TRANSFER, write: TRANSFER, flush: FLUSH }
    }
}

/// The process id, as in `System (   4)`.
fn process_id(field: Field<'_>) -> Option<u32> {
    let open = field.bytes.iter().rposition(|&byte| byte == b'(')?;
    let bytes = field.bytes[open + 1..].strip_suffix(b")")?.trim_ascii();
    u32::try_from(Field { from: 0, bytes }.digits()?).ok()
}

impl Decoder for Msps {
    const NAME: &'static str = "msps";
    const TITLE: &'static str = "Microsoft production servers, ETW (csv)";
    const FRAMING: Framing = Framing::Lines;

    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut fields = [Field { from: frame.len(), bytes: &[] }; FIELDS];
        let mut line = CsvLine::new(frame);
        for field in &mut fields {
            if line.at == frame.len() {
                break;
            }
            *field = line.field();
        }
        match fields[0].bytes {
            b"BeginHeader" => self.is_header = true,
            b"EndHeader" => self.is_header = false,
            _ if self.is_header => self.read_header(&fields),
            event => return self.decode_event(event, &fields),
        }
        Ok(Item::Ignored)
    }
}

impl Msps {
    fn layout(&mut self, event: &[u8]) -> Option<&mut Layout> {
        match event {
            b"DiskRead" => Some(&mut self.read),
            b"DiskWrite" => Some(&mut self.write),
            b"DiskFlush" => Some(&mut self.flush),
            _ => None,
        }
    }

    /// Takes the layout of an event from its line of the header.
    fn read_header(&mut self, fields: &[Field<'_>]) {
        let Some(layout) = self.layout(fields[0].bytes) else { return };
        for (index, field) in fields.iter().enumerate() {
            match field.bytes {
                b"TimeStamp" => layout.time = index,
                b"ByteOffset" => layout.offset = index,
                b"IOSize" => layout.size = index,
                b"ElapsedTime" => layout.elapsed = index,
                b"DiskNum" => layout.disk = index,
                name if name.starts_with(b"Process Name") => layout.process = index,
                _ => {}
            }
        }
    }

    fn decode_event(&mut self, event: &[u8], fields: &[Field<'_>; FIELDS]) -> Result<Item, BadField> {
        let Some(&mut layout) = self.layout(event) else {
            // `OS Version: ...` follows the header; everything else has its time second.
            let is_event = event.first().is_some_and(u8::is_ascii_alphabetic)
                && (fields[1].digits().is_some() || event.starts_with(b"OS Version"));
            let expected = "an event such as DiskRead followed by its time [us], or BeginHeader";
            return if is_event { Ok(Item::Ignored) } else { Err(fields[0].bad(expected)) };
        };
        let microseconds = |field: Field<'_>, expected| {
            field.digits().and_then(|number| number.checked_mul(1000)).ok_or_else(|| field.bad(expected))
        };
        let completed = microseconds(fields[layout.time], "a time [us]")?;
        let elapsed = microseconds(fields[layout.elapsed], "an elapsed time [us]")?;
        let process = fields[layout.process];
        let disk = fields[layout.disk];
        let volume = disk.digits().and_then(|disk| u32::try_from(disk).ok());
        let base = Record {
            process: process_id(process).ok_or_else(|| process.bad("a process as name (id)"))?,
            volume: volume.ok_or_else(|| disk.bad("a disk number"))?,
            response: Some(SimDuration(elapsed)),
            ..Record::flush(SimDuration(completed.saturating_sub(elapsed)))
        };
        let record = if event == b"DiskFlush" {
            base
        } else {
            let extent = fields[layout.offset].hexadecimal_extent(&fields[layout.size])?;
            let op = if event == b"DiskRead" { Op::Read } else { Op::Write };
            let record = Record { op, lba: extent.lba, sectors: extent.sectors, ..base };
            let item = Item::transfer(record, extent.is_rounded);
            let Item::Record(record) = item else { return Ok(item) };
            record
        };
        Ok(if elapsed > completed {
            Item::Flagged(record, Problem::BeforeZero)
        } else {
            Item::Record(record)
        })
    }
}
