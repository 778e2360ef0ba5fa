//! A source of synthetic requests: one user of a stream, or a stream that all users share.

use super::{AddressModel, AddressState, Command, Op};
use crate::config::{self, Distribution, Size};
use crate::rng::{Purpose, Stream};
use crate::units::{SimDuration, SimTime};

/// What all sources of a stream share of their operations. Sizes in sectors.
#[derive(Clone, Debug)]
pub struct OperationModel {
    read_fraction: f64,
    fua_fraction: f64,
    flush_every: Option<u32>,
    sizes: Box<[(f64, u64)]>,
    alignment: Option<u64>,
}

impl OperationModel {
    /// The operations of a checked configuration.
    pub fn new(operations: &config::Operations) -> Self {
        let sizes = match &operations.size {
            Size::Constant { value } => vec![(1.0, value.sectors().0)],
            Size::Choice { options } => {
                let total: f64 = options.iter().map(|option| option.weight).sum();
                let mut sum = 0.0;
                options
                    .iter()
                    .map(|option| {
                        sum += option.weight / total;
                        (sum, option.value.sectors().0)
                    })
                    .collect()
            }
        };
        Self {
            read_fraction: operations.read_fraction.0,
            fua_fraction: operations.fua_fraction.0,
            flush_every: operations.flush_every,
            sizes: sizes.into(),
            alignment: operations.alignment.map(|alignment| alignment.sectors().0),
        }
    }

    #[inline]
    fn size(&self, stream: &mut Stream) -> u64 {
        if let [(_, only)] = *self.sizes {
            return only;
        }
        let draw = stream.unit();
        self.sizes.iter().find(|(sum, _)| draw < *sum).or(self.sizes.last()).map_or(1, |&(_, size)| size)
    }
}

/// When a source issues.
#[derive(Clone, Copy, Debug)]
pub enum Timing {
    /// Thinks, then issues an interaction of `ios` I/Os, one after the other or all at once.
    Closed {
        /// Time between interactions.
        think_time: Distribution,
        /// I/Os of an interaction.
        ios: u32,
        /// Whether all are issued at once.
        is_parallel: bool,
    },
    /// Issues again whenever one completes.
    Outstanding {
        /// I/Os that are outstanding.
        depth: u32,
    },
    /// Issues at exponential gaps.
    Poisson {
        /// Mean gap.
        mean: SimDuration,
    },
}

/// One source of synthetic requests, with its own random streams.
#[derive(Clone, Debug)]
pub struct Synthetic {
    /// Index of the stream in the workload.
    pub stream: u16,
    /// The user; 0 for a stream that all users share.
    pub user: u32,
    /// Index of the array that it goes to.
    pub array: u16,
    /// When it issues.
    pub timing: Timing,
    /// I/Os of the current interaction that are still to be issued.
    pub to_issue: u32,
    /// I/Os of the current interaction that are outstanding.
    pub outstanding: u32,
    /// When the current interaction started.
    pub started: SimTime,
    arrival: Stream,
    operation: Stream,
    size: Stream,
    address: Stream,
    address_state: AddressState,
    writes: u32,
}

impl Synthetic {
    /// The source of user `user` of the stream `name`.
    pub fn new(
        run: &config::Run,
        name: &str,
        user: u32,
        (stream, array): (u16, u16),
        timing: Timing,
    ) -> Self {
        let named = |purpose| Stream::named(run.seed, run.replicate, name, user, purpose);
        Self {
            stream,
            user,
            array,
            timing,
            to_issue: 0,
            outstanding: 0,
            started: SimTime::ZERO,
            arrival: named(Purpose::Arrival),
            operation: named(Purpose::Operation),
            size: named(Purpose::Size),
            address: named(Purpose::Address),
            address_state: AddressState::of_user(user),
            writes: 0,
        }
    }

    /// A source with the same name whose draws are those of the functional warm-up.
    #[must_use]
    pub fn for_warm_up(&self, run: &config::Run, name: &str) -> Self {
        let mut twin = self.clone();
        let parts =
            [("operation", &mut twin.operation), ("size", &mut twin.size), ("address", &mut twin.address)];
        for (part, stream) in parts {
            let name = format!("{name}/{part}");
            *stream = Stream::named(run.seed, run.replicate, &name, self.user, Purpose::WarmUp);
        }
        twin
    }

    /// The next think time or gap.
    #[inline]
    pub fn gap(&mut self) -> SimDuration {
        match self.timing {
            Timing::Closed { think_time, .. } => self.arrival.duration(&think_time),
            Timing::Poisson { mean } => self.arrival.duration(&Distribution::Exponential { mean }),
            Timing::Outstanding { .. } => SimDuration::ZERO,
        }
    }

    /// The next command.
    #[inline]
    pub fn command(&mut self, operations: &OperationModel, address: &AddressModel) -> Command {
        if operations.flush_every.is_some_and(|every| self.writes >= every) {
            self.writes = 0;
            return Command::FLUSH;
        }
        let is_read = self.operation.unit() < operations.read_fraction;
        let sectors = operations.size(&mut self.size);
        let alignment = operations.alignment.unwrap_or(sectors);
        let lba = address.draw(&mut self.address_state, &mut self.address, sectors, alignment);
        let is_forced =
            !is_read && operations.fua_fraction > 0.0 && self.operation.unit() < operations.fua_fraction;
        if !is_read {
            self.writes += 1;
        }
        Command {
            operation: if is_read { Op::Read } else { Op::Write },
            lba,
            sectors: crate::units::Sectors(sectors),
            is_forced,
        }
    }
}
