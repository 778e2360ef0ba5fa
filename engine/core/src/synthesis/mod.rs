//! Trace synthesis: fits a profile to a trace, and draws new traces from it.
//!
//! ```text
//!   trace ─► fit ─► profile ─► draw(seed) ─► trace
//!
//!   a request is of a kind:   operation × reuse (own, other, fresh) × sequential or not
//!   its state:                kind × class of the gap before it; the states form a Markov chain
//!   drawn from the state:     the gap [ns], the shape (offset in its block, sectors, flags), the stack distance
//! ```
//!
//! Reads and writes each have an LRU stack of blocks, and there is a common one. The first block of a request is *own* if it
//! is on its own stack, at a distance drawn from a histogram of the kind, jointly with the distance on the common stack;
//! *other* if it is only on the other stack (a read of written data, a first write to read data), at a distance there; else
//! *fresh*, at an address drawn from a histogram. A request is sequential if it begins at the end of the last request of
//! its operation. Gaps are in eight classes of equally many; each class has bins of equally many gaps, and draws preserve
//! the mean of each bin. A request whose last block was never used is placed so that this holds, if necessary beyond all
//! used blocks (as for a log).
//!
//! Preserved: the order of operations, bursts as far as one gap predicts the next, sizes, offsets and flags by kind,
//! sequential runs, the addresses of new data, and the miss ratio curves of reads and of writes; the curve of both as far
//! as a block exists that matches both distances.
//!
//! Not preserved: changes over time (a storm at nine o'clock is spread over the day), dependence beyond the last request,
//! spatial locality other than runs, and process ids (all requests have process 0). The later blocks of a request, and those
//! of a run, follow from its address, whatever their stack distance. A trace may therefore end beyond the address space of
//! the original.
//!
//! Cost: O(log n) per block of a request, for n distinct blocks; about 200 bytes per block.
//!
//! LRU stack distances as a model of reference: J. R. Spirn: Program behavior: models and measurements, Elsevier, 1977.
//! On what to compare: G. R. Ganger: Generating representative synthetic workloads: an unsolved
//! problem, CMG 1995.

mod bins;
mod draw;
mod fit;
mod profile;
mod recency;

pub use draw::{Until, draw};
pub use fit::fit;
pub use profile::{Profile, Reuse};

#[cfg(test)]
mod tests;
