//! One way to write a policy. Policy by policy: the formatter's time grows with the square of the text.

use std::str::FromStr as _;

use cedar_policy_formatter::{Config, policies_str_to_pretty};

use crate::bundle::{self, is_policy};
use crate::finding::{Source, code};
use crate::lexer::{Tokens, out_of_bounds};
use crate::stack::{deep, each};
use crate::{Bundle, Finding};
use types::effort;

const CONFIG: Config = Config { line_width: 80, indent_width: 2 };
/// What is given to the formatter of one policy, comments before it left aside. A larger one is left as it is written.
const MAX_BYTES: usize = 64 << 10;
/// The most lines of comment inside one policy: the formatter goes as deep as there are.
const MAX_COMMENTS: usize = 1_000;

/// How a file should be written. None where it is so already, does not parse, or would become too large to load.
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
fn pretty(text: &str) -> Option<String> {
    let (policies, tail) = policies(text);
    let each: Vec<String> = policies.iter().map(Policy::pretty).collect::<Option<_>>()?;
    let lines: String = comments(tail).map(|line| format!("{line}\n")).collect();
    Some(format!("{}\n{lines}", each.join("\n\n")))
}

/// One policy in its file.
struct Policy<'a> {
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
fn policies(text: &str) -> (Vec<Policy<'_>>, &str) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::blueprints;

    /// What can stand between two words.
    const GAPS: [&str; 8] =
        [" ", "\n", "\n\n\n", "\r\n", " // why\n", "\n// why\n// so\n", " //\r", "\n\n// a;b\n\n// c\n\n"];

    /// Every policy file that comes with the program.
    fn corpus() -> Vec<String> {
        let starting = blueprints::ids().into_iter().map(|id| Bundle { files: blueprints::files(&id) });
        let files = starting.chain([Bundle::built_in()]).flat_map(|bundle| bundle.files);
        files.filter(|(path, _)| is_policy(path)).map(|(_, text)| text).collect()
    }

    /// The same words with other gaps between them, also before the first and after the last.
    fn mangled(text: &str, gaps: &[&str]) -> String {
        let (mut mangled, mut end) = (String::new(), 0);
        let mut gaps = gaps.iter().cycle();
        for token in Tokens::new(text) {
            let gap = if end == token.at && end > 0 { None } else { gaps.next() };
            mangled.push_str(gap.unwrap_or(&""));
            mangled.push_str(token.text);
            end = token.at + token.text.len();
        }
        mangled.push_str(gaps.next().unwrap_or(&""));
        mangled
    }

    /// The formatter's own answer.
    fn at_once(text: &str) -> Option<String> {
        policies_str_to_pretty(text, &CONFIG).ok()
    }

    #[test]
    fn what_comes_with_the_program_is_written_the_one_way() {
        for text in corpus() {
            let (_, rest) = text.split_at(heading(&text));
            assert!(policies(rest).0.len() > 1 || rest.matches(';').count() == 1, "{rest}");
            assert_eq!(pretty(rest), at_once(rest));
            assert_eq!(formatted(&text), None, "{text}");
        }
    }

    #[test]
    fn odd_files_are_written_as_the_formatter_would() {
        let p = "permit (principal, action, resource);";
        for text in [
            format!("{p}{p}"),
            format!("{p} // one\n{p} // two"),
            format!("{p} // one ; two\n\n// before\n{p}\n// after\n\n// the end"),
            format!("{p}\r// one\r{p}\r\n"),
            format!("@id(\"a;\nb\") {p}\n\n\n@id(\"c\")\n{p}"),
            "// nothing; here\n".to_owned(),
            format!("{p};"),
            format!("{p} permit (principal"),
        ] {
            assert_eq!(pretty(&text), at_once(&text), "{text}");
        }
    }

    #[test]
    fn a_large_file_is_formatted_too() {
        let one =
            |n: usize| format!("@id(\"p{n}\") permit (principal,action,\n resource) when {{ principal.trust>{n} }};\n");
        let text: String = (0..1_000).map(one).collect();
        assert!(text.len() > 64 << 10);
        let formatted = formatted(&text).expect("it is written otherwise");
        assert!(formatted.ends_with("when { principal.trust > 999 };\n"), "{}", formatted.len());
        assert_eq!(super::formatted(&formatted), None);
        let tight = "permit(principal,action,resource);".repeat(50);
        let tight = format!("{tight}\n{}", "// so\n".repeat((bundle::MAX_BYTES as usize - tight.len()) / 6));
        assert_eq!(super::formatted(&tight), None, "it would not load any more");
    }

    #[test]
    fn comments_without_end_are_kept() {
        let (many, p) = ("// why\n".repeat(40_000), "permit (principal, action, resource);");
        let text = format!("{p}\n{many}@id(\"a\") {p}\n{many}");
        let formatted = formatted(&text).expect("it is written otherwise");
        assert_eq!(formatted.matches("// why\n").count(), 80_000);
        assert_eq!(super::formatted(&formatted), None);
        // Inside a policy they leave it as it is, and the others are formatted.
        let inside = format!("permit (principal,action, // x\n{many} resource);");
        let both = format!("{inside}\npermit (principal,action,resource);\n");
        assert_eq!(super::formatted(&both), Some(format!("{inside}\n\n{p}\n")));
        assert_eq!(super::formatted(&format!("{inside}\n\n{p} nonsense\n")), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn policies_on_their_own_are_written_as_all_at_once(
            text in prop::sample::select(corpus()),
            gaps in prop::collection::vec(prop::sample::select(GAPS.to_vec()), 1..40),
        ) {
            let text = mangled(&text, &gaps);
            let all = at_once(&text);
            prop_assert!(all.is_some(), "it does not parse:\n{}", text);
            prop_assert_eq!(pretty(&text), all, "{}", text);
        }
    }
}
