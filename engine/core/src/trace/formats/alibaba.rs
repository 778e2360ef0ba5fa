//! Alibaba: the block traces of Alibaba Cloud (2020).
//!
//! ```text
//! device_id,opcode,offset [bytes],length [bytes],timestamp [us]
//! 419,W,8792731648,16384,1577808144360767
//! ```
//!
//! The device is the volume. The format has no process or response time.
//!
//! J. Li, Q. Wang, P. P. C. Lee, C. Shi: An In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale
//! Production, IISWC, 2020.

use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::record::Record;
use crate::trace::text::{CsvLine, MICROSECONDS};

/// Decoder of Alibaba's csv.
#[derive(Debug, Default)]
pub struct Alibaba;

impl Decoder for Alibaba {
    const NAME: &'static str = "alibaba";
    const TITLE: &'static str = "Alibaba Cloud block trace (csv)";
    const FRAMING: Framing = Framing::Lines;
    const HEADER: Option<&'static str> = Some("device");

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = CsvLine::new(frame);
        let volume = line.number_u32("a device number")?;
        let op = line.field().operation("R or W")?;
        let extent = line.extent()?;
        let time = line.time(MICROSECONDS, "a time [us]")?;
        Ok(Item::transfer(Record { volume, ..Record::new(time, op, extent) }, extent.is_rounded))
    }
}
