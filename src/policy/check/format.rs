//! One way to write a policy. Policy by policy: the formatter's time grows with the square of the text.

use std::str::FromStr as _;

use cedar_policy_formatter::{Config, policies_str_to_pretty};

use crate::bundle::{self, is_policy};
use crate::finding::{Source, code};
use crate::lexer::{Tokens, out_of_bounds};
use crate::stack::{deep, each};
use crate::{Bundle, Finding};
use types::effort;

pub const CONFIG: Config = Config { line_width: 80, indent_width: 2 };
/// What is given to the formatter of one policy, comments before it left aside. A larger one is left as it is written.
const MAX_BYTES: usize = 64 << 10;
/// The most lines of comment inside one policy: the formatter goes as deep as there are.
const MAX_COMMENTS: usize = 1_000;

/// Returns the canonical form of a file. None if the file already has it, does not parse, or would become too large to
/// load.
pub fn formatted(text: &str) -> Option<String> {
    deep(|| written(text))
}

/// The same, where the stack is deep already.
fn written(text: &str) -> Option<String> {
    if text.trim().is_empty() || out_of_bounds(text).is_some() {
        return None;
    }
    let (head, rest) = text.split_at(heading(text));
    let pretty = pretty(rest)?;
    let gap = if head.is_empty() { "" } else { "\n\n" };
    let pretty = format!("{}{gap}{}\n", head.trim_end(), pretty.trim());
    (pretty != text && pretty.len() as u64 <= bundle::MAX_BYTES).then_some(pretty)
}

/// What the formatter makes of the whole, each policy on its own.
pub fn pretty(text: &str) -> Option<String> {
    let (policies, tail) = policies(text);
    let each: Vec<String> = policies.iter().map(Policy::pretty).collect::<Option<_>>()?;
    let lines: String = comments(tail).map(|line| format!("{line}\n")).collect();
    Some(format!("{}\n{lines}", each.join("\n\n")))
}

/// One policy in its file.
pub struct Policy<'a> {
    /// What stands before it: comments, and nothing else.
    before: &'a str,
    /// From its first word to the end of the line with its semicolon, unless the next one begins there.
    text: &'a str,
}

impl Policy<'_> {
    fn pretty(&self) -> Option<String> {
        effort::spend(1 + self.text.len() / 64);
        if self.text.len() > MAX_BYTES || comments(self.text).nth(MAX_COMMENTS).is_some() {
            // It must parse all the same.
            cedar_policy::PolicySet::from_str(self.text).ok()?;
            let lines: String = comments(self.before).map(|line| format!("{line}\n")).collect();
            return Some(format!("{lines}{}", self.text.trim_end()));
        }
        // One line stands for all those before it.
        let lines: Vec<&str> = comments(self.before).collect();
        let stand_in = if lines.is_empty() { "" } else { "//\n" };
        let pretty = policies_str_to_pretty(&format!("{stand_in}{}", self.text), &CONFIG).ok()?;
        let pretty = pretty.trim_end_matches('\n');
        Some(if lines.is_empty() { pretty.to_owned() } else { pretty.replacen("//", &lines.join("\n"), 1) })
    }
}

/// The comments of a text, without the blanks around them. Inside a policy, what looks like one.
fn comments(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r']).map(str::trim).filter(|line| line.starts_with("//"))
}

/// Each policy, and what stands behind the last one.
pub fn policies(text: &str) -> (Vec<Policy<'_>>, &str) {
    let (mut policies, mut rest, mut begun) = (Vec::new(), text, 0);
    let mut first = None;
    let mut tokens = Tokens::new(text).peekable();
    while let Some(token) = tokens.next() {
        let first_at = *first.get_or_insert(token.at);
        if token.text != ";" && tokens.peek().is_some() {
            continue;
        }
        let end = token.at + token.text.len();
        let next = tokens.peek().map_or(text.len(), |next| next.at);
        let line = text.get(end..next).and_then(|between| between.find('\n'));
        let cut = line.map_or(next, |line| end + line + 1);
        let (policy, after) = rest.split_at_checked(cut - begun).unwrap_or((rest, ""));
        let (before, policy) = policy.split_at_checked(first_at - begun).unwrap_or(("", policy));
        policies.push(Policy { before, text: policy });
        (rest, begun, first) = (after, cut, None);
    }
    (policies, rest)
}

/// The length of the comment that a file begins with, if a blank line sets it apart: the formatter would glue it to the
/// first policy.
pub fn heading(text: &str) -> usize {
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
    let files: Vec<(&String, &String)> = bundle.files.iter().filter(|(file, _)| is_policy(file)).collect();
    let found = each(&files, |(file, text)| Some(finding(file, text, &written(text)?)));
    found.into_iter().flatten().collect()
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
