//! SPC: the trace file format of the Storage Performance Council, in which the UMass repository keeps its traces
//! (Financial, WebSearch).
//!
//! ```text
//! ASU,LBA [512 bytes],Size [bytes],Opcode,Timestamp [s][,...]
//! 0,20941264,8192,W,0.551706
//! ```
//!
//! The application storage unit (ASU) is the volume. Fields after the fifth are optional and ignored. The format has no
//! process or response time.

use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::record::Record;
use crate::trace::text::{CsvLine, LAST_LBA, SECONDS};
use crate::units::Lba;

/// Decoder of SPC traces.
#[derive(Debug, Default)]
pub struct Spc;

impl Decoder for Spc {
    const NAME: &'static str = "spc";
    const TITLE: &'static str = "SPC / UMass (csv)";
    const FRAMING: Framing = Framing::Lines;

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = CsvLine::new(frame);
        let volume = line.number_u32("an ASU number")?;
        let lba = Lba(line.number(LAST_LBA, "a block address [512 bytes]")?);
        let extent = line.size(0)?;
        let op = line.field().operation("R or W")?;
        let time = line.time(SECONDS, "a time [s] as seconds.fraction")?;
        Ok(Item::transfer(Record { volume, lba, ..Record::new(time, op, extent) }, extent.is_rounded))
    }
}
