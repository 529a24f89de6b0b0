//! The one way to write a policy.

use proptest::prelude::*;

use cedar_policy_formatter::policies_str_to_pretty;
use ok::policy::bundle::{self, is_policy};
use ok::policy::check::format::{CONFIG, formatted, heading, policies, pretty};
use ok::policy::lexer::Tokens;
use ok::policy::{Bundle, blueprints};

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
    assert_eq!(ok::policy::check::formatted(&formatted), None);
    let tight = "permit(principal,action,resource);".repeat(50);
    let tight = format!("{tight}\n{}", "// so\n".repeat((bundle::MAX_BYTES as usize - tight.len()) / 6));
    assert_eq!(ok::policy::check::formatted(&tight), None, "it would not load any more");
}

#[test]
fn comments_without_end_are_kept() {
    let (many, p) = ("// why\n".repeat(40_000), "permit (principal, action, resource);");
    let text = format!("{p}\n{many}@id(\"a\") {p}\n{many}");
    let formatted = formatted(&text).expect("it is written otherwise");
    assert_eq!(formatted.matches("// why\n").count(), 80_000);
    assert_eq!(ok::policy::check::formatted(&formatted), None);
    // Inside a policy they leave it as it is, and the others are formatted.
    let inside = format!("permit (principal,action, // x\n{many} resource);");
    let both = format!("{inside}\npermit (principal,action,resource);\n");
    assert_eq!(ok::policy::check::formatted(&both), Some(format!("{inside}\n\n{p}\n")));
    assert_eq!(ok::policy::check::formatted(&format!("{inside}\n\n{p} nonsense\n")), None);
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
