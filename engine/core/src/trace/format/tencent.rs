//! Tencent: the block traces of Tencent's cloud block storage (2018).
//!
//! ```text
//! Timestamp [s],Offset [512 bytes],Size [512 bytes],IOType,VolumeID
//! 1538000000,4096000,128,1,7
//! ```
//!
//! The type is 0 for a read and 1 for a write. Times are whole seconds: the records of a second are spread evenly over
//! it in their order. Neither process nor response time is recorded.
//!
//! Y. Zhang, P. Huang, K. Zhou, H. Wang, J. Hu, Y. Ji, B. Cheng: OSCA: An Online-Model Based Cache Allocation Scheme in
//! Cloud Block Storage Systems, USENIX ATC, 2020.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::text::Line;
use crate::trace::{Flags, Op, Record};
use crate::units::{Lba, Sectors, SimDuration};

/// Reader of Tencent's csv.
#[derive(Debug, Default)]
pub struct Tencent;

impl Decode for Tencent {
    const NAME: &'static str = "tencent";
    const TITLE: &'static str = "Tencent cloud block storage (csv)";
    const FRAME: Frame = Frame::Line;
    const IS_WHOLE_SECONDS: bool = true;
    const HEADING: Option<&'static str> = Some("timestamp");

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        const ADDRESSES: u64 = (1 << 63) - 1;
        const SECONDS: u64 = (1 << 63) / 1_000_000_000;
        let mut line = Line::new(frame);
        let time = line.number(SECONDS, "a time [s]")?;
        let lba = line.number(ADDRESSES, "an offset [512 bytes]")?;
        let sectors = line.number(u32::MAX.into(), "a size [512 bytes]")?;
        let op = match line.number(1, "0 for a read, 1 for a write")? {
            0 => Op::Read,
            _ => Op::Write,
        };
        let volume = line.number(u32::MAX.into(), "the number of a volume")? as u32;
        let record = Record {
            time: SimDuration(time * 1_000_000_000),
            process: 0,
            volume,
            lba: Lba(lba),
            sectors: Sectors(sectors),
            op,
            flags: Flags::NONE,
            response: None,
        };
        Ok(Item::rounded_if(false, record))
    }
}
