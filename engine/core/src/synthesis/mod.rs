//! Synthesis: a profile is fitted to a trace, and new traces are drawn from it.
//!
//! ```text
//!   trace ─► fit ─► profile ─► draw(seed) ─► trace
//!
//!   a request is of a kind:   operation × reuse (own, other, fresh) × sequential or not
//!   its state:                kind × class of the gap before it, which the next state depends on (a Markov chain)
//!   from the state follow:    the gap [ns], the shape (offset in its block, sectors, flags), the stack distance
//! ```
//!
//! Reads and writes have an LRU stack of blocks each, and one in common. The first block of a request is *own* where its
//! own stack holds it, at a stack distance of which the kind has a histogram, jointly with the distance on the common stack;
//! *other* where the other stack alone holds it (a read of what was written, a first write to what was read), at a distance
//! there; else *fresh*, at a place of which there is a histogram. A request is sequential where it goes on where the last
//! of its operation ended. Gaps are in eight classes of equally many; each class has bins of equally many gaps, drawn so
//! that the mean of each bin is kept. A request whose last block was never used goes where that can be: to room of its own,
//! if need be (a log).
//!
//! So kept are: the order of operations, bursts as far as one gap tells the next, sizes, offsets and flags by kind, runs,
//! where new data lies, and the miss ratio curves of reads and of writes; that of both as far as a block is found that fits
//! both distances.
//!
//! Not kept: change in time (a storm at nine o'clock is spread over the day), dependence beyond the last request, what lies
//! near what but for runs, and process ids (all requests are process 0's). Blocks behind the first of a request, and the
//! continuation of a run, are what lies there, whatever their distance; a trace may so end beyond the original's address space.
//!
//! Cost: O(log n) for each block of a request, n different blocks; some 200 bytes a block.
//!
//! LRU stack distances as a model of reference: J. R. Spirn: Program behavior: models and measurements, Elsevier, 1977.
//! What a synthetic trace should be compared on: G. R. Ganger: Generating representative synthetic workloads: an unsolved
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
