//! Seek time of the arm as a function of the distance.
//!
//! Three forms of the curve t(d), d = distance \[cylinders\], 1 <= d <= N - 1 on N cylinders:
//!
//! - *figures* of a data sheet: t(d) = t1 + b sqrt(d - 1) + c (d - 1), with b and c such that the full stroke and the
//!   mean over random pairs of distinct cylinders are exact (the shape follows \[1\]: the square root is the
//!   part in which the arm accelerates throughout, the linear part is coasting);
//! - a *table* of measured distances, linear between them;
//! - *two pieces* \[1\]: a + b sqrt(d) up to a boundary, c + e d beyond it.
//!
//! The distance d occurs in 2 (N - d) of the N (N - 1) ordered pairs of distinct cylinders, so the mean is
//! sum over d of 2 (N - d) t(d) / (N (N - 1)). A seek of 0 takes no time and is excluded from the mean.
//!
//! Not modelled: direction, temperature. The disk adds the settling time of writes.
//!
//! Cost: one `u32` \[ns\] per cylinder, shared by all disks of a kind; one look-up per seek.
//!
//! \[1\] C. Ruemmler and J. Wilkes, An introduction to disk drive modeling, IEEE Computer 27(3), 1994.

use std::sync::Arc;

use thiserror::Error;

use crate::units::SimDuration;

/// Error of an impossible seek curve.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SeekError {
    /// There are too few cylinders.
    #[error("{cylinders} cylinders; allowed are {least} or more")]
    TooFewCylinders {
        /// Cylinders.
        cylinders: u32,
        /// Minimum for this form of the curve.
        least: u32,
    },
    /// The times of the data sheet are not in order.
    #[error(
        "track to track {track_to_track_ns} ns, average {average_ns} ns, full stroke {full_stroke_ns} ns; \
         allowed is 0 < track to track <= average <= full stroke"
    )]
    FiguresOutOfOrder {
        /// Time of a seek over one cylinder \[ns\].
        track_to_track_ns: u64,
        /// Mean over random pairs \[ns\].
        average_ns: u64,
        /// Time of the longest seek \[ns\].
        full_stroke_ns: u64,
    },
    /// The curve through the times would fall somewhere.
    #[error(
        "seek time falls at a distance of {distance} of {cylinders} cylinders; allowed averages between these track-to-track \
         and full-stroke times are {least_average_ns} to {most_average_ns} ns"
    )]
    NotMonotone {
        /// First distance with a shorter time than the previous one \[cylinders\].
        distance: u32,
        /// Cylinders of the disk.
        cylinders: u32,
        /// The lowest possible average, at which the curve is a straight line \[ns\].
        least_average_ns: u64,
        /// The highest possible average, at which the last step is level \[ns\].
        most_average_ns: u64,
    },
    /// The distances of a table do not rise from at least 1.
    #[error("distance {distance} at point {index}; allowed are rising distances from 1")]
    TableOutOfOrder {
        /// Index of the point, from 0.
        index: usize,
        /// Its distance \[cylinders\].
        distance: u32,
    },
    /// A table has too few points.
    #[error("{points} points; allowed are 2 or more")]
    TableTooShort {
        /// Points.
        points: usize,
    },
    /// A seek time that is negative, not a number, or longer than the table can hold.
    #[error("{nanoseconds} ns for a distance of {distance} cylinders; allowed are 0 to 4294967295 ns")]
    TimeOutOfRange {
        /// Distance \[cylinders\].
        distance: u32,
        /// Time of the curve \[ns\].
        nanoseconds: f64,
    },
}

/// A seek curve, tabulated by distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeekCurve {
    /// Time by distance \[ns\]; index 0 is without a seek.
    times: Arc<[u32]>,
}

impl SeekCurve {
    /// The curve through the three times of a data sheet, on `cylinders` cylinders.
    ///
    /// # Errors
    /// Fewer than four cylinders, times out of order, or times whose curve would fall.
    pub fn from_figures(
        track_to_track: SimDuration,
        average: SimDuration,
        full_stroke: SimDuration,
        cylinders: u32,
    ) -> Result<Self, SeekError> {
        let (first, mean, last) = (track_to_track.0 as f64, average.0 as f64, full_stroke.0 as f64);
        if cylinders < 4 {
            return Err(SeekError::TooFewCylinders { cylinders, least: 4 });
        }
        if track_to_track.0 == 0 || track_to_track > average || average > full_stroke {
            return Err(SeekError::FiguresOutOfOrder {
                track_to_track_ns: track_to_track.0,
                average_ns: average.0,
                full_stroke_ns: full_stroke.0,
            });
        }
        let fit = Fit::new(first, mean, last, cylinders);
        let (mut before, mut falls) = (0.0, false);
        let curve = Self::tabulate(cylinders, |distance| {
            let time = fit.time(distance);
            falls |= time < before;
            before = time;
            time
        });
        if !falls && curve.is_ok() {
            return curve;
        }
        if let Some(distance) = (2..cylinders).find(|&d| fit.time(d) < fit.time(d - 1)) {
            let (lowest, highest) = Fit::possible_averages(first, last, cylinders);
            return Err(SeekError::NotMonotone {
                distance,
                cylinders,
                least_average_ns: lowest as u64,
                most_average_ns: highest as u64,
            });
        }
        curve
    }

    /// The curve through measured points (distance \[cylinders\], time), linear between them. Beyond the last point
    /// the last piece continues, below the first one the first piece. Measured tables need not rise throughout.
    ///
    /// # Errors
    /// Fewer than two cylinders or points, distances that do not rise, or a time out of range.
    pub fn from_table(points: &[(u32, SimDuration)], cylinders: u32) -> Result<Self, SeekError> {
        if points.len() < 2 {
            return Err(SeekError::TableTooShort { points: points.len() });
        }
        let mut before = 0;
        for (index, &(distance, _)) in points.iter().enumerate() {
            if distance <= before {
                return Err(SeekError::TableOutOfOrder { index, distance });
            }
            before = distance;
        }
        let mut piece = 0;
        Self::tabulate(cylinders, |distance| {
            while piece + 2 < points.len() && points[piece + 1].0 < distance {
                piece += 1;
            }
            let ((from, start), (to, end)) = (points[piece], points[piece + 1]);
            let slope = (end.0 as f64 - start.0 as f64) / f64::from(to - from);
            start.0 as f64 + slope * (f64::from(distance) - f64::from(from))
        })
    }

    /// The two-piece curve: `a + b sqrt(d)` up to a distance of `boundary`, `c + e d` beyond it. `boundary`
    /// \[cylinders\]; `a`, `c` \[ns\]; `b` \[ns per root of a cylinder\]; `e` \[ns per cylinder\].
    ///
    /// # Errors
    /// Fewer than two cylinders, or a time out of range.
    pub fn two_piece(
        boundary: u32,
        a: f64,
        b: f64,
        c: f64,
        e: f64,
        cylinders: u32,
    ) -> Result<Self, SeekError> {
        Self::tabulate(cylinders, |distance| {
            let cylinders = f64::from(distance);
            if distance <= boundary { a + b * cylinders.sqrt() } else { c + e * cylinders }
        })
    }

    fn tabulate(cylinders: u32, mut time: impl FnMut(u32) -> f64) -> Result<Self, SeekError> {
        if cylinders < 2 {
            return Err(SeekError::TooFewCylinders { cylinders, least: 2 });
        }
        let mut times = Vec::with_capacity(cylinders as usize);
        times.push(0);
        for distance in 1..cylinders {
            let nanoseconds = time(distance);
            if !(0.0..=f64::from(u32::MAX)).contains(&nanoseconds) {
                return Err(SeekError::TimeOutOfRange { distance, nanoseconds });
            }
            times.push((nanoseconds + 0.5) as u32);
        }
        Ok(Self { times: times.into() })
    }

    /// Time of a seek over `distance` cylinders \[ns\]. Precondition: `distance` is below the cylinders of the disk.
    #[inline]
    pub fn time(&self, distance: u32) -> SimDuration {
        SimDuration(u64::from(self.times[distance as usize]))
    }

    /// Time of a seek to the next cylinder \[ns\].
    #[inline]
    pub fn single_cylinder(&self) -> SimDuration {
        self.time(1)
    }

    /// Mean time over random pairs of distinct cylinders \[ns\].
    pub fn mean(&self) -> SimDuration {
        let cylinders = self.times.len() as u128;
        let pairs = cylinders * (cylinders - 1);
        let sum: u128 =
            (0_u128..).zip(&*self.times).map(|(d, &time)| 2 * (cylinders - d) * u128::from(time)).sum();
        SimDuration(((sum + pairs / 2) / pairs) as u64)
    }
}

/// t(d) = `first` + `root` sqrt(d - 1) + `linear` (d - 1) \[ns\].
struct Fit {
    first: f64,
    root: f64,
    linear: f64,
}

impl Fit {
    /// Solves the two linear equations for the mean and the full stroke.
    fn new(first: f64, mean: f64, last: f64, cylinders: u32) -> Self {
        let (mean_root, mean_linear) = Self::means(cylinders);
        let (last_root, last_linear) = Self::terms(cylinders - 1);
        let determinant = mean_root * last_linear - last_root * mean_linear;
        let (mean, last) = (mean - first, last - first);
        Self {
            first,
            root: (mean * last_linear - last * mean_linear) / determinant,
            linear: (mean_root * last - last_root * mean) / determinant,
        }
    }

    fn time(&self, distance: u32) -> f64 {
        let (root, linear) = Self::terms(distance);
        self.first + self.root * root + self.linear * linear
    }

    /// sqrt(d - 1) and d - 1.
    fn terms(distance: u32) -> (f64, f64) {
        let steps = f64::from(distance - 1);
        (steps.sqrt(), steps)
    }

    /// The means of both terms over random pairs of distinct cylinders.
    fn means(cylinders: u32) -> (f64, f64) {
        let count = f64::from(cylinders);
        let (mut root_sum, mut linear_sum) = (0.0, 0.0);
        for distance in 1..cylinders {
            let weight = 2.0 * f64::from(cylinders - distance);
            let (root, linear) = Self::terms(distance);
            root_sum += weight * root;
            linear_sum += weight * linear;
        }
        let pairs = count * (count - 1.0);
        (root_sum / pairs, linear_sum / pairs)
    }

    /// The lowest (a straight line) and the highest (level last step) average between two end times \[ns\].
    fn possible_averages(first: f64, last: f64, cylinders: u32) -> (f64, f64) {
        let (mean_root, mean_linear) = Self::means(cylinders);
        let (last_root, last_linear) = Self::terms(cylinders - 1);
        let (before_root, _) = Self::terms(cylinders - 2);
        let rise = last - first;
        // Level: linear = -root (last_root - before_root), and root * last_root + linear * last_linear = rise.
        let fall = last_root - before_root;
        let root = rise / (last_root - fall * last_linear);
        (first + rise * mean_linear / last_linear, first + root * (mean_root - fall * mean_linear))
    }
}

#[cfg(test)]
mod tests;
