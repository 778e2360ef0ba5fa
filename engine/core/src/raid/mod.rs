//! RAID: address mapping, and the disk I/Os of writes.
//!
//! [`Layout`] maps array addresses to disks, [`choose`] selects the method of a parity update, and
//! [`DegradedReads`] plans the reads of a stripe with missing members.

mod degraded;
mod layout;
mod level;
mod update;

pub use degraded::{DegradedReads, StripPart};
pub use layout::{Layout, LayoutError, Piece, Pieces, Strip};
pub use level::{DEFAULT_GROUPS, Level};
pub use update::{ParityUpdate, StripWrite, Touched, Update, choose};
