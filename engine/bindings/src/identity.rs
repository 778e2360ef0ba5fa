//! Identities: digests of the texts that make two runs, or two points, the same.

use blake2b_simd::{Params, State};
use destage_core::RESULTS_VERSION;

const RUN_BYTES: usize = 16;
const POINT_BYTES: usize = 8;

/// Digests configurations by their parts; neighbours that begin with equal parts share that work.
#[derive(Default)]
pub struct RunDigest {
    /// The parts digested last, with the state after each.
    prefix: Vec<(u32, State)>,
}

impl RunDigest {
    /// The identity of the run whose configuration has these parts; `text` is the text of a part.
    pub fn digest<'a>(&mut self, parts: &[u32], text: impl Fn(u32) -> &'a str) -> String {
        let common = self.prefix.iter().zip(parts).take_while(|((known, _), part)| known == *part).count();
        self.prefix.truncate(common);
        for &part in &parts[common..] {
            let mut state;
            if let Some((_, before)) = self.prefix.last() {
                state = before.clone();
                state.update(b",");
            } else {
                state = Params::new().hash_length(RUN_BYTES).to_state();
                state.update(b"{\"config\":{");
            }
            state.update(text(part).as_bytes());
            self.prefix.push((part, state));
        }
        let mut state = match self.prefix.last() {
            Some((_, state)) => state.clone(),
            None => Params::new().hash_length(RUN_BYTES).to_state(),
        };
        state.update(format!("}},\"results_version\":{RESULTS_VERSION}}}").as_bytes());
        hexadecimal(state.finalize().as_bytes())
    }
}

/// The identity of a point: the digest of its assignments as JSON.
pub fn point_id(assignments: &[u8]) -> String {
    hexadecimal(Params::new().hash_length(POINT_BYTES).hash(assignments).as_bytes())
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|half| DIGITS[usize::from(half)] as char)
        .collect()
}
