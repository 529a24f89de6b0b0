//! The words of policies and schemas, and how many there may be.

use ok::policy::lexer::{MAX_BYTES, MAX_PATTERN, out_of_bounds, scope};

#[test]
fn the_three_clauses_of_a_scope_are_found() {
    let text = "@permit(\"(,\") @id(\"a\")\nforbid ( // (x\n principal is A::B,\n action in [X::\"a\", X::\"b,\"],\n resource\n) when { f(1, 2) };";
    let clauses: Vec<&str> = scope(text).into_iter().map(|(at, length)| &text[at..at + length]).collect();
    assert_eq!(clauses, ["principal is A::B", "action in [X::\"a\", X::\"b,\"]", "resource"]);
}

#[test]
fn what_nests_or_runs_on_is_out_of_bounds() {
    assert_eq!(out_of_bounds("permit (principal, action, resource);"), None);
    assert_eq!(out_of_bounds(&format!("// {}\n\"{}\"", "(".repeat(99), "(".repeat(99))), None);
    assert!(out_of_bounds(&"(".repeat(99)).is_some_and(|(at, _)| at == 64));
    assert!(out_of_bounds(&"a.".repeat(4_000)).is_some());
    assert!(out_of_bounds(&format!("// a\r{}", "(".repeat(99))).is_some());
    assert!(out_of_bounds("permit (principal, action, resource);;").is_some());
    assert!(out_of_bounds(&format!("permit (principal, \"{}\"", "x".repeat(MAX_BYTES))).is_some());
    assert!(out_of_bounds(&format!("resource.name like \"{}\"", "*".repeat(MAX_PATTERN))).is_some());
}
