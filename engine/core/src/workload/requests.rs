//! The requests of one kind of one user: operation, size and address, each from its own random stream.

use super::address::{AddressModel, AddressState};
use super::command::Command;
use crate::config::{self, Size};
use crate::rng::{Purpose, RandomStream};
use crate::trace::Op;
use crate::units::{Lba, Sectors};

/// The operations of a kind of requests, shared by all sources of a stream. Sizes in sectors.
#[derive(Clone, Debug)]
pub struct OperationModel {
    read_fraction: f64,
    fua_fraction: f64,
    /// Share of the writes to the extent that their user read last.
    rewrite_fraction: f64,
    flush_every: Option<u32>,
    read_sizes: SizeDistribution,
    write_sizes: SizeDistribution,
    alignment: Option<u64>,
}

impl OperationModel {
    /// Whether some are reads.
    pub fn has_reads(&self) -> bool {
        self.read_fraction > 0.0
    }

    /// Whether some are writes.
    pub fn has_writes(&self) -> bool {
        self.read_fraction < 1.0
    }

    /// The operations of a checked configuration.
    pub fn new(operations: &config::Operations) -> Self {
        Self {
            read_fraction: operations.read_fraction.0,
            fua_fraction: operations.fua_fraction.0,
            rewrite_fraction: operations.rewrite_fraction.map_or(0.0, |share| share.0),
            flush_every: operations.flush_every,
            read_sizes: SizeDistribution::new(&operations.size),
            write_sizes: SizeDistribution::new(operations.write_size.as_ref().unwrap_or(&operations.size)),
            alignment: operations.alignment.map(|alignment| alignment.sectors().0),
        }
    }
}

/// Sizes of requests, in sectors.
#[derive(Clone, Debug)]
enum SizeDistribution {
    One(u64),
    /// Sizes, each with its cumulative share.
    Choice(Box<[(f64, u64)]>),
    /// `count` sizes from `first` on, `step` apart.
    Uniform {
        first: u64,
        step: u64,
        count: u64,
    },
}

impl SizeDistribution {
    fn new(size: &Size) -> Self {
        match size {
            Size::Constant { value } => Self::One(value.sectors().0),
            Size::Choice { options } => {
                if let [only] = options.as_slice() {
                    return Self::One(only.value.sectors().0);
                }
                let total: f64 = options.iter().map(|option| option.weight).sum();
                let mut sum = 0.0;
                let sizes = options.iter().map(|option| {
                    sum += option.weight / total;
                    (sum, option.value.sectors().0)
                });
                Self::Choice(sizes.collect())
            }
            Size::Uniform { min, max, step } => {
                let step = step.unwrap_or(*min);
                let count = (max.0 - min.0) / step.0 + 1;
                Self::Uniform { first: min.sectors().0, step: step.sectors().0, count }
            }
        }
    }

    #[inline]
    fn draw(&self, stream: &mut RandomStream) -> u64 {
        match self {
            Self::One(only) => *only,
            Self::Choice(sizes) => {
                let draw = stream.unit();
                sizes.iter().find(|(sum, _)| draw < *sum).or(sizes.last()).map_or(1, |&(_, size)| size)
            }
            Self::Uniform { first, step, count } => first + stream.below(*count) * step,
        }
    }
}

/// A kind of requests, shared by all sources that issue it.
#[derive(Clone, Debug)]
pub struct RequestModel {
    /// Their operations.
    pub operations: OperationModel,
    /// Their addresses.
    pub address: AddressModel,
}

/// The first sector and the length of a read, for a write to the same sectors.
pub type ReadExtent = (Lba, Sectors);

/// The requests of one kind of one source.
#[derive(Clone, Debug)]
pub struct Requests {
    operation: RandomStream,
    size: RandomStream,
    address: RandomStream,
    address_state: AddressState,
    writes: u32,
}

impl Requests {
    /// The requests of `model` that user `user` of the stream `name` issues.
    pub fn new(run: &config::Run, name: &str, user: u32, model: &RequestModel) -> Self {
        let named = |purpose| RandomStream::named(run.seed, run.replicate, name, user, purpose);
        let mut order = named(Purpose::Stack);
        Self {
            operation: named(Purpose::Operation),
            size: named(Purpose::Size),
            address: named(Purpose::Address),
            address_state: model.address.state(user, &mut order),
            writes: 0,
        }
    }

    /// The same requests with the random streams of the functional warm-up.
    #[must_use]
    pub fn for_warm_up(mut self, run: &config::Run, name: &str, user: u32) -> Self {
        let parts =
            [("operation", &mut self.operation), ("size", &mut self.size), ("address", &mut self.address)];
        for (part, stream) in parts {
            let name = format!("{name}/{part}");
            *stream = RandomStream::named(run.seed, run.replicate, &name, user, Purpose::WarmUp);
        }
        self
    }

    /// Continues its addresses where those of `twin` are.
    pub fn follow(&mut self, twin: &mut Self, model: &RequestModel) {
        model.address.follow(&mut self.address_state, &mut twin.address_state);
    }

    /// The next command. `last_read` is the extent that the user read last.
    #[inline]
    pub fn command(&mut self, model: &RequestModel, last_read: &mut Option<ReadExtent>) -> Command {
        let operations = &model.operations;
        if operations.flush_every.is_some_and(|every| self.writes >= every) {
            self.writes = 0;
            return Command::FLUSH;
        }
        // If all are reads, nothing else is drawn from that stream.
        let is_read = operations.read_fraction >= 1.0 || self.operation.unit() < operations.read_fraction;
        let rewritten = if is_read { None } else { self.rewritten(operations, *last_read) };
        let (lba, sectors) = rewritten.unwrap_or_else(|| {
            let sizes = if is_read { &operations.read_sizes } else { &operations.write_sizes };
            let sectors = sizes.draw(&mut self.size);
            let alignment = operations.alignment.unwrap_or(sectors);
            self.address_state.is_write = !is_read;
            let lba = model.address.draw(&mut self.address_state, &mut self.address, sectors, alignment);
            (lba, Sectors(self.address_state.clip(sectors)))
        });
        let is_forced =
            !is_read && operations.fua_fraction > 0.0 && self.operation.unit() < operations.fua_fraction;
        if is_read {
            *last_read = Some((lba, sectors));
        } else {
            self.writes += 1;
        }
        Command { operation: if is_read { Op::Read } else { Op::Write }, lba, sectors, is_forced }
    }

    /// The extent of a write that rewrites the last read.
    #[inline]
    fn rewritten(
        &mut self,
        operations: &OperationModel,
        last_read: Option<ReadExtent>,
    ) -> Option<ReadExtent> {
        let share = operations.rewrite_fraction;
        if share > 0.0 && self.operation.unit() < share { last_read } else { None }
    }
}
