//! Tests of policies: what a file may say, and what is wrong with one.

use ok::gate::explain::fixture;
use ok::policy::Bundle;
use ok::policy::check::Options;

use super::{found, messages, permit};

const COMPANY: &str = "teams:\n  - {id: \"team:ops\", lead: lea}\nactors:\n  - {id: ana, role: admin}\n  - {id: lea, role: lead, team: \"team:ops\"}\n  - {id: max, team: \"team:ops\"}\n";

fn tested(cases: &str) -> Vec<String> {
    let policy = permit("ticks", "tick");
    messages(&[("a.cedar", &policy), ("tests/a.yaml", &format!("{COMPANY}{cases}"))])
}

#[test]
fn a_case_that_fails_says_what_came_instead() {
    assert_eq!(tested("cases:\n  - {actor: ana, op: tick, expect: allow, because: [ticks]}\n"), Vec::<String>::new());
    assert_eq!(
        tested(
            "cases:\n  - {actor: max, op: tick, expect: allow}\n  - {actor: ana, op: tick, expect: needs_approval}\n  - {actor: ana, op: tick, expect: allow, because: [other]}\n"
        ),
        [
            "max tick: expected allow, got deny (no policy permits it)",
            "ana tick: expected needs_approval, got allow (ticks)",
            "ana tick: allow as expected, because of ticks instead of other",
        ]
    );
}

#[test]
fn what_is_not_there_is_told_with_its_line() {
    let wrong = [
        ("cases:\n  - {actor: nob, op: tick, expect: deny}\n", "`nob` is not in this file's actors or teams"),
        ("cases:\n  - {actor: max, op: tock, expect: deny}\n", "there is no operation `tock`"),
        (
            "cases:\n  - {actor: max, op: change, expect: deny}\n",
            "`change` is a group of operations: write the operations that are in it",
        ),
        (
            "cases:\n  - {actor: max, op: token.revoke, target: tok, expect: deny}\n",
            "`token.revoke` is about Token, and this file has no such `tok`",
        ),
        (
            "cases:\n  - {actor: max, op: knowledge.propose, input: {source: webb}, expect: deny}\n",
            "input: source: must be one of own, document, web, mail, webhook, and not `webb`",
        ),
        (
            "cases:\n  - {actor: max, op: tick, granted: [boss], expect: deny}\n",
            "granted: there is no approval kind `boss`",
        ),
        (
            "cases:\n  - {actor: max, op: tick, expect: deny, approvals: [admin]}\n",
            "approvals: only an answer of needs_approval has any",
        ),
        (
            "matrix:\n  - {actors: [max], ops: [tick], expect: {allow: [ana]}}\n",
            "no answer is expected for `max tick`; `deny: rest` covers what is left",
        ),
        (
            "matrix:\n  - {actors: [max], ops: [tick], expect: {allow: [max], deny: [tick]}}\n",
            "more than one answer is expected for `max tick`",
        ),
        (
            "matrix:\n  - {actors: [max], ops: [tick], expect: {allow: [lea], deny: rest}}\n",
            "`lea` is no actor, no operation and no `actor operation` of this matrix",
        ),
        ("tokens:\n  - {id: tok_a, holder: nob}\n", "`tok_a` names `nob`, who is unknown"),
        ("views:\n  - {id: v, collection: c, team: 'team:nob'}\n", "`v` names `team:nob`, who is unknown"),
        ("tokens:\n  - {id: tok_a}\n", "lacks `holder`"),
        ("tokens:\n  - {id: tok_a, holdr: max}\n", "there is no field `holdr`; there are id, holder"),
        (
            "changes:\n  - {id: chg_a, author: max, state: open}\n",
            "`state` must be one of proposed, in_review, approved, canary, promoted, rolled_back, rejected, superseded, withdrawn",
        ),
        ("changes:\n  - {id: chg_a, author: max, peers: -1}\n", "`peers` must be a whole number"),
        (
            "approvals:\n  - {id: apr_a, requester: max, operation: tick, approvers: max}\n",
            "`approvers` must be a list of actors' ids",
        ),
        (
            "token:\n  - {id: tok_a, holder: max}\n",
            "there is no list `token`; there are teams, actors, delegations, approvals, break_glass, changes, collections, events, knowledge, brain, runs, schema_proposals, tasks, tokens, views, webhooks",
        ),
    ];
    for (cases, message) in wrong {
        assert_eq!(tested(cases), [message]);
    }
    let file = format!(
        "{COMPANY}cases:\n  - {{actor: max, op: tick, expect: deny}}\n  - {{actor: max, op: tock, expect: deny}}\n"
    );
    assert_eq!(found(&[("tests/a.yaml", &file)]), ["tests/a.yaml:9 test_invalid"]);
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_its_line() {
    for (text, line) in [
        ("cases:\n  - {actor: max, op: tick, expects: deny}\n", 2),
        ("now: yesterday\n", 1),
        ("cases:\n  - {actor: max\nop: tick}\n- {", 3),
        ("", 1),
        ("actors:\n  - {id: a}\n  - {id: b}\n  - {id: a}\n", 2),
        ("actors:\n  - {id: server}\n", 2),
    ] {
        assert_eq!(found(&[("tests/a.yaml", text)]), [format!("tests/a.yaml:{line} test_invalid")], "{text}");
    }
}

/// Whoever moves a suite here sees all that is wrong with a file at once, the first of it in full.
#[test]
fn every_mistake_of_a_file_is_told_at_its_line() {
    let told = |text: &str| {
        let report =
            fixture::check(&ok::nouns::OPERATIONS, &Bundle::new([("tests/a.yaml", text)]), &Options::default());
        let told = report.findings.iter().chain(report.tests()).filter(|finding| finding.code == "test_invalid");
        told.map(|finding| format!("{}: {}", finding.line, finding.message)).collect::<Vec<_>>()
    };
    let unread = told(concat!(
        "cases:\n",
        "  - {actor: max, op: tick, expects: deny}\n",
        "  - {actor: max, op: tick, expect: deny}\n",
        "  - {actor: max, op: tick, expect: maybe}\n",
        "matrix:\n",
        "  - {actors: [max], ops: tick, expect: {deny: rest}}\n",
    ));
    assert_eq!(unread.len(), 3, "{unread:#?}");
    assert!(unread[0].starts_with("2: cases[0]: unknown field `expects`"), "{unread:#?}");
    assert!(unread[1].starts_with("4: unknown variant `maybe`"), "{unread:#?}");
    assert!(unread[2].starts_with("6: invalid type: string \"tick\""), "{unread:#?}");
    let case = "  - {actor: max, op: tick, expect: deny, approvals: [admin]}\n";
    let many = told(&format!("cases:\n{}", case.repeat(60)));
    assert_eq!((many.len(), many[50].as_str()), (51, "52: and 10 more mistakes"));
    let unmeant = told(concat!(
        "actors:\n  - {id: max}\ntokenz:\n  - {id: t}\n",
        "cases:\n",
        "  - {actor: max, op: tick, expect: deny, approvals: [admin]}\n",
        "matrix:\n",
        "  - {actors: [max], ops: [tick], expect: {deny: [mix]}}\n",
    ));
    assert_eq!(
        unmeant.iter().map(|one| one.split(':').next().unwrap()).collect::<Vec<_>>(),
        ["4", "6", "8"],
        "{unmeant:#?}"
    );
}

#[test]
fn bombs_are_refused() {
    let laughs: String = (1..12).fold("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".into(), |text, level| {
        format!("{text}a{level}: &a{level} [{}]\n", format!("*a{},", level - 1).repeat(10))
    });
    let names: String = (0..3_000).map(|number| format!("a{number},")).collect();
    let matrix = format!("matrix:\n  - {{actors: [{names}], ops: [{names}], expect: {{deny: rest}}}}\n");
    let deep = format!("cases: {}{}", "[".repeat(5_000), "]".repeat(5_000));
    for bomb in [laughs.clone(), matrix, deep, "#".repeat((1 << 20) + 1)] {
        let told = found(&[("tests/a.yaml", &bomb)]);
        assert!(told.len() == 1 && told[0].ends_with("test_invalid"), "{told:?}");
    }
    assert_eq!(found(&[("approvals.yaml", &laughs)]).len(), 1);
}

#[test]
fn tests_that_match_nothing_are_no_success() {
    let policy = permit("ticks", "tick");
    assert_eq!(found(&[("a.cedar", &policy)]), Vec::<String>::new(), "no tests, and none asked for");
    let empty = [("a.cedar", policy.as_str()), ("tests/a.yaml", COMPANY)];
    assert_eq!(found(&empty), ["tests/a.yaml:1 no_tests_run"]);
    let options = Options { min_coverage: Some(0), ..Options::default() };
    let report = fixture::check(&ok::nouns::OPERATIONS, &Bundle::new([("a.cedar", policy.as_str())]), &options);
    assert!(!report.is_tested());
    assert!(report.findings.iter().all(|finding| finding.code == "policies_untested"));
}

#[test]
fn a_bundle_without_tests_or_without_policies_is_told_so() {
    let told = |files: &[(&str, &str)], must_test: bool| {
        let options = Options { must_test, ..Options::default() };
        let report = fixture::check(&ok::nouns::OPERATIONS, &Bundle::new(files.iter().copied()), &options);
        report.findings.iter().chain(report.tests()).map(ToString::to_string).collect::<Vec<_>>()
    };
    let policy = permit("ticks", "tick");
    let untested = [("a.cedar", policy.as_str())];
    assert_eq!(told(&untested, false), ["a.cedar:1: the policies have no tests [policies_untested]"]);
    let none = "tests:1: no test was run: there is no case in tests/*.yaml [no_tests_run]";
    assert_eq!(told(&untested, true), [none]);
    assert_eq!(told(&[], false), ["*.cedar:1: there are no policies [no_policies]"]);
    let comment = [("a.cedar", "// nothing yet\n")];
    assert_eq!(told(&comment, false), ["a.cedar:1: there are no policies [no_policies]"]);
}

#[test]
fn coverage_names_the_parts_that_were_not_seen() {
    let policy = permit("ticks", "tick");
    let cases = format!(
        "{COMPANY}cases:\n  - {{actor: ana, op: tick, expect: allow}}\n  - {{actor: ana, op: me.read, expect: deny}}\n"
    );
    let bundle = Bundle::new([("a.cedar", policy.as_str()), ("tests/a.yaml", cases.as_str())]);
    let options = Options { min_coverage: Some(67), ..Options::default() };
    let report = fixture::check(&ok::nouns::OPERATIONS, &bundle, &options);
    assert_eq!(report.coverage.as_ref().unwrap().percent(), 66);
    let open: Vec<String> = report.open().iter().map(ToString::to_string).collect();
    let told = "a.cedar:3: no test of `ticks` has seen `principal in Ok::Role::\"admin\"` false [part_not_covered]";
    assert_eq!(open, [told]);
    assert_eq!(report.tests().next().unwrap().message, "the coverage is 66 %; 67 % is required");
    // What another file covers that cannot be read is not told as a gap.
    let bad = "cases:\n  - {actor: max, op: tick, expects: deny}\n";
    let bundle = Bundle::new([("a.cedar", policy.as_str()), ("tests/a.yaml", &cases), ("tests/b.yaml", bad)]);
    let report = fixture::check(&ok::nouns::OPERATIONS, &bundle, &options);
    assert_eq!(report.open(), []);
    let told = report.tests().last().unwrap().message.clone();
    assert_eq!(told, "the coverage is 66 % by the tests that could be read; 67 % is required");
}

/// A scope of which each clause holds somewhere, and all of them nowhere, is as good as untested; so is an arm of an `if`.
#[test]
fn a_scope_that_matches_nowhere_and_an_arm_that_is_never_taken_are_named() {
    let policies = format!(
        "{}\n@id(\"reads\")\npermit (principal in Ok::Role::\"lead\", action == Ok::Action::\"audit.head\", resource);\n\
         @id(\"arms\") permit (principal, action == Ok::Action::\"tick\", resource)\n\
         when {{ if principal in Ok::Role::\"admin\" then true else context.channel == \"cli\" }};\n",
        permit("ticks", "tick")
    );
    let cases = "now: 2026-03-02T09:00:00Z\nactors:\n  - {id: ana, role: admin}\n  - {id: lea, role: lead}\ncases:\n  - {actor: ana, op: tick, expect: allow}\n  - {actor: lea, op: tick, expect: deny}\n  - {actor: ana, op: audit.head, expect: deny}\n";
    let bundle = Bundle::new([("a.cedar", policies.as_str()), ("tests/a.yaml", cases)]);
    let report = fixture::check(&ok::nouns::OPERATIONS, &bundle, &Options::default());
    let open: Vec<String> = report.open().iter().map(|finding| finding.message.clone()).collect();
    assert_eq!(
        open,
        [
            "no test of `arms` has seen `context.channel == \"cli\"` true",
            "no test of `reads` has seen `principal in Ok::Role::\"lead\", action == Ok::Action::\"audit.head\"` true",
        ]
    );
}

/// Cedar reads them as the denial of their opposite.
#[test]
fn coverage_of_comparisons_says_what_was_seen_of_what_is_written() {
    let cases = format!("{COMPANY}cases:\n  - {{actor: ana, op: tick, expect: deny}}\n");
    for (condition, seen) in [
        ("principal.trust > 5", "true"),
        ("principal.trust >= 5", "true"),
        ("principal.trust < 0", "true"),
        ("principal.kind != \"person\"", "true"),
        ("!(principal.kind == \"agent\")", "true"),
    ] {
        let head = "principal is Ok::Actor,\n  action == Ok::Action::\"tick\",\n  resource";
        let policy = format!("@id(\"c\")\npermit (\n  {head}\n)\nwhen {{ {condition} }};\n");
        let bundle = Bundle::new([("a.cedar", policy.as_str()), ("tests/a.yaml", cases.as_str())]);
        let report = fixture::check(&ok::nouns::OPERATIONS, &bundle, &Options::default());
        let open: Vec<String> = report.open().iter().map(ToString::to_string).collect();
        let told = format!("has seen `{}` {seen}", condition.trim_start_matches("!(").trim_end_matches(')'));
        assert!(open.iter().any(|one| one.contains(&told)), "{condition}: {open:#?}");
    }
}

const DOCS: &str = "namespace Docs {
  entity Team;
  entity User in [Team] = { level: Long };
  entity Doc in [Team] = { open: Bool };
  action view appliesTo { principal: [User], resource: [Doc], context: { mfa?: Bool } };
  action purge appliesTo { principal: [User], resource: [Doc], context: { approvals: Set<Ok::ApprovalKind> } };
}
";

const READERS: &str = "@id(\"open-docs\")
permit (
  principal is Docs::User,
  action == Docs::Action::\"view\",
  resource is Docs::Doc
)
when { resource.open && context has mfa && context.mfa };

@id(\"own-team\")
permit (
  principal is Docs::User,
  action,
  resource in Docs::Team::\"red\"
)
when { principal.level > 1 };

@id(\"purge\")
@reason(\"purging needs an admin\")
forbid (
  principal is Docs::User,
  action == Docs::Action::\"purge\",
  resource is Docs::Doc
)
unless { context.approvals.contains(Ok::ApprovalKind::\"admin\") };
";

const RECORDS: &str = "records:
  - {type: Docs::User, id: ann, properties: {level: 2}}
  - {type: Docs::User, id: bob, properties: {level: 1}}
  - {type: Docs::Doc, id: plan, properties: {open: true}}
  - {type: Docs::Doc, id: memo, properties: {open: false, parents: [{type: Docs::Team, id: red}]}}
  - {type: Docs::Doc, id: bob, properties: {open: false}}
";

fn own(evaluations: &str) -> Bundle {
    Bundle::new([
        ("schema.cedarschema", DOCS.to_owned()),
        ("docs.cedar", READERS.to_owned()),
        (
            "tests/docs.yaml",
            format!("{RECORDS}evaluations:\n{evaluations}cases:\n  - {{actor: server, op: tick, expect: deny}}\n"),
        ),
    ])
}

#[test]
fn records_of_the_companys_own_types_are_tested_covered_and_mutated() {
    let bundle = own(
        "  - {subject: ann, action: view, resource: plan, context: {mfa: true}, expect: allow, because: [open-docs]}
  - {subject: ann, action: view, resource: plan, context: {mfa: false}, expect: deny, because: []}
  - {subject: ann, action: view, resource: plan, expect: deny}
  - {subject: ann, action: Docs::Action::view, resource: memo, expect: allow, because: [own-team]}
  - {subject: \"Docs::User::bob\", action: view, resource: memo, expect: deny}
  - {subject: ann, action: view, resource: \"Docs::Doc::bob\", context: {mfa: true}, expect: deny}
  - {subject: ann, action: purge, resource: memo, expect: needs_approval, approvals: [admin], because: [purge]}
  - {subject: ann, action: purge, resource: memo, granted: [admin], expect: allow}
",
    );
    let options = Options { min_coverage: Some(100), mutate: true, ..Options::default() };
    let report = fixture::check(&ok::nouns::OPERATIONS, &bundle, &options);
    let findings: Vec<String> = report.findings.iter().chain(report.tests()).map(ToString::to_string).collect();
    assert_eq!(findings, Vec::<String>::new());
    let survived = report.mutation.unwrap().survived;
    assert!(survived.is_empty(), "{survived:?}");
}

#[test]
fn a_question_about_records_that_cannot_be_asked_is_told_with_its_line() {
    let wrong = [
        ("subject: eve, action: view, resource: plan, expect: deny", "subject: `eve` is not in this file's records"),
        (
            "subject: bob, action: view, resource: plan, expect: deny",
            "subject: records of several types are called `bob`; write Type::bob",
        ),
        ("subject: ann, action: hug, resource: plan, expect: deny", "action: the company's schema has no action `hug`"),
        (
            "subject: ann, action: view, resource: plan, context: {mfa: 3}, expect: deny",
            "context.mfa: must be true or false",
        ),
        (
            "subject: plan, action: view, resource: plan, expect: deny",
            "subject.type: `Docs::Action::\"view\"` does not apply to a subject of the type `Docs::Doc`",
        ),
        (
            "subject: ann, action: view, resource: plan, granted: [boss], expect: deny",
            "granted: there is no approval kind `boss`",
        ),
        (
            "subject: ann, action: view, resource: plan, expect: allow",
            "ann view plan: expected allow, got deny (no policy permits it)",
        ),
    ];
    for (line, told) in wrong {
        let bundle = own(&format!("  - {{{line}}}\n"));
        let report = fixture::check(&ok::nouns::OPERATIONS, &bundle, &Options::default());
        let about = |finding: &&ok::policy::Finding| finding.file == "tests/docs.yaml";
        let findings: Vec<(usize, &str)> = report
            .findings
            .iter()
            .chain(report.tests())
            .filter(about)
            .map(|finding| (finding.line, finding.message.as_str()))
            .collect();
        assert_eq!(findings, [(8, told)]);
    }
}

const BILLS: &str = "apiVersion: ok/v1\nkind: Collection\nmetadata: {name: bills}\nspec:\n  fields:\n    total: {type: money}\n    due: {type: date}\n    note: {type: long_text}\n";
const SMALL: &str = r#"@id("small")
permit (
  principal is Ok::Actor,
  action == Ok::Action::"record.read",
  resource is Brain::bills
)
when { resource has total && resource.total.lessThan(decimal("10.0")) };
"#;

#[test]
fn a_row_of_a_collection_is_read_as_the_collection_says_and_told_where_it_is_not() {
    let told = |row: &str, expect: &str| {
        let case = format!("cases:\n  - {{actor: max, op: record.read, target: rec_1, expect: {expect}}}\n");
        let text = format!("{COMPANY}brain:\n  - {{id: rec_1, created_by: max, updated_by: max, {row}}}\n{case}");
        messages(&[("a.cedar", SMALL), ("collections/bills.yaml", BILLS), ("tests/a.yaml", &text)])
    };
    assert_eq!(told("collection: bills, total: \"5\", due: 2026-01-31", "allow"), Vec::<String>::new());
    assert_eq!(told("collection: bills, total: 50", "deny"), Vec::<String>::new());
    for (row, why) in [
        ("collection: bills, sum: 5", "`rec_1`: `sum` is no field of bills"),
        ("collection: bills, due: soon", "`rec_1`: `due` must be a day such as 2026-01-31"),
        ("collection: bills, note: x", "`rec_1`: `note` is not seen by policies"),
        ("collection: bill, total: 5", "`rec_1` has the field `total`, and there is no collection `bill`"),
    ] {
        assert_eq!(told(row, "deny"), [why]);
    }
}
