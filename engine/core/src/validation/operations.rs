//! The rules of operations: sizes and alignment.

use super::check_sectors;
use crate::config::{Operations, Size};
use crate::issue::Issue;
use crate::units::Bytes;

/// Largest request.
const MAX_SIZE: Bytes = Bytes(64 << 20);

/// Checks the operations of a stream, a component of its mix or a step.
pub(super) fn check_operations(place: &str, operations: &Operations, issues: &mut Vec<Issue>) {
    check_size(&format!("{place}.size"), &operations.size, issues);
    if let Some(size) = &operations.write_size {
        check_size(&format!("{place}.write_size"), size, issues);
    }
    if let Some(alignment) = operations.alignment {
        check_sectors(&format!("{place}.alignment"), alignment, issues);
    }
}

fn check_size(place: &str, size: &Size, issues: &mut Vec<Issue>) {
    let mut check = |place: &str, size: Bytes| {
        check_sectors(place, size, issues);
        if size > MAX_SIZE {
            issues.push(Issue::new(
                "scenario.out-of-range",
                place,
                format!("{} bytes; allowed is up to 64 MiB", size.0),
            ));
        }
    };
    match size {
        Size::Constant { value } => check(&format!("{place}.value"), *value),
        Size::Choice { options } => {
            for (index, option) in options.iter().enumerate() {
                check(&format!("{place}.options.{index}.value"), option.value);
            }
        }
        Size::Uniform { min, max, step } => {
            check(&format!("{place}.min"), *min);
            check(&format!("{place}.max"), *max);
            if let Some(step) = step {
                check(&format!("{place}.step"), *step);
            }
            if min > max {
                issues.push(Issue::new(
                    "scenario.low-above-high",
                    format!("{place}.min"),
                    format!("{} bytes; allowed is up to `max`, {} bytes", min.0, max.0),
                ));
            }
        }
    }
}
