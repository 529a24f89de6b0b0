//! Characters in a bundle that whoever reviews it does not see.

use crate::finding::{Source, code};
use crate::{Bundle, Finding};
use types::visible::{steers, visible};

/// More lines of one file than this are not told.
const MOST: usize = 20;

/// A finding for each line that holds one.
pub(super) fn findings(bundle: &Bundle) -> Vec<Finding> {
    bundle
        .files
        .iter()
        .filter(|(_, text)| text.chars().any(steers))
        .flat_map(|(file, text)| of_file(file, text))
        .collect()
}

fn of_file(file: &str, text: &str) -> Vec<Finding> {
    let source = Source::new(file, text);
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let read = line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line);
        if let Some((before, c)) = read.char_indices().find(|(_, c)| steers(*c)) {
            let what = format!("the line contains {}, which is invisible", visible(&c.to_string()));
            found.push(source.finding(code::HIDDEN, (at + before, c.len_utf8()), what));
        }
        at += line.len();
        if found.len() == MOST {
            break;
        }
    }
    found
}
