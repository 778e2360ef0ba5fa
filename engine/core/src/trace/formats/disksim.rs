//! DiskSim: the ASCII traces of the DiskSim simulator, and those that its disk models are validated with.
//!
//! ```text
//! ascii:    arrival [ms] device block [512 bytes] blocks flags (1 read, 0 write)
//!           13.191135 30 0 5 1
//! validate: R|W Hit|Miss|Doub|Trip block [512 bytes] blocks service [us] gap [us]
//!           R Hit 1000 4 15000.00000 56000.00000
//! ```
//!
//! In ASCII traces the device is the volume. In validate traces each request begins `gap` after the completion of the
//! one before, so its time is the sum of service times and gaps, and the service time is the response time. The disk
//! buffer's `Hit`, `Miss`, `Doub` or `Trip` is ignored.
//!
//! MQSim's traces have the same five columns with times in nanoseconds. The mean time between requests distinguishes
//! them from ASCII traces with whole times.
//!
//! J. S. Bucy, J. Schindler, S. W. Schlosser, G. R. Ganger: The DiskSim Simulation Environment Version 4.0 Reference
//! Manual, CMU-PDL-08-101, 2008.

use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::extent::Extent;
use crate::trace::record::{Op, Record, mean_gap};
use crate::trace::text::{LAST_LBA, MICROSECONDS, MILLISECONDS, SpacedLine};
use crate::units::SimDuration;

/// What the disk buffer did with a request, in validate traces.
const BUFFER_RESULTS: [&[u8]; 4] = [b"hit", b"miss", b"doub", b"trip"];
/// Greatest mean time between requests of an ASCII trace with whole times.
const LONGEST_GAP: SimDuration = SimDuration(100_000_000_000);
const NS_PER_MS: u64 = 1_000_000;

#[inline]
fn extent(line: &mut SpacedLine<'_>) -> Result<Extent, BadField> {
    let lba = line.number(LAST_LBA, "a block number [512 bytes]")?;
    Ok(Extent::of_sectors(lba, line.number_u32("a number of blocks [512 bytes]")?.into()))
}

/// Decoder of DiskSim's ASCII traces.
#[derive(Debug, Default)]
pub struct Ascii;

impl Decoder for Ascii {
    const NAME: &'static str = "disksim";
    const TITLE: &'static str = "DiskSim ASCII (text)";
    const FRAMING: Framing = Framing::Lines;

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = SpacedLine::new(frame);
        let time = line.time(MILLISECONDS, "an arrival time [ms]")?;
        let volume = line.number_u32("a device number")?;
        let extent = extent(&mut line)?;
        let op = match line.number(1, "flags: 1 for a read, 0 for a write")? {
            0 => Op::Write,
            _ => Op::Read,
        };
        let rest = line.field();
        if !rest.bytes.is_empty() {
            return Err(rest.bad("nothing after the fifth field"));
        }
        Ok(Item::transfer(Record { volume, ..Record::new(time, op, extent) }, false))
    }

    fn is_plausible(beginning: &[Record]) -> bool {
        let is_whole = beginning.iter().all(|record| record.time.0.is_multiple_of(NS_PER_MS));
        !is_whole || mean_gap(beginning).is_none_or(|gap| gap < LONGEST_GAP)
    }
}

/// Decoder of DiskSim's validate traces.
#[derive(Debug, Default)]
pub struct Validate {
    /// When the next request begins.
    clock: SimDuration,
}

impl Decoder for Validate {
    const NAME: &'static str = "disksim_validate";
    const TITLE: &'static str = "DiskSim validate: measured service times (text)";
    const FRAMING: Framing = Framing::Lines;

    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = SpacedLine::new(frame);
        let kind = line.field();
        let op = match kind.bytes {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(kind.bad("R or W")),
        };
        let buffer = line.field();
        if !BUFFER_RESULTS.iter().any(|known| buffer.bytes.eq_ignore_ascii_case(known)) {
            return Err(buffer.bad("Hit, Miss, Doub or Trip"));
        }
        let extent = extent(&mut line)?;
        let service = line.time(MICROSECONDS, "a service time [us]")?;
        let gap = line.time_after(self.clock.0.checked_add(service.0), "a gap [us]")?;
        let time = std::mem::replace(&mut self.clock, gap);
        Ok(Item::transfer(Record { response: Some(service), ..Record::new(time, op, extent) }, false))
    }
}
