//! Schemas that grow when they are written out.

use ok::policy::expansion::too_much;

fn message(text: &str) -> Option<String> {
    too_much(text).map(|(_, what)| what)
}

#[test]
fn what_companies_write_is_let_through() {
    let schema = "namespace Docs {\n @doc(\"type; x\") type Address = { street: String, city?: Set<Long> };\n\
        entity Team;\n entity User, Robot in [Team] = { home: Address, work: Address };\n\
        action view, edit appliesTo { principal: [User, Robot], resource: User, context: { at: Address } };\n}\n\
        entity Top enum [\"a\", \"b\"];";
    assert_eq!(message(schema), None);
    let whole = ok::policy::Bundle::built_in();
    assert_eq!(whole.files.get("schema.cedarschema").and_then(|ours| message(ours)), None);
}

#[test]
fn what_grows_when_written_out_is_too_much() {
    let doubling = |levels: usize| -> String {
        (1..=levels).map(|n| format!("type A{n} = {{a: A{}, b: A{}}};", n - 1, n - 1)).collect()
    };
    let chain: String = (1..=99).map(|n| format!("type A{n} = {{a: A{}}};", n - 1)).collect();
    let users = vec!["U"; 80].join(", ");
    let apart = format!("namespace N {{ {} }} namespace M {{ type A3 = Long; }}", doubling(12));
    for bomb in [
        doubling(40),
        format!("namespace N {{ {} }}", doubling(12)),
        chain,
        "type A = {a: B}; type B = {a: A};".to_owned(),
        "type A = A;".to_owned(),
        apart,
        (0..1_001).map(|n| format!("entity E{n};")).collect(),
        format!("entity {};", (0..1_001).map(|n| format!("E{n}")).collect::<Vec<_>>().join(", ")),
        (0..2_001).map(|n| format!("action a{n};")).collect(),
        format!("action a appliesTo {{ principal: [{users}], resource: [{users}] }};"),
        format!("type T = {{{}}};", "a: Long, ".repeat(4_000)),
    ] {
        assert!(message(&bomb).is_some(), "{:.80}", bomb);
    }
}
