//! DiskSim: the ASCII traces of the DiskSim simulator, and those that it validates its disks with.
//!
//! ```text
//! ascii:    arrival [ms] device block [512 bytes] blocks flags (1 read, 0 write)
//!           13.191135 30 0 5 1
//! validate: R|W Hit|Miss block [512 bytes] blocks service [us] gap [us]
//!           R Hit 1000 4 15000.00000 56000.00000
//! ```
//!
//! In ASCII traces the device is the volume. In validate traces each request begins `gap` after the one before was
//! completed, so times are sums of service times and gaps, and the service time is the response time. Whether the disk's
//! buffer was hit is not read.
//!
//! J. S. Bucy, J. Schindler, S. W. Schlosser, G. R. Ganger: The DiskSim Simulation Environment Version 4.0 Reference
//! Manual, CMU-PDL-08-101, 2008.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::text::{Line, MICROSECONDS, MILLISECONDS};
use crate::trace::{Flags, Op, Record};
use crate::units::{Lba, Sectors, SimDuration};

/// Reader of DiskSim's ASCII traces.
#[derive(Debug, Default)]
pub struct Ascii;

const ADDRESSES: u64 = (1 << 63) - 1;

impl Decode for Ascii {
    const NAME: &'static str = "disksim";
    const TITLE: &'static str = "DiskSim ASCII (text)";
    const FRAME: Frame = Frame::Line;

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let mut line = Line::new(frame);
        let time = SimDuration(line.spaced_time(MILLISECONDS, "an arrival time [ms]")?);
        let volume = line.spaced_number(u32::MAX.into(), "a device number")? as u32;
        let lba = Lba(line.spaced_number(ADDRESSES, "a block number [512 bytes]")?);
        let sectors = Sectors(line.spaced_number(u32::MAX.into(), "a number of blocks [512 bytes]")?);
        let op = match line.spaced_number(1, "flags: 1 for a read, 0 for a write")? {
            0 => Op::Write,
            _ => Op::Read,
        };
        line.skip_spaces();
        if !line.rest().is_empty() {
            return Err(line.word().bad("nothing after the fifth field"));
        }
        let record = Record { volume, lba, sectors, op, ..Record::flush(time) };
        Ok(Item::rounded_if(false, record))
    }
}

/// Reader of DiskSim's validate traces.
#[derive(Debug, Default)]
pub struct Validate {
    /// When the next request begins.
    clock: u64,
}

impl Decode for Validate {
    const NAME: &'static str = "disksim_validate";
    const TITLE: &'static str = "DiskSim validate: measured service times (text)";
    const FRAME: Frame = Frame::Line;

    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let mut line = Line::new(frame);
        let kind = line.word();
        let op = match kind.bytes {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(kind.bad("R or W")),
        };
        let buffer = line.word();
        if !buffer.bytes.eq_ignore_ascii_case(b"hit") && !buffer.bytes.eq_ignore_ascii_case(b"miss") {
            return Err(buffer.bad("Hit or Miss"));
        }
        let lba = Lba(line.spaced_number(ADDRESSES, "a block number [512 bytes]")?);
        let sectors = Sectors(line.spaced_number(u32::MAX.into(), "a number of blocks [512 bytes]")?);
        let service = line.spaced_time(MICROSECONDS, "a service time [us]")?;
        let from = line.at;
        let gap = line.spaced_time(MICROSECONDS, "a gap [us]")?;
        let next = self.clock.checked_add(service).and_then(|end| end.checked_add(gap));
        let beyond = Bad { from, to: frame.len(), expected: "times of less than 2^64 ns together" };
        let time = SimDuration(std::mem::replace(&mut self.clock, next.ok_or(beyond)?));
        let record = Record {
            time,
            process: 0,
            volume: 0,
            lba,
            sectors,
            op,
            flags: Flags::NONE,
            response: Some(SimDuration(service)),
        };
        Ok(Item::rounded_if(false, record))
    }
}
