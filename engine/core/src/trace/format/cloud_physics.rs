//! CloudPhysics csv: the vscsi traces of CloudPhysics as text.
//!
//! ```text
//! version,time [s],op [SCSI, hex],size [bytes],lbn [512 bytes]
//! 1,5000000,2a,512,4096
//! ```
//!
//! Reads are 08, 28, 88 and a8, writes 0a, 2a, 8a and aa (and 2e, 8e, ae, write and verify), flushes 35 and 91. Times
//! are mostly whole seconds: the records of a second are spread evenly over it in their order. Neither process, volume
//! nor response time is recorded.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::text::{Line, sectors_of};
use super::vscsi::{Command, scsi_command};
use crate::trace::Record;
use crate::units::{Lba, SimDuration};

/// Reader of CloudPhysics' csv.
#[derive(Debug, Default)]
pub struct CloudPhysics;

impl Decode for CloudPhysics {
    const NAME: &'static str = "cloudphysics_csv";
    const TITLE: &'static str = "CloudPhysics (csv)";
    const FRAME: Frame = Frame::Line;
    const IS_WHOLE_SECONDS: bool = true;
    const HEADING: Option<&'static str> = Some("version");

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        const ADDRESSES: u64 = (1 << 63) - 1;
        const SECONDS: u64 = (1 << 63) / 1_000_000_000;
        let mut line = Line::new(frame);
        line.number(2, "the version, 1 or 2")?;
        let time = line.number(SECONDS, "a time [s]")?;
        let op = line.cell();
        let code = op.hexadecimal().filter(|&code| code <= 0xff);
        let code = code.ok_or_else(|| op.bad("a SCSI command in hexadecimal digits, such as 28 or 2a"))?;
        let from = line.at;
        let size = line.number(u64::MAX, "a size [bytes]")?;
        let Some((_, sectors, is_rounded)) = sectors_of(0, size) else {
            let expected = "a size [bytes] of less than 2 TiB";
            return Err(Bad { from, to: line.at.saturating_sub(1).max(from), expected });
        };
        let lba = Lba(line.number(ADDRESSES, "a block address [512 bytes]")?);
        Ok(match scsi_command(code as u8) {
            Command::Other(problem) => Item::Left(problem),
            Command::Flush => Item::Record(Record::flush(SimDuration(time * 1_000_000_000))),
            Command::Transfer(op) => Item::rounded_if(
                is_rounded,
                Record { lba, sectors, op, ..Record::flush(SimDuration(time * 1_000_000_000)) },
            ),
        })
    }
}
