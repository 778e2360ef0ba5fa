//! MSR Cambridge: the enterprise server traces of Microsoft Research Cambridge (2008).
//!
//! ```text
//! Timestamp [100 ns],Hostname,DiskNumber,Type,Offset [bytes],Size [bytes],ResponseTime [100 ns]
//! 128166372000000000,web,0,Write,4096000,2048,1500
//! ```
//!
//! The time is a Windows file time (since 1601). The volume is the disk's number; where one trace holds several hosts,
//! those after the first add 65,536 each in the order in which they appear. The published files are not quite in order
//! of time. No process is recorded.
//!
//! D. Narayanan, A. Donnelly, A. Rowstron: Write Off-Loading: Practical Power Management for Enterprise Storage,
//! FAST, 2008.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::text::{Cell, Line};
use super::csv::{extent, operation};
use crate::trace::{Flags, Record};
use crate::units::SimDuration;

/// Hosts that one trace may hold, and bytes that a host's name may have.
const HOSTS: usize = 256;
const NAME: usize = 255;

/// Reader of the csv of MSR Cambridge.
#[derive(Debug, Default)]
pub struct Msr {
    hosts: Vec<Box<[u8]>>,
    /// The host of the line before, mostly that of the next.
    last: usize,
}

impl Msr {
    #[inline]
    fn host(&mut self, cell: Cell<'_>) -> Result<u32, Bad> {
        if self.hosts.get(self.last).is_some_and(|host| **host == *cell.bytes) {
            return Ok(self.last as u32);
        }
        self.other_host(cell)
    }

    #[cold]
    fn other_host(&mut self, cell: Cell<'_>) -> Result<u32, Bad> {
        self.last = match self.hosts.iter().position(|host| **host == *cell.bytes) {
            Some(known) => known,
            None if self.hosts.len() == HOSTS || cell.bytes.is_empty() || cell.bytes.len() > NAME => {
                return Err(cell.bad("a host's name; a trace may hold 256 hosts"));
            }
            None => {
                self.hosts.push(cell.bytes.into());
                self.hosts.len() - 1
            }
        };
        Ok(self.last as u32)
    }
}

impl Decode for Msr {
    const NAME: &'static str = "msr";
    const TITLE: &'static str = "MSR Cambridge (csv)";
    const FRAME: Frame = Frame::Line;
    const HEADING: Option<&'static str> = Some("timestamp");

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        const TICKS: u64 = u64::MAX / 100;
        let mut line = Line::new(frame);
        let time = line.number(TICKS, "a file time [100 ns]")?;
        let host = line.cell();
        let disk = line.number(u16::MAX.into(), "a disk number of at most 65,535")?;
        let op = operation(line.cell(), "Read or Write")?;
        let (lba, sectors, is_rounded) = extent(&mut line)?;
        let response = line.number(TICKS, "a response time [100 ns]")?;
        let volume = self.host(host)? << 16 | disk as u32;
        let record = Record {
            time: SimDuration(time * 100),
            process: 0,
            volume,
            lba,
            sectors,
            op,
            flags: Flags::NONE,
            response: Some(SimDuration(response * 100)),
        };
        Ok(Item::rounded_if(is_rounded, record))
    }
}
