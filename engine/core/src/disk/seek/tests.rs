use proptest::prelude::*;

use super::*;

fn ms(milliseconds: f64) -> SimDuration {
    SimDuration::from_secs_f64(milliseconds * 1e-3)
}

/// Ruemmler & Wilkes' HP 97560: 3.24 + 0.400 sqrt(d) ms up to 383 cylinders, 8.00 + 0.008 d beyond.
fn hp_97560() -> SeekCurve {
    SeekCurve::two_piece(383, 3.24e6, 0.4e6, 8.0e6, 0.008e6, 1962).unwrap()
}

#[test]
fn the_hp_97560_takes_its_published_times() {
    let curve = hp_97560();
    let published = [(1, 3.64), (100, 7.24), (383, 11.0682), (384, 11.072), (1000, 16.0), (1961, 23.688)];
    for (distance, expected) in published {
        let measured = curve.time(distance).as_secs_f64() * 1e3;
        assert!((measured - expected).abs() < 5e-5, "{distance}: {measured} for {expected}");
    }
    assert_eq!(curve.time(0), SimDuration::ZERO);
    assert_eq!(curve.single_cylinder(), ms(3.64));
    let mean = curve.mean().as_secs_f64() * 1e3;
    assert!((mean - 12.8384).abs() < 5e-5, "{mean}");
    // With the pairs of equal cylinders, which take no time: 1961 / 1962 of it.
    assert!((mean * 1961.0 / 1962.0 - 12.8318).abs() < 5e-5);
}

#[test]
fn the_mean_weighs_each_distance_by_its_pairs() {
    // Three cylinders: four ordered pairs at distance 1, two at distance 2, so (4 x 10 + 2 x 40) / 6 = 20.
    let curve = SeekCurve::from_table(&[(1, SimDuration(10)), (2, SimDuration(40))], 3).unwrap();
    assert_eq!(curve.mean(), SimDuration(20));
    // t(d) = d on 1,962 cylinders: mean distance (N^2 - 1) / (3 N) = 653.9998, without d = 0 (N + 1) / 3 = 654.333.
    let straight = SeekCurve::two_piece(0, 0.0, 0.0, 0.0, 1e6, 1962).unwrap();
    assert_eq!(straight.mean(), SimDuration(654_333_333));
}

/// Name, cylinders, track to track, average, full stroke \[ms\], and b, c \[ms\] worked out elsewhere. The cylinders are
/// the maker's for the Savvio 10K.1; for the others they are assumed, as are some of the full strokes.
const FITTED: [(&str, u32, [f64; 3], f64, f64); 8] = [
    ("Savvio 10K.1", 51_052, [0.20, 4.0, 8.1], 0.025_818_5, 4.048_02e-5),
    ("Savvio 10K.4", 85_000, [0.30, 3.8, 7.81], 0.017_093_2, 2.972_53e-5),
    ("Cheetah 15K.4", 50_864, [0.2, 3.5, 7.4], 0.019_953_9, 5.308_25e-5),
    ("Cheetah 15K.3", 31_310, [0.2, 3.6, 7.0], 0.032_027_2, 3.619_17e-5),
    ("Cheetah 10K.7", 90_774, [0.25, 4.7, 10.0], 0.019_915_1, 4.131_13e-5),
    ("10K U320 as HP quotes it", 49_855, [0.3, 5.2, 10.5], 0.033_591_3, 5.415_52e-5),
    ("Cheetah 15K.7", 120_000, [0.2, 3.4, 6.6], 0.015_396_3, 8.888_54e-6),
    ("nearline SAS", 300_000, [0.25, 8.5, 16.5], 0.025_864_9, 6.944_28e-6),
];

#[test]
fn fits_reproduce_independent_coefficients() {
    for (name, cylinders, [first, mean, last], root, linear) in FITTED {
        let fit = Fit::new(first, mean, last, cylinders);
        assert!((fit.root / root - 1.0).abs() < 1e-5, "{name}: b = {} for {root}", fit.root);
        assert!((fit.linear / linear - 1.0).abs() < 1e-5, "{name}: c = {} for {linear}", fit.linear);
    }
}

#[test]
fn a_fit_meets_its_three_times_to_the_nanosecond() {
    for (name, cylinders, [first, mean, last], ..) in FITTED {
        let curve = SeekCurve::from_figures(ms(first), ms(mean), ms(last), cylinders).unwrap();
        assert_eq!(curve.time(1), ms(first), "{name}");
        assert_eq!(curve.time(cylinders - 1), ms(last), "{name}");
        assert!(curve.mean().0.abs_diff(ms(mean).0) <= 1, "{name}: {:?}", curve.mean());
    }
}

#[test]
fn the_savvio_has_the_variance_of_the_queueing_formula() {
    // Variance of the seek time 3.1259 ms^2 (it enters the Pollaczek-Khinchine check of a whole disk).
    let cylinders = 51_052_u32;
    let curve = SeekCurve::from_figures(ms(0.2), ms(4.0), ms(8.1), cylinders).unwrap();
    let pairs = f64::from(cylinders) * f64::from(cylinders - 1);
    let second: f64 = (1..cylinders)
        .map(|d| {
            let time = curve.time(d).as_secs_f64() * 1e3;
            2.0 * f64::from(cylinders - d) / pairs * time * time
        })
        .sum();
    assert!((second - 16.0 - 3.1259).abs() < 1e-3, "{}", second - 16.0);
}

#[test]
fn tables_are_linear_and_extrapolated() {
    let points = [(2, SimDuration(100)), (4, SimDuration(140)), (10, SimDuration(80))];
    let curve = SeekCurve::from_table(&points, 12).unwrap();
    let times: Vec<u64> = (0..12).map(|d| curve.time(d).0).collect();
    assert_eq!(times, [0, 80, 100, 120, 140, 130, 120, 110, 100, 90, 80, 70]);
}

#[test]
fn impossible_curves_are_refused() {
    let figures = |first, mean, last| SeekCurve::from_figures(ms(first), ms(mean), ms(last), 1000);
    assert!(matches!(figures(0.0, 4.0, 8.0), Err(SeekError::FiguresOutOfOrder { .. })));
    assert!(matches!(figures(4.1, 4.0, 8.0), Err(SeekError::FiguresOutOfOrder { .. })));
    assert!(matches!(figures(1.0, 8.1, 8.0), Err(SeekError::FiguresOutOfOrder { .. })));
    // A straight line from 1 to 8 ms has its mean at a third: 3.33 ms; lower averages would dip at the start.
    let Err(SeekError::NotMonotone { distance, least_average_ns, most_average_ns, .. }) =
        figures(1.0, 3.0, 8.0)
    else {
        panic!("an average below a third of the stroke was taken")
    };
    assert_eq!(distance, 2);
    assert!(least_average_ns.abs_diff(3_333_333) < 3000, "{least_average_ns}");
    assert!(figures(1.0, least_average_ns as f64 * 1e-6 + 1e-5, 8.0).is_ok());
    assert!(figures(1.0, most_average_ns as f64 * 1e-6 - 1e-5, 8.0).is_ok());
    assert!(figures(1.0, most_average_ns as f64 * 1e-6 + 1e-2, 8.0).is_err());
    let three = SeekCurve::from_figures(ms(1.0), ms(4.0), ms(8.0), 3).unwrap_err();
    assert_eq!(three, SeekError::TooFewCylinders { cylinders: 3, least: 4 });
    let straight = |cylinders| SeekCurve::two_piece(0, 0.0, 0.0, 0.0, 1.0, cylinders);
    assert_eq!(straight(1).unwrap_err(), SeekError::TooFewCylinders { cylinders: 1, least: 2 });
    let below = SeekCurve::two_piece(0, 0.0, 0.0, -2.5, 1.0, 10).unwrap_err();
    assert_eq!(below, SeekError::TimeOutOfRange { distance: 1, nanoseconds: -1.5 });
    let point = |distance| (distance, SimDuration(1));
    let table = |points: &[_]| SeekCurve::from_table(points, 10).unwrap_err();
    assert_eq!(table(&[point(1)]), SeekError::TableTooShort { points: 1 });
    assert_eq!(table(&[point(0), point(1)]), SeekError::TableOutOfOrder { index: 0, distance: 0 });
    assert_eq!(table(&[point(3), point(3)]), SeekError::TableOutOfOrder { index: 1, distance: 3 });
}

proptest! {
    #[test]
    fn every_accepted_fit_rises(cylinders in 4_u32..5000, first in 1_u64..1000, mean in 0_u64..9000, last in 0_u64..9000) {
        let (first, mean, last) = (first * 1000, (first + mean) * 1000, (first + mean + last) * 1000);
        if let Ok(curve) = SeekCurve::from_figures(SimDuration(first), SimDuration(mean), SimDuration(last), cylinders) {
            for distance in 1..cylinders {
                prop_assert!(curve.time(distance) >= curve.time(distance - 1));
            }
            prop_assert!(curve.mean().0.abs_diff(mean) <= 1);
        }
    }
}
