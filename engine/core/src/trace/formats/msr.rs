//! MSR Cambridge: the enterprise server traces of Microsoft Research Cambridge (2008).
//!
//! ```text
//! Timestamp [100 ns],Hostname,DiskNumber,Type,Offset [bytes],Size [bytes],ResponseTime [100 ns]
//! 128166372000000000,web,0,Write,4096000,2048,1500
//! ```
//!
//! The time is a Windows file time (since 1601). The volume is the disk number; in a trace of several hosts, those after
//! the first add 65,536 each in the order in which they appear. The published files are not quite in order of time. The
//! format has no process.
//!
//! D. Narayanan, A. Donnelly, A. Rowstron: Write Off-Loading: Practical Power Management for Enterprise Storage,
//! FAST, 2008.

use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::record::Record;
use crate::trace::text::{CsvLine, Field};
use crate::units::SimDuration;

/// Maximum hosts of a trace.
const HOSTS: usize = 256;
/// Maximum bytes of a host name.
const NAME: usize = 255;

/// Decoder of the csv of MSR Cambridge.
#[derive(Debug, Default)]
pub struct Msr {
    hosts: Vec<Box<[u8]>>,
    /// The host of the line before, usually also that of the next.
    last: usize,
}

impl Msr {
    #[inline]
    fn host(&mut self, name: Field<'_>) -> Result<u32, BadField> {
        if self.hosts.get(self.last).is_some_and(|host| **host == *name.bytes) {
            return Ok(self.last as u32);
        }
        self.other_host(name)
    }

    #[cold]
    fn other_host(&mut self, name: Field<'_>) -> Result<u32, BadField> {
        self.last = match self.hosts.iter().position(|host| **host == *name.bytes) {
            Some(known) => known,
            None if self.hosts.len() == HOSTS || name.bytes.is_empty() || name.bytes.len() > NAME => {
                return Err(name.bad("a host name, one of at most 256"));
            }
            None => {
                self.hosts.push(name.bytes.into());
                self.hosts.len() - 1
            }
        };
        Ok(self.last as u32)
    }
}

impl Decoder for Msr {
    const NAME: &'static str = "msr";
    const TITLE: &'static str = "MSR Cambridge (csv)";
    const FRAMING: Framing = Framing::Lines;
    const HEADER: Option<&'static str> = Some("timestamp");

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        const TICKS: u64 = u64::MAX / 100;
        let mut line = CsvLine::new(frame);
        let time = SimDuration(line.number(TICKS, "a file time [100 ns]")? * 100);
        let host = line.field();
        let disk = line.number(u16::MAX.into(), "a disk number of at most 65,535")?;
        let op = line.field().operation("Read or Write")?;
        let extent = line.extent()?;
        let response = Some(SimDuration(line.number(TICKS, "a response time [100 ns]")? * 100));
        let volume = self.host(host)? << 16 | disk as u32;
        let record = Record { volume, response, ..Record::new(time, op, extent) };
        Ok(Item::transfer(record, extent.is_rounded))
    }
}
