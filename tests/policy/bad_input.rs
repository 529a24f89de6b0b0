//! Bundles that are wrong, too large, or made to do harm.

use ok::gate::explain::fixture;
use ok::policy::check::Options;
use ok::policy::codes::{self, End};
use ok::policy::{Bundle, Finding};

use super::{check, findings, forbid, found, messages, permit};

#[test]
fn a_syntax_error_in_the_third_of_five_files_is_told_and_the_others_are_checked() {
    let (one, two, five) = (permit("one", "tick"), permit("two", "tick"), permit("five", "no.such"));
    let broken = "@id(\"three\")\npermit (\n  principal,\n  action,\n  resource\n)\nwhen { principal. };\n";
    let (four, files) = (permit("four", "tick"), ["a.cedar", "b.cedar", "c.cedar", "d.cedar", "e.cedar"]);
    let texts = [one.as_str(), two.as_str(), broken, four.as_str(), five.as_str()];
    let bundle: Vec<(&str, &str)> = files.into_iter().zip(texts).collect();
    assert_eq!(found(&bundle), ["c.cedar:7 policy_parse", "e.cedar:4 policy_invalid"]);
}

#[test]
fn an_id_used_in_two_files_names_the_first() {
    let policy = permit("same", "tick");
    let files = [("a.cedar", policy.as_str()), ("x/b.cedar", policy.as_str())];
    assert_eq!(messages(&files), ["the @id `same` is taken by a.cedar:1"]);
}

#[test]
fn misspelt_names_are_found_with_the_right_ones() {
    let told = |text: &str| {
        let report = check(&Bundle::new([("a.cedar", text)]));
        let finding = report.findings.first().unwrap().clone();
        (finding.line, finding.code, format!("{} {}", finding.message, finding.help.unwrap_or_default()))
    };
    let (line, code, message) = told(&permit("a", "tickk"));
    assert_eq!((line, code), (4, "policy_invalid"));
    assert!(message.contains("tick"), "{message}");
    let (line, code, message) = told(&forbid("a", "tick", "when { principal.turst > 3 }"));
    assert_eq!((line, code), (8, "policy_invalid"));
    assert!(message.contains("trust"), "{message}");
    let misspelt = "unless { context.approvals.contains(Ok::ApprovalKind::\"amdin\") }";
    let (line, code, message) = told(&forbid("a", "tick", misspelt));
    assert_eq!((line, code), (8, "policy_invalid"));
    assert!(message.contains("admin"), "{message}");
}

#[test]
fn the_kinds_of_approvals_yaml_are_the_kinds_that_policies_may_name() {
    let legal = forbid("a", "tick", "unless { context.approvals.contains(Ok::ApprovalKind::\"legal\") }");
    let pool = "eligible: [{team: \"team:legal\", role: lead}]";
    let with = |kinds: &str| findings(&[("a.cedar", legal.as_str()), ("approvals.yaml", kinds)]);
    assert_eq!(with(&format!("kinds:\n  legal: {{{pool}}}\n")), []);
    // Misspelt on either side: the policy's place, and the kinds that there are.
    let told = with(&format!("kinds:\n  leagl: {{{pool}}}\n"));
    let finding = told.first().unwrap();
    assert_eq!((finding.code, finding.line, told.len()), ("policy_invalid", 8, 1));
    let said = format!("{} {}", finding.message, finding.help.clone().unwrap_or_default());
    assert!(finding.span.1 > 0 && said.contains("leagl") && said.contains("security"), "{finding:?}");
    // A file that is wrong elsewhere still names its kinds: one mistake is told once.
    let told = with("kinds:\n  legal:\n    eligible: []\n");
    assert_eq!(told.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["approvals_invalid"]);
}

#[test]
fn an_approval_kind_is_a_word() {
    let long = "k".repeat(33);
    for name in ["Legal", "2nd", "a_b", "\"a b\"", "\"\"", "-a", "'a\"];'", long.as_str()] {
        let text =
            format!("kinds:\n  admin:\n    eligible: [{{role: admin}}]\n  {name}:\n    eligible: [{{role: admin}}]\n");
        assert_eq!(found(&[("approvals.yaml", &text)]), ["approvals.yaml:4 approvals_invalid"], "{name}");
    }
    let many: String = (0..65).map(|n| format!("  k{n}: {{eligible: [{{role: admin}}]}}\n")).collect();
    assert_eq!(found(&[("approvals.yaml", &format!("kinds:\n{many}"))]), ["approvals.yaml:1 approvals_invalid"]);
}

#[test]
fn a_misspelt_kind_in_approvals_yaml_has_a_line() {
    let text = "kinds:\n  admin:\n    eligible:\n      - role: admin\n  amdin:\n    eligible:\n      - role: admin\n";
    assert_eq!(found(&[("approvals.yaml", text)]), ["approvals.yaml:5 approvals_unused"]);
    let text = "kinds:\n  admin:\n    eligible:\n      - role: admin\n    threshold: 21\n";
    assert_eq!(found(&[("approvals.yaml", text)]), ["approvals.yaml:5 approvals_invalid"]);
    // A team's id says that it is one.
    let text = "kinds:\n  admin:\n    eligible:\n      - role: admin\n      - team: finance\n";
    assert_eq!(found(&[("approvals.yaml", text)]), ["approvals.yaml:3 approvals_invalid"]);
    let text = "kinds:\n  admin:\n    eligible:\n      - rule: admin\n";
    assert_eq!(found(&[("approvals.yaml", text)]), ["approvals.yaml:4 approvals_invalid"]);
}

#[test]
fn a_policy_of_a_megabyte_is_refused_at_once() {
    let sum = format!("when {{ {} > 0 }}", vec!["principal.trust"; 60_000].join(" + "));
    assert_eq!(found(&[("a.cedar", &forbid("a", "tick", &sum))]), ["a.cedar:1 policy_too_large"]);
}

#[test]
fn what_nests_or_runs_on_overflows_no_stack() {
    let deep = [
        format!("when {{ {}true{} }}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("when {{ {}true{} }}", "(".repeat(60), ")".repeat(60)),
        format!("when {{ {}true }}", "!".repeat(3_000)),
        format!("when {{ {}1 > 0 }}", "-".repeat(3_000)),
        format!("when {{ principal{} }}", ".team".repeat(1_900)),
        format!("when {{ true{} }}", " && true".repeat(1_900)),
        format!("when {{ true{} }}", " || false".repeat(1_900)),
        format!("when {{ {}true }}", "if true then true else ".repeat(900)),
        format!("when {{ {}{} }}", "[".repeat(60), "]".repeat(60)),
        format!("when {{ {}1{} }} ", "{a: ".repeat(60), "}".repeat(60)),
    ];
    for conditions in deep {
        let text = forbid("a", "tick", &conditions);
        // As small a stack as the server's threads have.
        let checked = std::thread::Builder::new().stack_size(2 << 20).spawn(move || found(&[("a.cedar", &text)]));
        assert!(!checked.unwrap().join().unwrap().is_empty(), "{}", conditions.chars().take(60).collect::<String>());
    }
}

#[test]
fn a_thousand_files_are_checked() {
    many_files(1_000);
}

fn many_files(count: usize) {
    let files = (0..count).map(|number| (format!("{number}.cedar"), permit(&format!("p{number}"), "tick")));
    let report = check(&Bundle::new(files));
    // All alike: each but the first changes nothing, which is told once.
    let shadowed: Vec<&Finding> = report.findings.iter().filter(|finding| finding.code == codes::SHADOWED).collect();
    let [one] = shadowed.as_slice() else { panic!("{shadowed:?}") };
    let begins = format!("because of the policy `p0`, {} others change nothing: `p1`, `p10`,", count - 1);
    assert!(one.message.starts_with(&begins), "{}", one.message);
}

#[test]
fn the_companys_schema_adds_and_redefines_nothing() {
    let company = "namespace Acme {\n  entity Invoice = { owner: Ok::Actor, cents: Long };\n  action \"pay\" appliesTo {\n    principal: [Ok::Actor],\n    resource: [Invoice],\n    context: Ok::Facts,\n  };\n}\n";
    let policy = "@id(\"pay\")\npermit (\n  principal,\n  action == Acme::Action::\"pay\",\n  resource\n)\nwhen { resource.owner == principal && resource.cents < 1000 };\n";
    assert_eq!(found(&[("schema.cedarschema", company), ("a.cedar", policy)]), Vec::<String>::new());

    let ours =
        "namespace Ok {\n  entity Invoice;\n  entity Team;\n  type Kill = { all: Bool };\n  action \"tick\";\n}\n";
    assert_eq!(
        messages(&[("schema.cedarschema", ours)]),
        [
            "the entity type `Ok::Team` is the product's and cannot be declared again",
            "the type `Ok::Kill` is the product's and cannot be declared again",
            "the action `Ok::Action::\"tick\"` is the product's and cannot be declared again",
        ]
    );
    assert_eq!(found(&[("schema.cedarschema", ours)])[1], "schema.cedarschema:4 schema_redefined");
    // What the product's declarations call by Cedar's names would be something else, and no question would fit any more.
    for cedars in ["namespace Ok {\n  type datetime = Long;\n}\n", "entity Long;\ntype decimal = String;\n"] {
        let told = messages(&[("schema.cedarschema", cedars)]);
        assert!(told.iter().all(|told| told.ends_with(" is Cedar's and cannot be declared again")), "{told:?}");
        assert_eq!(told.len(), cedars.lines().filter(|line| line.ends_with(';')).count());
    }
    let apart = "namespace Acme {\n  type datetime = Long;\n}\n";
    assert_eq!(messages(&[("schema.cedarschema", apart)]), [""; 0]);
    assert_eq!(found(&[("schema.cedarschema", "entity {")]), ["schema.cedarschema:1 schema_invalid"]);
    let nowhere = "namespace Acme {\n  entity Invoice = { owner: Ok::Nobody };\n}\n";
    assert_eq!(found(&[("schema.cedarschema", nowhere)]).len(), 1);
    // What stands after the product's own schema is not dropped without a word.
    let product = ok::gate::declare::schema::schema(&ok::nouns::OPERATIONS);
    for text in [product.clone(), format!("{product}\n{company}")] {
        let told = messages(&[("schema.cedarschema", &text), ("a.cedar", policy)]);
        let schema = "this begins with the product's own schema, which is exported as `ok.cedarschema`";
        assert!(told.contains(&schema.to_owned()), "{told:?}");
    }
}

#[test]
fn what_everything_else_is_judged_by_is_told_first_and_alone() {
    let pay = "@id(\"pay\") permit (principal, action == Acme::Action::\"pay\", resource is Acme::Invoice);\n";
    let schema = "namespace Acme {\n  entity Invoice = { owner: Ok::Actr };\n  action \"pay\" appliesTo { principal: [Ok::Actor], resource: [Invoice], context: Ok::Facts };\n}\n";
    let limits = "rates:\n  a: {operations: [\"Acme::Action::pay\"], most: 1}\n";
    let files = [("a.cedar", pay), ("schema.cedarschema", schema), ("limits.yaml", limits)];
    assert_eq!(found(&files), ["schema.cedarschema:2 schema_invalid"]);
    // Which kinds there are is as little known.
    let legal = forbid("a", "tick", "unless { context.approvals.contains(Ok::ApprovalKind::\"legal\") }");
    let files = [("a.cedar", legal.as_str()), ("b.cedar", pay), ("approvals.yaml", "kinds:\n  legal\n  x\n")];
    assert_eq!(found(&files), ["approvals.yaml:2 approvals_invalid"]);
}

#[test]
fn a_name_that_is_near_none_is_told_without_a_guess() {
    let help = |text: &str| -> Vec<Option<String>> {
        findings(&[("a.cedar", text)]).into_iter().map(|finding| finding.help).collect()
    };
    assert_eq!(help(&permit("a", "zebra")), [None]);
    assert_eq!(
        help(&permit("a", "tick").replace("Ok::Action", "Action")),
        [Some("did you mean `Ok::Action::\"tick\"`?".into())]
    );
    assert_eq!(help(&forbid("a", "tick", "when { principal.zebra > 3 }")), [None]);
    assert_eq!(help(&forbid("a", "tick", "when { principal.turst > 3 }")), [Some("did you mean `trust`?".into())]);
}

#[test]
fn a_command_ends_with_what_the_reference_says_of_the_finding() {
    let (tick, all) = (permit("a", "tick"), "@id(\"all\")\npermit (principal, action, resource);\n");
    let kind = "kinds:\n  legal: {eligible: [{role: admin}]}\n";
    let hasty = "kinds: {admin: {eligible: [{role: admin}], ttl_hours: 2, remind_hours: 2, escalate: {after_hours: 5, to: [{role: auditor}]}}}\n";
    let nobody = "kinds:\n  admin: {eligible: [{role: admin}], escalate: {after_hours: 1, to: []}}\n";
    let bad = |text: &str| forbid("a", "tick", text);
    let case = |expect: &str| format!("cases:\n  - {{actor: server, op: tick, expect: {expect}}}\n");
    let (deny, allow) = (case("deny"), case("allow"));
    let deep = bad("when { principal.owner.owner.owner == resource }");
    let long = bad(&format!("when {{ {} > 0 }}", vec!["principal.trust"; 1_100].join(" + ")));
    let template = "@id(\"a\")\npermit (principal == ?principal, action, resource);\n";
    let mixed = bad("when { principal.kind == \"say_\u{43d}ello\" }");
    let once = bad("when { context.approvals.contains(Ok::ApprovalKind::\"admin\") }");
    let of: Vec<(&str, Vec<(&str, &str)>)> = vec![
        (codes::SCHEMA, vec![("schema.cedarschema", "entity {")]),
        (codes::REDEFINED, vec![("schema.cedarschema", "namespace Ok { entity Team; }")]),
        (codes::PARSE, vec![("a.cedar", "permit (")]),
        (codes::TEMPLATE, vec![("a.cedar", template)]),
        (codes::NO_ID, vec![("a.cedar", "permit (principal, action, resource);")]),
        (codes::DUPLICATE_ID, vec![("a.cedar", &tick), ("b.cedar", &tick)]),
        (codes::NO_REASON, vec![("a.cedar", "@id(\"a\") forbid (principal, action, resource);")]),
        (codes::INVALID, vec![("a.cedar", "@id(\"a\") permit (principal, action == Ok::Action::\"x\", resource);")]),
        (codes::WARNING, vec![("a.cedar", &mixed)]),
        (codes::NEVER, vec![("a.cedar", "@id(\"a\") permit (principal, action, resource) when { false };")]),
        (codes::LEVEL, vec![("a.cedar", &deep)]),
        (codes::TOO_LARGE, vec![("a.cedar", &long)]),
        (codes::APPROVALS, vec![("a.cedar", &once)]),
        (codes::APPROVALS_FILE, vec![("approvals.yaml", "kinds: 1\n")]),
        (codes::APPROVALS_UNUSED, vec![("approvals.yaml", kind)]),
        (codes::LIMITS_FILE, vec![("limits.yaml", "rates: 1\n")]),
        (codes::LIMITS_EMPTY, vec![("a.cedar", &tick), ("limits.yaml", "rates:\n  a: {most: 3, kinds: []}\n")]),
        (codes::ESCALATES_TO_NOBODY, vec![("a.cedar", &tick), ("approvals.yaml", nobody)]),
        (codes::EXPIRES_FIRST, vec![("a.cedar", &tick), ("approvals.yaml", hasty)]),
        (codes::FORMAT, vec![("a.cedar", "@id(\"a\") permit (principal, action, resource);")]),
        (codes::SHADOWED, vec![("a.cedar", &tick), ("b.cedar", all)]),
        (codes::ALLOWS_ALL, vec![("a.cedar", all)]),
        (codes::UNTESTED, vec![("a.cedar", &tick)]),
        (codes::NO_POLICIES, vec![("a.cedar", "// None.\n")]),
        (codes::HIDDEN, vec![("a.cedar", "// \u{202e}\n")]),
        (codes::TEST_INVALID, vec![("a.cedar", &tick), ("tests/a.yaml", "cases: 1\n")]),
        (codes::TEST_FAILED, vec![("a.cedar", &tick), ("tests/a.yaml", &allow)]),
        (codes::NO_TESTS, vec![("a.cedar", &tick), ("tests/a.yaml", "cases: []\n")]),
        (codes::COVERAGE, vec![("a.cedar", &tick), ("tests/a.yaml", &deny)]),
        (codes::MUTATION, vec![("a.cedar", &tick), ("tests/a.yaml", &deny)]),
        (codes::NOT_COVERED, vec![("a.cedar", &tick), ("tests/a.yaml", &deny)]),
        (codes::SURVIVED, vec![("a.cedar", &tick), ("tests/a.yaml", &deny)]),
    ];
    for (code, files) in of {
        let percent = |wanted| (code == wanted).then_some(100);
        let options = Options {
            min_coverage: percent(codes::COVERAGE),
            min_mutation: percent(codes::MUTATION),
            mutate: code == codes::SURVIVED,
            ..Options::default()
        };
        let report = fixture::check(&ok::nouns::OPERATIONS, &Bundle::new(files), &options);
        let open = report.open();
        let told: Vec<&Finding> = report.findings.iter().chain(report.tests()).chain(&open).collect();
        assert!(told.iter().any(|finding| finding.code == code), "{code}: {told:?}");
        let worst = told.iter().map(|finding| codes::of(finding.code).unwrap().end()).filter(|end| *end != End::Fine);
        assert_eq!(report.end(), worst.min().unwrap_or(End::Fine), "{code}");
    }
}

#[test]
fn policies_that_cannot_be_meant_are_told() {
    let policy = |id: &str, effect: &str, scope: &str, conditions: &str| {
        format!("@id(\"{id}\") @reason(\"r\") {effect} ({scope}) {conditions};\n")
    };
    let lint = |text: &str| -> Vec<String> {
        found(&[("a.cedar", text)]).into_iter().filter(|line| !line.ends_with("policy_format")).collect()
    };
    let tick = "principal is Ok::Actor, action == Ok::Action::\"tick\", resource";
    let any = "principal, action, resource";
    for conditions in ["when { false }", "when { principal.admin && !principal.admin }"] {
        assert_eq!(lint(&policy("a", "forbid", tick, conditions)), ["a.cedar:1 policy_never_matches"], "{conditions}");
    }
    let twice = "when { principal.kind == \"agent\" && \"person\" == principal.kind }";
    assert_eq!(lint(&policy("a", "forbid", tick, twice)), ["a.cedar:1 policy_never_matches"]);
    let wrong = "principal, action == Ok::Action::\"tick\", resource is Ok::Token";
    assert_eq!(lint(&policy("a", "forbid", wrong, "")), ["a.cedar:1 policy_never_matches"]);
    let group = "principal in Ok::Company::\"company\", action == Ok::Action::\"tick\", resource";
    assert_eq!(lint(&policy("a", "forbid", group, "")), ["a.cedar:1 policy_never_matches"]);
    assert_eq!(lint(&policy("a", "permit", any, "")), ["a.cedar:1 policy_allows_everything"]);

    let narrow = "principal in Ok::Role::\"lead\", action == Ok::Action::\"tick\", resource is Ok::Company";
    let shadowed = [
        // Forbidden anyway.
        (policy("a", "forbid", any, ""), policy("b", "permit", narrow, "when { context.channel == \"cli\" }")),
        // The same without the condition.
        (policy("a", "permit", tick, ""), policy("b", "permit", tick, "when { principal.admin }")),
        (
            policy("a", "permit", tick, "when { principal.admin }"),
            policy("b", "permit", tick, "when { principal.active && principal.admin }"),
        ),
    ];
    for (first, second) in shadowed {
        assert_eq!(lint(&format!("{first}{second}")), ["a.cedar:2 policy_shadowed"], "{second}");
    }
    let apart = [
        (policy("a", "permit", tick, ""), policy("b", "forbid", tick, "")),
        (policy("a", "permit", narrow, ""), policy("b", "permit", tick, "")),
        (
            policy("a", "permit", tick, "when { principal.admin }"),
            policy("b", "permit", tick, "when { principal.active }"),
        ),
        (
            policy("a", "forbid", tick, "unless { context.approvals.contains(Ok::ApprovalKind::\"lead\") }"),
            policy("b", "permit", tick, ""),
        ),
    ];
    for (first, second) in apart {
        assert_eq!(
            lint(&format!("{first}{second}")).iter().filter(|line| line.starts_with("a.cedar:2")).count(),
            0,
            "{second}"
        );
    }
}

#[test]
fn a_text_that_is_seen_by_its_length_is_told_as_such() {
    for condition in ["context.input.goal == \"x\"", "context.input.goal like \"*secret*\""] {
        let text = forbid("long", "task.create", &format!("when {{ context.input has goal && {condition} }}"));
        let told = findings(&[("a.cedar", text.as_str())]);
        let help = told.first().and_then(|finding| finding.help.clone()).unwrap_or_default();
        assert!(told.len() == 1 && help.contains("only the length"), "{told:?}");
    }
    let text = forbid("long", "task.create", "when { context.input has goal && context.input.goal.length > 500 }");
    assert_eq!(findings(&[("a.cedar", text.as_str())]), []);
}

#[test]
fn a_policy_about_agents_is_told_what_they_are_here() {
    let text =
        forbid("a", "tick", "unless { principal.admin }").replace("principal is Ok::Actor", "principal is Ok::Agent");
    let told = findings(&[("a.cedar", text.as_str())]);
    let help = told.first().and_then(|finding| finding.help.clone()).unwrap_or_default();
    assert!(told.len() == 1 && help.contains("with `when { principal.kind == \"agent\" }`"), "{told:?}");
}

#[test]
fn a_mark_before_a_file_and_a_file_with_nothing_in_it_are_told_as_such() {
    let (ticks, marked) = (permit("a", "tick"), format!("\u{feff}{}", permit("a", "tick")));
    let mark = "the file begins with a byte order mark: save it as UTF-8 without one";
    assert_eq!(messages(&[("a.cedar", marked.as_str())]), [mark]);
    assert_eq!(messages(&[("a.cedar", ticks.as_str()), ("schema.cedarschema", "\u{feff}entity A;\n")]), [mark]);
    assert_eq!(findings(&[("a.cedar", ticks.as_str()), ("limits.yaml", "\u{feff}rates: {}\n")]), []);
    let marked =
        "\u{feff}# Ticks.\ncases:\n  - {actor: ana, op: tick, expect: allow}\nactors:\n  - {id: ana, role: admin}\n";
    let report = check(&Bundle::new([("a.cedar", ticks.as_str()), ("tests/a.yaml", marked)]));
    assert!(
        report.findings.iter().chain(report.tests()).all(|one| one.file != "tests/a.yaml"),
        "{:?}",
        report.findings
    );
    for file in ["approvals.yaml", "limits.yaml", "tests/a.yaml", "collections/a.yaml"] {
        for nothing in ["", "\u{feff}", "# Later.\n\n---\n"] {
            let report = check(&Bundle::new([("a.cedar", ticks.as_str()), (file, nothing)]));
            let told: Vec<&Finding> = report.findings.iter().chain(report.tests()).collect();
            let is_told = told.iter().any(|one| one.file == file && one.message.contains("the file is empty"));
            assert!(is_told, "{file}: {told:?}");
        }
    }
}
