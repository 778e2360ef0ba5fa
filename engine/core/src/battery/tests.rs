//! The battery against hand-worked times, to the nanosecond.

use super::*;
use crate::config::{BatteryKind, BatteryState};
use crate::units::Fraction;

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;

fn config(state: BatteryState) -> config::Battery {
    config::Battery { state, ..config::Battery::default() }
}

/// All changes of `battery` and their times, at most `most`.
fn run(battery: &mut Battery, most: usize) -> Vec<(u64, Change)> {
    let mut seen = Vec::new();
    while seen.len() < most
        && let Some((at, change)) = battery.next()
    {
        battery.apply(at, change);
        seen.push((at.0, change));
    }
    seen
}

#[test]
fn an_empty_battery_is_sufficient_after_11_376_s() {
    let mut battery =
        Battery::new(&config::Battery { charge: Fraction(0.0), ..config(BatteryState::Charging) });
    assert!(!battery.is_sufficient());
    let seen = run(&mut battery, 9);
    assert_eq!(seen, [(11_376 * SECOND, Change::Sufficient), (4 * HOUR, Change::Charged)]);
    assert_eq!((battery.state(), battery.is_sufficient()), (State::Charged, true));
}

#[test]
fn write_back_starts_when_the_charge_is_sufficient() {
    for (charge, at) in [(0.5, 4176), (0.75, 576), (0.25, 7776)] {
        let config = config::Battery { charge: Fraction(charge), ..config(BatteryState::Charging) };
        assert_eq!(Battery::new(&config).next(), Some((SimTime(at * SECOND), Change::Sufficient)));
    }
    // From the threshold it is sufficient immediately.
    let config = config::Battery { charge: Fraction(0.79), ..config(BatteryState::Charging) };
    let battery = Battery::new(&config);
    assert!(battery.is_sufficient());
    assert_eq!(battery.next(), Some((SimTime(3024 * SECOND), Change::Charged)));
}

#[test]
fn holdup_is_proportional_to_the_charge() {
    let mut battery = Battery::new(&config(BatteryState::Present));
    battery.lose_mains(SimTime(HOUR));
    assert_eq!(battery.next(), Some((SimTime(73 * HOUR), Change::Empty)));
    // Mains return after 36 hours with half a charge, which lasts another 36 hours, or is full after two.
    battery.restore_mains(SimTime(37 * HOUR));
    assert!(!battery.is_sufficient());
    assert_eq!(battery.next(), Some((SimTime(37 * HOUR + 4176 * SECOND), Change::Sufficient)));
    battery.lose_mains(SimTime(37 * HOUR));
    assert_eq!(battery.next(), Some((SimTime(73 * HOUR), Change::Empty)));
    assert_eq!(run(&mut battery, 9), [(73 * HOUR, Change::Empty)]);
    battery.restore_mains(SimTime(80 * HOUR));
    assert_eq!(battery.next(), Some((SimTime(80 * HOUR + 11_376 * SECOND), Change::Sufficient)));
}

#[test]
fn a_learn_cycle_crosses_the_threshold_twice() {
    let mut battery = Battery::new(&config(BatteryState::Present));
    assert_eq!(battery.next(), None, "no learn cycle by itself");
    battery.request_learn(SimTime(HOUR));
    let seen = run(&mut battery, 9);
    // 79 % after 0.21 x 3 h, empty after 3 h, 79 % after a further 0.79 x 4 h, full after 4 h.
    assert_eq!(
        seen,
        [
            (HOUR, Change::LearnBegins),
            (HOUR + 2268 * SECOND, Change::Insufficient),
            (4 * HOUR, Change::LearnTurns),
            (4 * HOUR + 11_376 * SECOND, Change::Sufficient),
            (8 * HOUR, Change::Charged),
        ]
    );
    assert!(!battery.is_learning());
}

#[test]
fn learn_cycles_are_periodic_and_wait_for_full_charge() {
    let mut periodic = Battery::new(&config::Battery {
        learn_period: Some(SimDuration(24 * HOUR)),
        ..config(BatteryState::Present)
    });
    let begins = |seen: &[(u64, Change)]| -> Vec<u64> {
        seen.iter().filter(|(_, change)| *change == Change::LearnBegins).map(|(at, _)| at / HOUR).collect()
    };
    assert_eq!(begins(&run(&mut periodic, 12)), [24, 48, 72]);
    let mut charging =
        Battery::new(&config::Battery { charge: Fraction(0.5), ..config(BatteryState::Charging) });
    charging.request_learn(SimTime(HOUR));
    assert_eq!(begins(&run(&mut charging, 9)), [2], "the battery is full after two hours");
    assert_eq!(charging.next(), None);
}

#[test]
fn hysteresis_delays_the_end_of_write_back_only() {
    let mut battery =
        Battery::new(&config::Battery { hysteresis: Fraction(0.29), ..config(BatteryState::Present) });
    battery.request_learn(SimTime::ZERO);
    let seen = run(&mut battery, 9);
    assert_eq!(seen[1], (HOUR + HOUR / 2, Change::Insufficient), "50 % is reached after half of three hours");
    assert_eq!(seen[3], (3 * HOUR + 11_376 * SECOND, Change::Sufficient));
    // 64 % remain after 0.36 x 72 h without mains: enough if the charge was sufficient, else not.
    let mut battery =
        Battery::new(&config::Battery { hysteresis: Fraction(0.29), ..config(BatteryState::Present) });
    let outage = 72 * HOUR * 36 / 100;
    battery.lose_mains(SimTime::ZERO);
    battery.restore_mains(SimTime(outage));
    assert!(battery.is_sufficient());
    let mut battery = Battery::new(&config::Battery {
        hysteresis: Fraction(0.29),
        charge: Fraction(0.64),
        ..config(BatteryState::Charging)
    });
    battery.lose_mains(SimTime::ZERO);
    battery.restore_mains(SimTime(1));
    assert!(!battery.is_sufficient());
}

#[test]
fn a_capacitor_needs_charge_for_the_copy_only() {
    let flash = config::Battery {
        kind: BatteryKind::Flash,
        charge_time: SimDuration(300 * SECOND),
        holdup: SimDuration(80 * SECOND),
        copy_time: Some(SimDuration(40 * SECOND)),
        ..config(BatteryState::Present)
    };
    let mut battery = Battery::new(&flash);
    battery.lose_mains(SimTime::ZERO);
    assert_eq!(run(&mut battery, 9), [(40 * SECOND, Change::Copied)]);
    battery.restore_mains(SimTime(1000 * HOUR));
    // Half of the charge remains.
    assert_eq!(battery.next(), Some((SimTime(1000 * HOUR + 87 * SECOND), Change::Sufficient)));
    // With less than half a charge the copy is not finished.
    let mut battery =
        Battery::new(&config::Battery { state: BatteryState::Charging, charge: Fraction(0.49), ..flash });
    battery.lose_mains(SimTime::ZERO);
    assert_eq!(run(&mut battery, 9), [(39_200_000_000, Change::Empty)]);
}

#[test]
fn failed_and_absent_batteries_do_not_change() {
    for mut battery in [Battery::new(&config(BatteryState::Absent)), {
        let mut battery = Battery::new(&config(BatteryState::Present));
        battery.fail(SimTime(1));
        battery
    }] {
        battery.request_learn(SimTime(2));
        battery.lose_mains(SimTime(3));
        battery.restore_mains(SimTime(4));
        assert_eq!(
            (battery.next(), battery.is_sufficient(), battery.charge_at(SimTime(5))),
            (None, false, 0.0)
        );
    }
}

#[test]
fn a_threshold_of_0_is_always_met() {
    let mut battery = Battery::new(&config::Battery {
        threshold: Fraction(0.0),
        charge: Fraction(0.0),
        ..config(BatteryState::Charging)
    });
    battery.request_learn(SimTime::ZERO);
    let mut insufficient = false;
    for _ in 0..4 {
        run(&mut battery, 1);
        insufficient |= !battery.is_sufficient();
    }
    assert!(!insufficient);
    assert_eq!(battery.state(), State::Charged);
}
