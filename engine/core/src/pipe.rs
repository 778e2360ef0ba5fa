//! A first-come-first-served resource: the host link, the firmware processor.

use crate::units::{SimDuration, SimTime};

/// A first-come-first-served resource whose service times are known on arrival.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pipe {
    free_at: SimTime,
    window_start: SimTime,
    busy: u64,
}

impl Pipe {
    /// Requests `service` at `now`; returns its end.
    #[inline]
    pub fn claim(&mut self, now: SimTime, service: SimDuration) -> SimTime {
        self.free_at = self.free_at.max(now) + service;
        self.busy = self.busy.saturating_add(service.0);
        self.free_at
    }

    /// End of all requested service.
    #[inline]
    pub const fn free_at(&self) -> SimTime {
        self.free_at
    }

    /// Restarts the measurement of use.
    pub fn reset(&mut self, now: SimTime) {
        self.window_start = now;
        self.busy = self.free_at.since(now).0;
    }

    /// The power is cut at `now`: later service is not done.
    pub fn cut(&mut self, now: SimTime) {
        self.busy = self.busy.saturating_sub(self.free_at.since(now).0);
        self.free_at = self.free_at.min(now);
    }

    /// Share of the time since the last reset in which it was busy.
    pub fn busy_fraction(&self, now: SimTime) -> f64 {
        let length = now.since(self.window_start).0;
        let busy = self.busy - self.free_at.since(now).0.min(self.busy);
        if length > 0 { busy as f64 / length as f64 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_queue_and_use_is_clipped_to_the_window() {
        let mut pipe = Pipe::default();
        assert_eq!(pipe.claim(SimTime(10), SimDuration(5)), SimTime(15));
        assert_eq!(pipe.claim(SimTime(12), SimDuration(5)), SimTime(20));
        pipe.reset(SimTime(16));
        assert_eq!(pipe.claim(SimTime(30), SimDuration(20)), SimTime(50));
        // Busy 16..20 and 30..36 of 16..36.
        assert!((pipe.busy_fraction(SimTime(36)) - 0.5).abs() < 1e-12);
        pipe.cut(SimTime(40));
        assert_eq!(pipe.claim(SimTime(41), SimDuration(1)), SimTime(42));
        // Busy 16..20, 30..40 and 41..42 of 16..42.
        assert!((pipe.busy_fraction(SimTime(42)) - 15.0 / 26.0).abs() < 1e-12);
    }
}
