//! Traces: recorded block I/Os, ready for replay.
//!
//! A trace holds its records column by column, in recorded order. A record has an operation and flags:
//!
//! | recorded                          | operation         | sectors | flags                                   |
//! |-----------------------------------|-------------------|---------|-----------------------------------------|
//! | read                              | [`Op::Read`]      | >= 1    | `READ_AHEAD` if no process waits for it |
//! | write                             | [`Op::Write`]     | >= 1    | `SYNC` if its process waits for it      |
//! | write that must reach the media   | [`Op::Write`]     | >= 1    | `FUA`                                   |
//! | flush, then a write               | [`Op::Write`]     | >= 1    | `PREFLUSH`, mostly with `FUA` and `SYNC`|
//! | flush alone                       | [`Op::Flush`]     | 0       | mostly `SYNC`                           |
//!
//! `PREFLUSH` requires that all writes completed earlier are durable before this one begins; `FUA` that this one is
//! durable before it completes. An [`Op::Flush`] is the first without the second. Any record may carry `META` (file
//! system metadata).
//!
//! [`Reader`] takes the bytes of a trace in any of the [`formats::FORMATS`] and returns its records in bounded memory.
//! [`WindowSorter`] sorts them as they arrive, [`TraceBuilder`] collects them into a [`Trace`], and
//! [`summary::Summariser`] describes them.
//!
//! The modules build on each other in this order: `record`, `extent`, `problems`, `error`; `decoder`, `text`, `binary`;
//! one module per format; `sink`, `frames`; the registry of formats; `reader`.
//!
//! Cost: 26 bytes for each record of a trace in memory, 4 more with several volumes, 16 more with response times.

mod binary;
mod columns;
mod decoder;
mod error;
mod extent;
pub mod formats;
mod frames;
mod problems;
mod reader;
mod record;
mod recorded;
mod sink;
mod spread;
pub mod summary;
mod text;
mod window_sorter;

pub use columns::Columns;
pub use error::{Position, TraceError};
pub use problems::{Finding, Problem, Problems};
pub use reader::{Reader, TraceBuilder};
pub use record::{Flags, Op, Record};
pub use recorded::{Trace, Volume};
pub use sink::ReaderOptions;
pub use window_sorter::{LatePolicy, WindowSorter};

#[cfg(test)]
mod tests;
