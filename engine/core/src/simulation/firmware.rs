//! The firmware processor, which handles host commands and the parity of stripes.

use crate::config::{self, TimeSpread};
use crate::pipe::Pipe;
use crate::rng::{Purpose, RandomStream};
use crate::units::{SimDuration, SimTime};
use crate::workload::Op;

/// The firmware processor: one command or stripe at a time, first come, first served.
#[derive(Debug)]
pub struct Firmware {
    processor: Pipe,
    read_time: SimDuration,
    write_time: SimDuration,
    flush_time: SimDuration,
    /// Draws of the times of commands, if they vary.
    command_draws: Option<RandomStream>,
    parity_time: SimDuration,
}

impl Firmware {
    /// The processor of `config`.
    pub fn new(config: &config::Firmware, run: &config::Run) -> Self {
        let draws = || RandomStream::named(run.seed, run.replicate, "", 0, Purpose::Firmware);
        Self {
            processor: Pipe::default(),
            read_time: config.read_time.unwrap_or(config.command_time),
            write_time: config.write_time.unwrap_or(config.command_time),
            flush_time: config.command_time,
            command_draws: (config.spread == TimeSpread::Exponential).then(draws),
            parity_time: config.parity_time,
        }
    }

    /// Requests the time of a command; returns its end.
    #[inline]
    pub fn claim_command(&mut self, now: SimTime, operation: Op) -> SimTime {
        let mean = match operation {
            Op::Read => self.read_time,
            Op::Write => self.write_time,
            Op::Flush => self.flush_time,
        };
        let time = match &mut self.command_draws {
            None => mean,
            Some(draws) => draws.exponential_duration(mean),
        };
        self.processor.claim(now, time)
    }

    /// Whether parity takes its time.
    #[inline]
    pub const fn has_parity_time(&self) -> bool {
        !self.parity_time.is_zero()
    }

    /// Requests the time of the parity of `stripes`, if that takes any; returns its end.
    #[inline]
    pub fn claim_parity(&mut self, now: SimTime, stripes: u64) -> SimTime {
        if self.has_parity_time() { self.processor.claim(now, self.parity_time * stripes) } else { now }
    }

    /// Restarts the measurement of utilisation.
    pub fn reset(&mut self, now: SimTime) {
        self.processor.reset(now);
    }

    /// Power is cut at `now`.
    pub fn cut_power(&mut self, now: SimTime) {
        self.processor.cut(now);
    }

    /// Share of the window in which it was busy.
    pub fn busy_fraction(&self, now: SimTime) -> f64 {
        self.processor.busy_fraction(now)
    }
}

#[cfg(test)]
mod tests;
