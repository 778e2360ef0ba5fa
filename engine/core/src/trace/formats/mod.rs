//! The registry of trace formats.
//!
//! A format is recognised by content: each decoder gets the beginning of the trace, and the one that matches the largest
//! share of it is chosen. No match, or several equal ones, are an error.

mod alibaba;
mod blkparse;
mod blktrace;
mod block_layer;
mod cloud_physics;
pub mod delimited;
mod disksim;
mod fio;
mod fiu;
mod mqsim;
mod msps;
mod msr;
mod oracle_general;
mod scsi;
mod spc;
mod systor;
mod tencent;
mod vscsi;

use super::decoder::{Decoder, Framing};
use super::error::TraceError;
use super::frames::{Feed, Frames};
use super::problems::Problem;
use super::sink::{ReaderOptions, Sink};

/// A trace format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    name: &'static str,
    title: &'static str,
    is_text: bool,
    is_whole_seconds: bool,
    needs: &'static str,
    open: fn() -> Box<dyn Feed>,
    score: fn(&[u8]) -> u64,
}

/// All formats.
pub static FORMATS: [Format; 17] = [
    Format::of::<alibaba::Alibaba>(),
    Format::of::<blkparse::Blkparse>(),
    Format::of::<blktrace::Blktrace>(),
    Format::of::<cloud_physics::CloudPhysics>(),
    Format::of::<disksim::Ascii>(),
    Format::of::<disksim::Validate>(),
    Format::of::<fio::Iolog>(),
    Format::of::<fiu::Fiu>(),
    Format::of::<mqsim::Mqsim>(),
    Format::of::<msps::Msps>(),
    Format::of::<msr::Msr>(),
    Format::of::<oracle_general::OracleGeneral>(),
    Format::of::<spc::Spc>(),
    Format::of::<systor::Systor>(),
    Format::of::<tencent::Tencent>(),
    Format::of::<vscsi::V1>(),
    Format::of::<vscsi::V2>(),
];

/// Delimited text, which is only read with a given layout and therefore never recognised.
pub static DELIMITED: Format = Format::of::<delimited::Delimited>();

impl Format {
    const fn of<D: Decoder>() -> Self {
        Self {
            name: D::NAME,
            title: D::TITLE,
            is_text: matches!(D::FRAMING, Framing::Lines),
            is_whole_seconds: D::IS_WHOLE_SECONDS,
            needs: D::NEEDS,
            open: || Box::new(Frames::<D>::default()),
            score: score::<D>,
        }
    }

    /// The name, as in `--format`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// A description in a few words.
    pub const fn title(&self) -> &'static str {
        self.title
    }

    /// Whether it is a text with one record per line.
    pub const fn is_text(&self) -> bool {
        self.is_text
    }

    /// Whether its times are whole seconds, over which the records are spread.
    pub const fn is_whole_seconds(&self) -> bool {
        self.is_whole_seconds
    }

    /// What a trace without I/Os lacks, as the end of a message.
    pub(super) const fn needs(&self) -> &'static str {
        self.needs
    }

    pub(super) fn open(&self) -> Box<dyn Feed> {
        (self.open)()
    }
}

fn names<'a>(formats: impl IntoIterator<Item = &'a Format>) -> Vec<&'static str> {
    formats.into_iter().map(Format::name).collect()
}

/// The format with this name.
///
/// # Errors
/// There is none.
pub fn find(name: &str) -> Result<&'static Format, TraceError> {
    FORMATS
        .iter()
        .find(|format| format.name == name)
        .ok_or_else(|| TraceError::UnknownFormat { name: name.into(), known: names(&FORMATS) })
}

/// The format of a trace that begins with `head`, or is all of it if `is_whole`.
///
/// # Errors
/// No format matches, or several match equally well.
pub fn recognise(head: &[u8], is_whole: bool) -> Result<&'static Format, TraceError> {
    let lines = match head.iter().rposition(|&byte| byte == b'\n') {
        Some(last) if !is_whole => &head[..=last],
        _ => head,
    };
    let scores: Vec<(u64, &Format)> = FORMATS
        .iter()
        .map(|format| ((format.score)(if format.is_text { lines } else { head }), format))
        .collect();
    let best = scores.iter().map(|&(score, _)| score).max().unwrap_or(0);
    let matching: Vec<&Format> =
        scores.into_iter().filter(|&(score, _)| score == best).map(|(_, format)| format).collect();
    match matching[..] {
        _ if best == 0 => Err(TraceError::UnrecognisedFormat { known: names(&FORMATS) }),
        [format] => Ok(format),
        _ => Err(TraceError::AmbiguousFormat { matching: names(matching) }),
    }
}

/// The share of the frames of `head` that match this format, in thousandths.
fn score<D: Decoder>(head: &[u8]) -> u64 {
    let mut sink = Sink::new(ReaderOptions { skip_bad: u64::MAX, ..ReaderOptions::default() });
    let mut frames = Frames::<D>::default();
    let is_text = D::FRAMING == Framing::Lines;
    let is_read = frames.feed(head, &mut sink).is_ok() && (!is_text || frames.finish(&mut sink).is_ok());
    let valid = sink.count + sink.others;
    let bad = sink.problems.count(Problem::Bad);
    if !is_read || valid == 0 || !D::is_plausible(&sink.records) {
        return 0;
    }
    valid * 1000 / (valid + bad)
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
