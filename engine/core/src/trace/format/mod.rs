//! The formats of traces: one small reader each, and the one list of all of them.
//!
//! A format is recognised by what it holds: each reader is given the beginning of the trace, and the one that makes
//! sense of the greatest share of it is taken. Two that make equal sense of it are an error, as is none at all.

mod alibaba;
mod blkparse;
mod blktrace;
mod block_layer;
mod cloud_physics;
mod csv;
mod disksim;
mod fio;
mod fiu;
mod msps;
mod msr;
mod oracle_general;
mod spc;
mod systor;
mod tencent;
mod vscsi;
mod words;

use super::TraceError;
use super::frame::{Decode, Feed, Frame, Frames};
use super::problems::Problem;
use super::reader::{Options, Sink};

/// A format of traces.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    name: &'static str,
    title: &'static str,
    is_text: bool,
    is_whole_seconds: bool,
    open: fn() -> Box<dyn Feed>,
    score: fn(&[u8]) -> u64,
}

/// All formats that are read here.
pub static FORMATS: [Format; 16] = [
    Format::of::<alibaba::Alibaba>(),
    Format::of::<blkparse::Blkparse>(),
    Format::of::<blktrace::Blktrace>(),
    Format::of::<cloud_physics::CloudPhysics>(),
    Format::of::<disksim::Ascii>(),
    Format::of::<disksim::Validate>(),
    Format::of::<fio::Iolog>(),
    Format::of::<fiu::Fiu>(),
    Format::of::<msps::Msps>(),
    Format::of::<msr::Msr>(),
    Format::of::<oracle_general::OracleGeneral>(),
    Format::of::<spc::Spc>(),
    Format::of::<systor::Systor>(),
    Format::of::<tencent::Tencent>(),
    Format::of::<vscsi::V1>(),
    Format::of::<vscsi::V2>(),
];

impl Format {
    const fn of<D: Decode>() -> Self {
        Self {
            name: D::NAME,
            title: D::TITLE,
            is_text: matches!(D::FRAME, Frame::Line),
            is_whole_seconds: D::IS_WHOLE_SECONDS,
            open: || Box::new(Frames::<D>::default()),
            score: score::<D>,
        }
    }

    /// What people call it.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in a few words.
    pub const fn title(&self) -> &'static str {
        self.title
    }

    /// Whether it is a text with a record a line.
    pub const fn is_text(&self) -> bool {
        self.is_text
    }

    /// Whether its times are whole seconds, within which the records are spread.
    pub const fn is_whole_seconds(&self) -> bool {
        self.is_whole_seconds
    }

    pub(super) fn open(&self) -> Box<dyn Feed> {
        (self.open)()
    }
}

/// The names of all formats, in one line.
fn names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

/// The format of this name.
///
/// # Errors
/// There is none.
pub fn find(name: &str) -> Result<&'static Format, TraceError> {
    FORMATS
        .iter()
        .find(|format| format.name == name)
        .ok_or_else(|| TraceError::UnknownFormat { name: name.into(), known: names() })
}

/// The format of a trace that begins with `head`; `file` names it in messages. `is_whole` says that nothing follows.
///
/// # Errors
/// No format fits, or several fit equally well.
pub fn recognise(head: &[u8], is_whole: bool, file: &str) -> Result<&'static Format, TraceError> {
    let lines = match head.iter().rposition(|&byte| byte == b'\n') {
        Some(last) if !is_whole => &head[..=last],
        _ => head,
    };
    let scores: Vec<(u64, &Format)> = FORMATS
        .iter()
        .map(|format| ((format.score)(if format.is_text { lines } else { head }), format))
        .collect();
    let best = scores.iter().map(|&(score, _)| score).max().unwrap_or(0);
    let fitting: Vec<&Format> =
        scores.into_iter().filter(|&(score, _)| score == best).map(|(_, format)| format).collect();
    match fitting[..] {
        _ if best == 0 => Err(TraceError::Unrecognised { file: file.into(), known: names() }),
        [format] => Ok(format),
        _ => Err(TraceError::Ambiguous {
            file: file.into(),
            fitting: fitting.iter().map(|format| format.name).collect::<Vec<_>>().join(" or "),
        }),
    }
}

/// How much of `head` makes sense as this format, in thousandths of its frames.
fn score<D: Decode>(head: &[u8]) -> u64 {
    let mut sink = Sink::new(Options { skip_bad: u64::MAX, ..Options::default() });
    let mut frames = Frames::<D>::default();
    let is_read =
        frames.feed(head, &mut sink).is_ok() && (D::FRAME != Frame::Line || frames.finish(&mut sink).is_ok());
    let sound = sink.count + sink.others;
    let bad = sink.problems.count(Problem::Bad);
    if !is_read || sound == 0 || !D::is_plausible(&sink.records) {
        return 0;
    }
    sound * 1000 / (sound + bad)
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
