//! SPC: the trace file format of the Storage Performance Council, in which the UMass repository keeps its traces
//! (Financial, WebSearch).
//!
//! ```text
//! ASU,LBA [512 bytes],Size [bytes],Opcode,Timestamp [s][,...]
//! 0,20941264,8192,W,0.551706
//! ```
//!
//! The application storage unit (ASU) is the volume. Fields after the fifth are optional in the format and are not
//! read. Neither process nor response time is recorded.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::text::{Line, SECONDS, sectors_of};
use super::csv::operation;
use crate::trace::{Flags, Record};
use crate::units::{Lba, SimDuration};

/// Reader of SPC traces.
#[derive(Debug, Default)]
pub struct Spc;

impl Decode for Spc {
    const NAME: &'static str = "spc";
    const TITLE: &'static str = "SPC / UMass (csv)";
    const FRAME: Frame = Frame::Line;

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        const ADDRESSES: u64 = (1 << 63) - 1;
        let mut line = Line::new(frame);
        let volume = line.number(u32::MAX.into(), "the number of an ASU")? as u32;
        let lba = line.number(ADDRESSES, "a block address [512 bytes]")?;
        let from = line.at;
        let size = line.number(u64::MAX, "a size [bytes]")?;
        let Some((_, sectors, is_rounded)) = sectors_of(0, size) else {
            let expected = "a size [bytes] of less than 2 TiB";
            return Err(Bad { from, to: line.at.saturating_sub(1).max(from), expected });
        };
        let op = operation(line.cell(), "R or W")?;
        let time = SimDuration(line.time(SECONDS, "a time [s] as seconds.fraction")?);
        Ok(Item::rounded_if(
            is_rounded,
            Record {
                time,
                process: 0,
                volume,
                lba: Lba(lba),
                sectors,
                op,
                flags: Flags::NONE,
                response: None,
            },
        ))
    }
}
