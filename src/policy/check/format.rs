//! One way to write a policy. File by file: the formatter's time grows with the square of the text.

use cedar_policy_formatter::{Config, policies_str_to_pretty};

use crate::policy::bundle::is_policy;
use crate::policy::finding::{Source, code};
use crate::policy::lexer::out_of_bounds;
use crate::policy::{Bundle, Finding};

/// Larger files are left as they are; splitting them serves their readers more.
const MAX_BYTES: usize = 64 << 10;

/// How a file should be written. None where it is so already, does not parse, or is too large.
pub fn formatted(text: &str) -> Option<String> {
    if text.trim().is_empty() || text.len() > MAX_BYTES || out_of_bounds(text).is_some() {
        return None;
    }
    let config = Config { line_width: 80, indent_width: 2 };
    let (head, rest) = text.split_at(heading(text));
    let pretty = policies_str_to_pretty(rest, &config).ok()?;
    let gap = if head.is_empty() { "" } else { "\n\n" };
    let pretty = format!("{}{gap}{}\n", head.trim_end(), pretty.trim());
    (pretty != text).then_some(pretty)
}

/// The length of the comment that a file begins with, if a blank line sets it apart: the formatter would glue it to the
/// first policy.
fn heading(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        match line.trim() {
            "" if length > 0 => return length,
            comment if comment.starts_with("//") => length += line.len(),
            _ => return 0,
        }
    }
    0
}

/// A finding for each file that is written in another way.
pub(super) fn findings(bundle: &Bundle) -> Vec<Finding> {
    let files = bundle.files.iter().filter(|(file, _)| is_policy(file));
    files.filter_map(|(file, text)| Some(finding(file, text, &formatted(text)?))).collect()
}

/// Points at the first line that differs.
fn finding(file: &str, text: &str, pretty: &str) -> Finding {
    let same = text.lines().zip(pretty.lines()).take_while(|(is, should)| is == should).count();
    let start: usize = text.split_inclusive('\n').take(same).map(str::len).sum();
    let length = text.lines().nth(same).map_or(0, str::len);
    let source = Source::new(file, text);
    source
        .finding(code::FORMAT, (start, length), "the file is not formatted")
        .helped("ok policy check --fix formats it")
}
