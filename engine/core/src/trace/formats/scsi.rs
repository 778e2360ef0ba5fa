//! SCSI commands, by their operation code.
//!
//! Reads are 08, 28, 88 and a8; writes 0a, 2a, 8a and aa, and 2e, 8e and ae (write and verify); flushes 35 and 91.

use crate::trace::problems::Problem;
use crate::trace::record::Op;

/// What a SCSI command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScsiCommand {
    Transfer(Op),
    Flush,
    /// It is skipped.
    Other(Problem),
}

impl ScsiCommand {
    #[inline]
    pub const fn of_code(code: u8) -> Self {
        match code {
            0x08 | 0x28 | 0x88 | 0xa8 => Self::Transfer(Op::Read),
            0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x8e | 0xae => Self::Transfer(Op::Write),
            0x35 | 0x91 => Self::Flush,
            0x42 => Self::Other(Problem::Discard),
            _ => Self::Other(Problem::OtherCommand),
        }
    }
}
