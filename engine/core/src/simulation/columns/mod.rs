//! The result columns: one static table.
//!
//! Each file holds the columns of one subject, and [`COLUMNS`] joins them in the order of a row. To add a column, add an
//! entry: rows, Arrow schema and documentation follow from the table.

#[macro_use]
mod column;

mod arrays;
mod battery;
mod counts;
mod destage;
mod flash;
mod hits;
mod host;
mod rates;
mod redundancy;
mod response;
mod run_view;
mod timeline;
mod usage;
mod verdict;

pub use column::{Column, Kind, Value};
pub(super) use run_view::RunView;
pub(super) use verdict::Verdict;

const SUBJECTS: [&[Column]; 18] = [
    verdict::COLUMNS,
    counts::COLUMNS,
    rates::COLUMNS,
    &response::ALL,
    &response::READS,
    &response::WRITES,
    &response::INTERACTIONS,
    &response::COMMITS,
    response::INTERVAL,
    hits::COLUMNS,
    destage::COLUMNS,
    battery::COLUMNS,
    flash::COLUMNS,
    redundancy::COLUMNS,
    usage::COLUMNS,
    host::COLUMNS,
    arrays::COLUMNS,
    timeline::COLUMNS,
];

/// The result columns, in the order of a row.
pub static COLUMNS: [Column; count()] = join();

const fn count() -> usize {
    let (mut total, mut subject) = (0, 0);
    while subject < SUBJECTS.len() {
        total += SUBJECTS[subject].len();
        subject += 1;
    }
    total
}

const fn join() -> [Column; count()] {
    let mut joined = [SUBJECTS[0][0]; count()];
    let (mut at, mut subject) = (0, 0);
    while subject < SUBJECTS.len() {
        let mut index = 0;
        while index < SUBJECTS[subject].len() {
            joined[at] = SUBJECTS[subject][index];
            at += 1;
            index += 1;
        }
        subject += 1;
    }
    joined
}
