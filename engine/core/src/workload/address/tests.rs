//! What the address processes give.

use super::*;
use crate::config::Placement;
use crate::rng::Purpose;

fn model(address: &Address, stream: &mut Stream) -> AddressModel {
    AddressModel::new(address, Sectors(1 << 20), (Sectors(16), None), 1, stream)
}

fn draws(address: &Address, count: usize) -> Vec<u64> {
    let mut stream = Stream::named(1, 0, "a", 0, Purpose::Address);
    let model = model(address, &mut stream);
    let mut state = model.state(0, &mut stream);
    (0..count).map(|_| model.draw(&mut state, &mut stream, 16, 16).0).collect()
}

#[test]
fn uniform_stays_in_its_footprint_and_covers_it() {
    let address = Address::Uniform {
        footprint: Some(Bytes(64 * 8192)),
        placement: Placement::Contiguous { offset: Bytes(1 << 20) },
        per_user: false,
    };
    let mut places = draws(&address, 4000);
    places.sort_unstable();
    places.dedup();
    let expected: Vec<u64> = (0..64).map(|i| 2048 + i * 16).collect();
    assert_eq!(places, expected);
}

#[test]
fn sequential_runs_follow_on_and_wrap() {
    let endless = Address::Sequential {
        run: None,
        jump_fraction: None,
        footprint: Some(Bytes(4 * 8192)),
        placement: Placement::default(),
        per_user: false,
    };
    assert_eq!(draws(&endless, 6), [0, 16, 32, 48, 0, 16]);
    let runs = Address::Sequential {
        run: Some(Bytes(4 * 8192)),
        jump_fraction: None,
        footprint: None,
        placement: Placement::default(),
        per_user: false,
    };
    let places = draws(&runs, 400);
    let breaks = places.windows(2).filter(|pair| pair[1] != pair[0] + 16).count();
    assert!((98..=100).contains(&breaks), "{breaks} breaks in 100 runs of four");
}

#[test]
fn endless_sequences_of_other_users_start_elsewhere() {
    let address = Address::Sequential {
        run: None,
        jump_fraction: None,
        footprint: Some(Bytes(64 << 20)),
        placement: Placement::default(),
        per_user: false,
    };
    let mut stream = Stream::named(1, 0, "a", 1, Purpose::Address);
    let model = model(&address, &mut stream);
    let mut state = model.state(1, &mut stream);
    let places: Vec<_> = (0..3).map(|_| model.draw(&mut state, &mut stream, 16, 16).0).collect();
    assert_ne!(places[0], 0);
    assert_eq!([places[1] - places[0], places[2] - places[1]], [16, 16]);
}

#[test]
fn a_block_larger_than_the_footprint_stays_in_it() {
    let address = Address::Zipf {
        exponent: 1.0,
        block: Bytes(64 << 10),
        footprint: Some(Bytes(16 << 10)),
        placement: Placement::default(),
        per_user: false,
    };
    let mut places = draws(&address, 200);
    places.sort_unstable();
    places.dedup();
    assert_eq!(places, [0, 16]);
}

#[test]
fn spread_extents_lie_at_equal_distances() {
    let address = Address::Uniform {
        footprint: Some(Bytes(4 << 20)),
        placement: Placement::Spread { extent: Bytes(1 << 20) },
        per_user: false,
    };
    let mut extents: Vec<u64> = draws(&address, 2000).iter().map(|lba| lba / 2048).collect();
    extents.sort_unstable();
    extents.dedup();
    assert_eq!(extents, [0, 128, 256, 384]);
}

#[test]
fn scattered_extents_are_as_many_as_the_footprint_holds() {
    let address = Address::Uniform {
        footprint: Some(Bytes(8 << 20)),
        placement: Placement::Scattered { extent: Bytes(1 << 20) },
        per_user: false,
    };
    let mut extents: Vec<u64> = draws(&address, 2000).iter().map(|lba| lba / 2048).collect();
    extents.sort_unstable();
    extents.dedup();
    assert_eq!(extents.len(), 8);
    assert!(extents.iter().all(|&extent| extent < 512));
}
