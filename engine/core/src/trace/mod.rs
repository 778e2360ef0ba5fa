//! Traces: recorded block I/Os, ready for replay.
//!
//! A trace holds its records column by column, in recorded order. What a record asks for is an operation and flags:
//!
//! | recorded                          | operation         | sectors | flags                                   |
//! |-----------------------------------|-------------------|---------|-----------------------------------------|
//! | read                              | [`Op::Read`]      | >= 1    | `READ_AHEAD` where nobody waits for it  |
//! | write                             | [`Op::Write`]     | >= 1    | `SYNC` where its process waits for it   |
//! | write that must reach the media   | [`Op::Write`]     | >= 1    | `FUA`                                   |
//! | flush, then a write               | [`Op::Write`]     | >= 1    | `PREFLUSH`, mostly with `FUA` and `SYNC`|
//! | flush alone                       | [`Op::Flush`]     | 0       | mostly `SYNC`                           |
//!
//! `PREFLUSH` asks that all writes completed before are durable before this one begins; `FUA` that this one is durable
//! before it completes. An [`Op::Flush`] is the first without the second. Any record may carry `META` (the file system's
//! own data).
//!
//! [`Reader`] takes the bytes of a trace in any of the [`format::FORMATS`] and gives its records one after the other, in
//! bounded memory; [`order::Ordering`] sorts them on the way, and [`Collection`] keeps them all.
//!
//! Cost: 26 bytes for each record of a trace in memory, 4 more where it has several volumes, and 16 more where response
//! times are known.

mod columns;
mod error;
pub mod format;
mod frame;
pub mod order;
mod problems;
pub mod profile;
mod reader;
mod record;
mod recorded;
mod spread;
mod text;

pub use columns::Columns;
pub use error::TraceError;
pub use problems::{Finding, Problem, Problems};
pub use reader::{Collection, Options, Reader};
pub use record::{Flags, Op, Record};
pub use recorded::{Statistics, Trace, Volume};

#[cfg(test)]
mod tests;
