//! Chains of groups and types.

use ok::policy::ancestry::Ancestry;
use ok::policy::lexer::Tokens;

fn of(declarations: &[String]) -> Ancestry {
    let mut ancestry = Ancestry::default();
    for text in declarations {
        let words: Vec<&str> = Tokens::new(text).map(|token| token.text).collect();
        assert!(ancestry.declare("N", &words));
    }
    ancestry
}

#[test]
fn what_companies_write_is_let_through() {
    let leaves = (0..1_000).map(|n| format!("a{n}, \"b {n}\" in [Ok::Action::\"read\", some] appliesTo {{}}"));
    let groups = ["some in [all]", "read in [Ok::Action::\"read\", all]", "all"].into_iter().map(str::to_owned);
    assert!(!of(&leaves.chain(groups).collect::<Vec<_>>()).is_too_much(true));
    let types =
        ["Team in [Team]", "User in [Team, M::User] = {a: Long}", "A in B", "B in [A, Team]"].map(str::to_owned);
    assert!(!of(&types).is_too_much(false));
}

#[test]
fn long_chains_and_wide_layers_are_too_much() {
    let chain = |most: usize| of(&(1..most).map(|n| format!("a{n} in [a{}]", n - 1)).collect::<Vec<_>>());
    assert!(chain(400).is_too_much(true) && !chain(40).is_too_much(true));
    assert!(chain(900).is_too_much(false) && !chain(400).is_too_much(false));
    let quoted = (1..400).map(|n| format!("\"a{n}\" in N::Action::\"a{}\"", n - 1)).collect::<Vec<_>>();
    assert!(of(&quoted).is_too_much(true));
    let listed = |n: usize| (n.saturating_sub(60)..n).map(|n| format!("a{n}")).collect::<Vec<_>>().join(", ");
    assert!(of(&(1..500).map(|n| format!("a{n} in [{}]", listed(n))).collect::<Vec<_>>()).is_too_much(true));
    let mut ancestry = Ancestry::default();
    assert!(!ancestry.declare("N", &["a", "in", "[", "\"\\u{62}\"", "]"]) && !ancestry.declare("N", &["\"\\n\""]));
}
