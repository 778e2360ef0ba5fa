//! Tencent: the block traces of Tencent's cloud block storage (2018).
//!
//! ```text
//! Timestamp [s],Offset [512 bytes],Size [512 bytes],IOType,VolumeID
//! 1538000000,4096000,128,1,7
//! ```
//!
//! The type is 0 for a read and 1 for a write. Times are whole seconds: the records of a second are spread evenly over
//! it in their order. The format has no process or response time.
//!
//! Y. Zhang, P. Huang, K. Zhou, H. Wang, J. Hu, Y. Ji, B. Cheng: OSCA: An Online-Model Based Cache Allocation Scheme in
//! Cloud Block Storage Systems, USENIX ATC, 2020.

use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::extent::Extent;
use crate::trace::record::{Op, Record};
use crate::trace::text::{CsvLine, LAST_LBA};

/// Decoder of Tencent's csv.
#[derive(Debug, Default)]
pub struct Tencent;

impl Decoder for Tencent {
    const NAME: &'static str = "tencent";
    const TITLE: &'static str = "Tencent cloud block storage (csv)";
    const FRAMING: Framing = Framing::Lines;
    const IS_WHOLE_SECONDS: bool = true;
    const HEADER: Option<&'static str> = Some("timestamp");

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = CsvLine::new(frame);
        let time = line.seconds()?;
        let lba = line.number(LAST_LBA, "an offset [512 bytes]")?;
        let sectors = line.number_u32("a size [512 bytes]")?;
        let op = match line.number(1, "0 for a read, 1 for a write")? {
            0 => Op::Read,
            _ => Op::Write,
        };
        let volume = line.number_u32("a volume number")?;
        let extent = Extent::of_sectors(lba, sectors.into());
        Ok(Item::transfer(Record { volume, ..Record::new(time, op, extent) }, false))
    }
}
