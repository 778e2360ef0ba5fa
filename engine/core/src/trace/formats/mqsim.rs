//! MQSim: the traces of the MQSim simulator of SSDs.
//!
//! ```text
//! arrival [ns] device block [512 bytes] blocks type (1 read, 0 write)
//! 1000000 0 1000 8 0
//! ```
//!
//! The columns are those of DiskSim's ASCII traces, whose times are in milliseconds: a trace with requests less than 1 µs
//! apart in the mean is not recognised as MQSim's. The device is the volume.
//!
//! A. Tavakkol, J. Gómez-Luna, M. Sadrosadati, S. Ghose, O. Mutlu: MQSim: A Framework for Enabling Realistic Studies of
//! Modern Multi-Queue SSD Devices, USENIX FAST, 2018.

use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::extent::Extent;
use crate::trace::record::{Op, Record, mean_gap};
use crate::trace::text::{LAST_LBA, SpacedLine};
use crate::units::SimDuration;

/// Least mean time between the requests of a trace.
const SHORTEST_GAP: SimDuration = SimDuration(1_000);
/// Last time that fits.
const LAST_TIME: u64 = i64::MAX as u64;

/// Decoder of MQSim's traces.
#[derive(Debug, Default)]
pub struct Mqsim;

impl Decoder for Mqsim {
    const NAME: &'static str = "mqsim";
    const TITLE: &'static str = "MQSim (text)";
    const FRAMING: Framing = Framing::Lines;

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = SpacedLine::new(frame);
        let time = SimDuration(line.number(LAST_TIME, "an arrival time [ns]")?);
        let volume = line.number_u32("a device number")?;
        let lba = line.number(LAST_LBA, "a block number [512 bytes]")?;
        let extent = Extent::of_sectors(lba, line.number_u32("a number of blocks [512 bytes]")?.into());
        let op = match line.number(1, "type: 1 for a read, 0 for a write")? {
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
        mean_gap(beginning).is_some_and(|gap| gap >= SHORTEST_GAP)
    }
}
