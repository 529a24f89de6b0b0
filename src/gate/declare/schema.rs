//! The Cedar schema: the company as policies see it, and one action for each operation. It is generated, so a policy
//! cannot name an operation that does not exist, nor an operation exist that no policy can name.

use crate::declare::operation::{Entry, resources};
use crate::declare::route::{Auth, Impact};
use crate::declare::spec::Effect;
use types::run::ToolEffect;

/// Where in it the nouns stand.
const THINGS: &str = "  // (what operations are about)\n\n";

/// Where in it stands what actors have done.
const DONE: &str = "  // (what actors have done)\n\n";

const PRELUDE: &str = include_str!("prelude.cedarschema");

/// The schema of these operations.
pub fn schema(entries: &[Entry]) -> String {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by_key(|entry| entry.spec.name);
    let things: String =
        resources(entries).nouns().iter().filter(|noun| !noun.is_core()).map(|noun| noun.schema()).collect();
    let mut text = PRELUDE.replace(THINGS, &things).replace(DONE, &history(&sorted));
    for noun in nouns(&sorted) {
        text.push_str(&format!("  action \"{noun}.*\";\n"));
    }
    let facts = facts();
    for entry in sorted {
        text.push_str(&action(entry, &facts));
    }
    text.push_str("}\n");
    text
}

/// The type of what actors have done: one attribute for each operation that leaves entries in the log.
fn history(entries: &[&Entry]) -> String {
    let done = entries.iter().filter(|entry| entry.is_counted());
    let done: String = done.map(|entry| format!("    \"{}\": Done,\n", entry.spec.name)).collect();
    format!("  // What the acting actor has done, by operation.\n  type Hist = {{\n{done}  }};\n\n")
}

/// The part of an operation's name before the dot.
fn noun(name: &str) -> Option<&str> {
    name.split_once('.').map(|(noun, _)| noun)
}

/// The operation that one is a form of: who may have one decision may have a batch of them.
fn whole(name: &str) -> Option<&str> {
    name.rsplit_once('.').map(|(whole, _)| whole).filter(|whole| whole.contains('.'))
}

fn nouns<'a>(entries: &[&'a Entry]) -> Vec<&'a str> {
    let mut nouns: Vec<&str> = entries.iter().filter_map(|entry| noun(entry.spec.name)).collect();
    nouns.dedup();
    nouns
}

fn action(entry: &Entry, facts: &str) -> String {
    let spec = &entry.spec;
    let effect = match entry.effect {
        Effect::Query | Effect::Decide => "query",
        Effect::Change if spec.route.external.is_some_and(|tool| tool.effect == ToolEffect::Read) => "query",
        Effect::Change => "change",
    };
    let mut groups = vec![effect.to_owned()];
    groups.extend(noun(spec.name).map(|noun| format!("{noun}.*")));
    groups.extend(whole(spec.name).map(str::to_owned));
    groups.extend(spec.route.is_external().then(|| "tool.call".to_owned()));
    groups.extend((spec.route.impact == Impact::LetsOut).then(|| "outward".to_owned()));
    let groups = format!("\"{}\"", groups.join("\", \""));
    let mut principals = vec!["Actor"];
    principals.extend((spec.route.auth == Auth::Server).then_some("Server"));
    principals.extend(spec.route.is_open().then_some("Visitor"));
    let resources: Vec<&str> = spec.about.iter().map(|noun| noun.name).collect();
    let context = match entry.arguments().cedar_type() {
        Some(input) => format!("{{\n      {facts}\n      input: {input},\n    }}"),
        None => "Facts".to_owned(),
    };
    format!(
        "\n  // {}\n  action \"{}\" in [{groups}] appliesTo {{\n    principal: [{}],\n    resource: [{}],\n    context: {context},\n  }};\n",
        spec.doc,
        spec.name,
        principals.join(", "),
        resources.join(", "),
    )
}

/// The fields of the type `Facts`, which a context with an input repeats: Cedar's types are not extended.
fn facts() -> String {
    let (_, rest) = PRELUDE.split_once("type Facts = {").unwrap_or_default();
    let (fields, _) = rest.split_once("\n  };").unwrap_or_default();
    let fields = fields.lines().map(|line| line.split_once(" //").map_or(line, |(field, _)| field).trim());
    fields.filter(|field| !field.is_empty()).collect::<Vec<_>>().join(" ")
}
