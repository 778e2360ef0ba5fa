//! Usage of a device: time integrals of waiting and served I/Os.

use super::FlashCounts;
use crate::units::{SimDuration, SimTime};

/// Time integrals since the last reset.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    servers: u32,
    last: SimTime,
    start: SimTime,
    in_system: u32,
    in_service: u32,
    queue_area: u128,
    busy_area: u128,
    /// Reads started.
    pub reads: u64,
    /// Writes started.
    pub writes: u64,
    /// Operations on the flash of an SSD.
    pub flash: Option<FlashCounts>,
    /// Countdown and period of I/Os that are not counted.
    #[cfg(any(test, feature = "mutations"))]
    left_out: Option<(u64, u64)>,
}

impl Usage {
    /// Usage of a device that serves `servers` I/Os concurrently.
    pub const fn new(servers: u32) -> Self {
        Self {
            servers,
            last: SimTime::ZERO,
            start: SimTime::ZERO,
            in_system: 0,
            in_service: 0,
            queue_area: 0,
            busy_area: 0,
            reads: 0,
            writes: 0,
            flash: None,
            #[cfg(any(test, feature = "mutations"))]
            left_out: None,
        }
    }

    /// Usage of an SSD of `dies` dies, each busy or idle.
    pub fn of_flash(dies: u32) -> Self {
        Self { flash: Some(FlashCounts::default()), ..Self::new(dies) }
    }

    /// Advances the integrals to `now`.
    #[inline]
    pub fn advance(&mut self, now: SimTime) {
        let passed = u128::from(now.since(self.last).0);
        self.queue_area += passed * u128::from(self.in_system);
        self.busy_area += passed * u128::from(self.in_service);
        self.last = now;
    }

    /// An I/O arrived.
    #[inline]
    pub fn arrive(&mut self, now: SimTime) {
        self.advance(now);
        self.in_system += 1;
    }

    /// The service of an I/O started.
    #[inline]
    pub fn begin(&mut self, is_write: bool) {
        self.in_service += 1;
        self.count(is_write);
    }

    /// An I/O completed.
    #[inline]
    pub fn end(&mut self, now: SimTime) {
        self.advance(now);
        self.in_system -= 1;
        self.in_service -= 1;
    }

    /// The power is cut: nothing waits or is served.
    pub fn cut(&mut self, now: SimTime) {
        self.advance(now);
        self.in_system = 0;
        self.in_service = 0;
    }

    /// Counts an I/O as a read or a write.
    #[inline]
    pub const fn count(&mut self, is_write: bool) {
        #[cfg(any(test, feature = "mutations"))]
        if let Some((left, period)) = &mut self.left_out {
            *left -= 1;
            if *left == 0 {
                *left = *period;
                return;
            }
        }
        if is_write {
            self.writes += 1;
        } else {
            self.reads += 1;
        }
    }

    /// An I/O completed, independent of the servers.
    #[inline]
    pub fn depart(&mut self, now: SimTime) {
        self.advance(now);
        self.in_system -= 1;
    }

    /// One of the servers became busy.
    #[inline]
    pub fn occupy(&mut self, now: SimTime) {
        self.advance(now);
        self.in_service += 1;
    }

    /// One of the servers became idle.
    #[inline]
    pub fn release(&mut self, now: SimTime) {
        self.advance(now);
        self.in_service -= 1;
    }

    /// Counts an operation on the flash.
    #[inline]
    pub fn record_flash(&mut self, note: impl FnOnce(&mut FlashCounts)) {
        if let Some(flash) = &mut self.flash {
            note(flash);
        }
    }

    /// Waiting and served I/Os.
    #[inline]
    pub const fn in_system(&self) -> u32 {
        self.in_system
    }

    /// Leaves one I/O in `period` uncounted from now.
    #[cfg(any(test, feature = "mutations"))]
    pub const fn leave_out_one_in(&mut self, period: u64) {
        self.left_out = Some((period, period));
    }

    /// Restarts the integrals.
    pub fn reset(&mut self, now: SimTime) {
        self.advance(now);
        self.start = now;
        self.queue_area = 0;
        self.busy_area = 0;
        self.reads = 0;
        self.writes = 0;
        self.flash = self.flash.map(|_| FlashCounts::default());
    }

    fn length(&self) -> SimDuration {
        self.last.since(self.start)
    }

    /// Share of the time in which the device, or each of its servers, was busy.
    pub fn busy_fraction(&self) -> f64 {
        let length = self.length().0 as f64 * f64::from(self.servers);
        if length > 0.0 { self.busy_area as f64 / length } else { 0.0 }
    }

    /// Mean number of waiting and served I/Os.
    pub fn mean_in_system(&self) -> f64 {
        let length = self.length().0 as f64;
        if length > 0.0 { self.queue_area as f64 / length } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_worked_by_hand() {
        let mut usage = Usage::new(1);
        usage.arrive(SimTime(0));
        usage.begin(false);
        usage.arrive(SimTime(10));
        usage.end(SimTime(30));
        usage.begin(true);
        usage.end(SimTime(40));
        usage.advance(SimTime(100));
        // In system: 1 for 10 ns, 2 for 20 ns, 1 for 10 ns; busy for 40 of 100 ns.
        assert!((usage.mean_in_system() - 0.6).abs() < 1e-12);
        assert!((usage.busy_fraction() - 0.4).abs() < 1e-12);
        usage.reset(SimTime(100));
        usage.advance(SimTime(200));
        assert!(usage.busy_fraction().abs() < 1e-12);
    }
}
