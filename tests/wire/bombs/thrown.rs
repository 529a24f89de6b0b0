//! What is thrown.

use std::fmt::Write as _;

use serde_json::{Value, json};

pub(super) struct Bomb {
    pub name: &'static str,
    pub path: &'static str,
    /// By the agent, who may do next to nothing.
    pub by_agent: bool,
    pub body: String,
}

fn bomb(name: &'static str, path: &'static str, body: impl ToString) -> Bomb {
    Bomb { name, path, by_agent: false, body: body.to_string() }
}

fn by_agent(name: &'static str, path: &'static str, body: impl ToString) -> Bomb {
    Bomb { by_agent: true, ..bomb(name, path, body) }
}

pub(super) const CHECK: &str = "/api/policy/check";
const DIFF: &str = "/api/policy/diff";
const HIRE: &str = "/api/actors/hire";
const BATCH: &str = "/access/v1/evaluations";

pub(super) fn files(all: &[(&str, String)]) -> Value {
    json!({ "files": all.iter().cloned().collect::<std::collections::BTreeMap<&str, String>>() })
}

/// An action of every type about every type, and policies that could be about each of them.
fn kinds_of_questions(types: usize, count: usize) -> Value {
    let names = repeat(types - 1, |n| format!("E{n}, ")) + &format!("E{}", types - 1);
    let schema =
        format!("namespace Z {{ entity {names}; action v appliesTo {{principal: [{names}], resource: [{names}]}}; }}");
    let open = repeat(count, |n| {
        format!("@id(\"q{n}\")\npermit (principal, action, resource) when {{ context.kill.global && {n} == 1 }};\n")
    });
    files(&[("schema.cedarschema", schema), ("a.cedar", open)])
}

/// The same text in several files.
fn copies(count: usize, text: &str) -> Value {
    let all = (0..count).map(|number| (format!("p{number}.cedar"), text.to_owned()));
    json!({ "files": all.collect::<std::collections::BTreeMap<String, String>>() })
}

fn hire(definition: &str) -> Value {
    json!({ "definition": definition })
}

/// Something for each number, one after the other.
fn repeat(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        write!(text, "{}", each(number)).unwrap();
        text
    })
}

pub(super) fn policies(count: usize, conditions: &str) -> String {
    repeat(count, |n| {
        format!(
            "@id(\"p{n}\")\npermit (principal is Ok::Actor, action == Ok::Action::\"tick\", resource){conditions};\n"
        )
    })
}

fn zeros(bytes: usize) -> String {
    format!("[{}0]", "0,".repeat(bytes / 2 - 2))
}

pub(super) fn of_json() -> Vec<Bomb> {
    let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
    let keys = format!("{{{}\"z\":0}}", repeat(60_000, |n| format!("\"k{n}\":0,")));
    let one_long = |bytes: usize| format!("{{\"id\":\"{}\",\"kind\":\"person\"}}", "a".repeat(bytes));
    vec![
        bomb("zeros, 32 MiB", CHECK, zeros(32 << 20)),
        by_agent("zeros, 32 MiB, from whom the policies refuse", CHECK, zeros(32 << 20)),
        bomb("zeros, 1 MiB", "/api/actors", zeros(1 << 20)),
        bomb("arrays in arrays", "/api/actors", deep.clone()),
        bomb("arrays in arrays, 1 MiB of a bundle", CHECK, format!("{{\"files\":{deep}}}")),
        bomb("an object of 60,000 members", "/api/actors", keys.clone()),
        bomb("a file for each of 60,000 names", CHECK, format!("{{\"files\":{keys}}}")),
        bomb("a number of a million digits", "/api/tokens", format!("{{\"days\":{}}}", "9".repeat(1_000_000))),
        bomb("an id of a megabyte", "/api/actors", one_long(1_000_000)),
        bomb("escapes", CHECK, format!("{{\"files\":{{\"a.cedar\":\"{}\"}}}}", "\\u0041".repeat(4_000_000))),
        bomb(
            "20,000 names that cannot be",
            CHECK,
            format!("{{\"files\":{{{}\"a\":\"\"}}}}", repeat(20_000, |n| format!("\"../{n}\":\"\","))),
        ),
    ]
}

pub(super) fn of_yaml() -> Vec<Bomb> {
    let size = 63_000;
    let laughs = repeat(12, |level| match level {
        0 => "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned(),
        _ => format!("a{level}: &a{level} [{}]\n", format!("*a{},", level - 1).repeat(10)),
    });
    let filled = |part: &str| part.repeat(size / part.len());
    vec![
        by_agent("keys in keys", HIRE, hire(&filled("[? "))),
        by_agent("brackets", HIRE, hire(&filled("["))),
        by_agent("braces", HIRE, hire(&filled("{a: "))),
        by_agent("lists in lists", HIRE, hire(&filled("- "))),
        by_agent("brackets whose ends stand in strings", HIRE, hire(&filled("[\"]\",'}',"))),
        by_agent("a thousand million laughs", HIRE, hire(&laughs)),
        by_agent("directives", HIRE, hire(&repeat(5_000, |n| format!("%TAG !{n}! x\n")))),
        by_agent("documents", HIRE, hire(&filled("---\na\n"))),
        by_agent("anchors", HIRE, hire(&format!("[{}a]", repeat(4_000, |n| format!("&a{n} x, "))))),
        by_agent("tags", HIRE, hire(&filled("!a !b "))),
        by_agent("the same key", HIRE, hire(&filled("a: 1\n"))),
        by_agent("a text without an end", HIRE, hire(&format!("a: \"{}", "\\n ".repeat(20_000)))),
        by_agent("spaces", HIRE, hire(&format!("a:{}", " \n".repeat(30_000)))),
        by_agent(
            "a definition in JSON",
            HIRE,
            json!({ "definition": { "spec": { "x": vec![json!([[[[]]]]); 5_000] } } }),
        ),
        bomb("keys in keys, 1 MiB", CHECK, files(&[("tests/a.yaml", "[? ".repeat(340_000))])),
        bomb(
            "brackets at the bound",
            CHECK,
            files(&[("tests/a.yaml", format!("{}{}", "[? ".repeat(120), "a,".repeat(520_000)))]),
        ),
        bomb(
            "cases that are all alike",
            CHECK,
            files(&[(
                "tests/a.yaml",
                format!("cases:\n{}", "  - {actor: visitor, op: tick, expect: deny}\n".repeat(20_000)),
            )]),
        ),
    ]
}

pub(super) fn of_policies() -> Vec<Bomb> {
    let p = "permit (principal, action, resource)";
    let broken = repeat(20_000, |n| format!("permit (principal, action, resource) when {{ {n} + }};\n"));
    let list = format!(" when {{ [{}] == [] }}", vec!["\"a\""; 1_900].join(", "));
    let sums = format!(" when {{ {} > 0 }}", vec!["principal.trust"; 240].join(" + "));
    let like = format!("when {{ principal.name like \"{}\" }}", "*a".repeat(450_000));
    let users = |count: usize| vec!["U"; count].join(", ");
    let in_list = format!(
        " when {{ [{}].contains(context.now.toTime().toMilliseconds()) }}",
        repeat(60, |n| format!("{n}, ")) + "60"
    );
    let doubling = repeat(40, |n| format!("type A{} = {{a: A{n}, b: A{n}}};\n", n + 1));
    let schema = |text: String| {
        files(&[("schema.cedarschema", format!("type A0 = Long;\n{text}")), ("a.cedar", policies(1, ""))])
    };
    vec![
        bomb("semicolons", CHECK, copies(5, &";".repeat(1_000_000))),
        bomb("policies without a name", CHECK, copies(3, &format!("{p};\n").repeat(26_000))),
        bomb("policies that do not parse", CHECK, copies(3, &broken)),
        bomb("brackets in a policy", CHECK, copies(4, &format!("{p} when {{ {}", "(".repeat(900_000)))),
        bomb("a pattern of 900 kB", CHECK, copies(1, &format!("{p} {like};"))),
        bomb("comments", CHECK, copies(8, &"// a\n".repeat(200_000))),
        bomb("strings", CHECK, copies(8, &format!("\"{}", "\\\"".repeat(500_000)))),
        bomb("notes on a policy", CHECK, copies(2, &format!("{}{p};", repeat(30_000, |n| format!("@a{n}(\"\")"))))),
        bomb("lists that are hard to format", CHECK, copies(40, &policies(1, &list))),
        bomb("sums that are hard to judge", CHECK, copies(30, &policies(5, &sums))),
        bomb("8,000 policies", CHECK, files(&[("a.cedar", policies(8_000, " when { principal.admin }"))])),
        bomb("8,000 policies, compared", DIFF, files(&[("a.cedar", policies(8_000, " when { principal.admin }"))])),
        bomb("32 MiB of policies", CHECK, copies(33, &policies(9_000, ""))),
        bomb("types that double", CHECK, schema(doubling.clone())),
        bomb("types that double, compared", DIFF, schema(doubling)),
        bomb("types in a long chain", CHECK, schema(repeat(5_000, |n| format!("type A{} = {{a: A{n}}};\n", n + 1)))),
        bomb("types in a circle", CHECK, schema("type B = {a: C, b: C};\ntype C = {a: B, b: B};\n".to_owned())),
        bomb("actions in actions", CHECK, schema(repeat(800, |n| format!("action a{} in [a{n}];\n", n + 1)))),
        bomb("members of members", CHECK, schema(repeat(20_000, |n| format!("entity E{} in [E{n}];\n", n + 1)))),
        bomb("policies about many kinds of questions", CHECK, kinds_of_questions(60, 200)),
        bomb("lists in 3,000 policies", CHECK, copies(1, &policies(3_000, &in_list))),
        bomb(
            "kinds of questions",
            CHECK,
            schema(format!(
                "entity U;\n{}",
                repeat(900, |n| format!(
                    "action a{n} appliesTo {{principal: [{}], resource: [{}]}};\n",
                    users(40),
                    users(40)
                ))
            )),
        ),
        bomb(
            "a type of many fields",
            CHECK,
            schema(format!("type B = {{{}}};", repeat(3_900, |n| format!("f{n}:B,")))),
        ),
    ]
}

pub(super) fn of_questions() -> Vec<Bomb> {
    let cases = repeat(140, |n| format!("a{n}, "));
    let actors = repeat(140, |n| format!("  - {{id: a{n}, role: member}}\n"));
    let matrix = format!(
        "actors:\n{actors}matrix:\n  - actors: [{cases}]\n    ops: [{}]\n    expect: {{deny: rest}}\n",
        ok::nouns::OPERATIONS.iter().map(|entry| entry.spec.name).collect::<Vec<_>>().join(", ")
    );
    let many = |count: usize| (0..count).map(|n| (format!("tests/t{n}.yaml"), matrix.clone()));
    let mut tested: std::collections::BTreeMap<String, String> = many(40).collect();
    tested.insert("a.cedar".into(), policies(20, " when { principal.admin }"));
    let question = json!({ "subject": { "type": "A", "id": "a" }, "action": { "name": "b" }, "resource": { "type": "C", "id": "c" } });
    let wide = json!({ "type": "A", "id": "a", "properties": { "x": vec![json!({ "a": [0, 1] }); 20_000] } });
    let lines = |word: &str| {
        files(&[
            ("approvals.yaml", repeat(4_000, |n| format!("# {word} {n}\n")) + "kinds: {}\n"),
            ("limits.yaml", repeat(4_000, |n| format!("# {word} {n}\n")) + "rates: {}\n"),
        ])
    };
    vec![
        bomb("tests without an end", CHECK, json!({ "files": tested })),
        bomb("tests without an end, compared", DIFF, json!({ "files": tested })),
        bomb("4,000 lines that all differ", DIFF, lines("x")),
        by_agent("a batch of 1,000", BATCH, json!({ "evaluations": vec![question.clone(); 1_000] })),
        by_agent("a batch of a megabyte", BATCH, json!({ "evaluations": vec![json!({}); 300_000] })),
        by_agent("an entity of a megabyte", "/access/v1/evaluation", json!({ "subject": wide })),
        by_agent(
            "a search among too many",
            "/access/v1/search/subject",
            json!({ "options": { "candidates": vec![json!({ "id": "a" }); 60_000] } }),
        ),
        bomb("an explanation of a long name", "/api/policy/explain", json!({ "op": "x".repeat(900_000) })),
        bomb(
            "a proposal that nobody can read",
            "/api/changes",
            json!({ "title": "x".repeat(1_000_000), "files": { "a.cedar": ";".repeat(1_000_000) } }),
        ),
        bomb("a blueprint without an end", "/api/blueprints", json!({ "file": "[? ".repeat(340_000) })),
        bomb("policies to propose", "/api/policy/proposals", copies(5, &";".repeat(1_000_000))),
        by_agent(
            "a delegation of many things",
            "/api/delegations",
            json!({ "to": "mia", "tools": vec!["x"; 200_000] }),
        ),
    ]
}
