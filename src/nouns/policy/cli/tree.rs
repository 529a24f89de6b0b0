//! An explanation as a tree: each policy with its parts, how each stands, and what it read.

use clap::builder::styling::{AnsiColor, Style};
use serde_json::Value;

use super::super::show;
use super::explained::{break_glass, fails, limits, list, place, said, sentence};

/// A line with what stands below it.
struct Node {
    text: String,
    below: Vec<Node>,
}

/// The tree as text; only colours that are asked for.
pub(super) fn drawn(answer: &Value, is_past: bool, in_colour: bool) -> String {
    let painter = Painter { in_colour };
    let group = |title: &str, below: Vec<Node>| Node { text: painter.paint(Style::new().bold(), title), below };
    let policies = |field: &str| list(answer.get(field)).iter().map(|policy| painter.policy(policy)).collect();
    let leaf = |text: String| Node { text, below: Vec::new() };
    let approvals = list(answer.get("approvals")).iter().map(|needed| {
        let held = list(needed.get("held")).len();
        leaf(format!(
            "{}: {held} of {}, by {}",
            said(needed, "kind"),
            said(needed, "threshold"),
            said(needed, "who_may_decide")
        ))
    });
    let changes = list(answer.get("what_would_change")).iter().map(|set| leaf(sentence(set)));
    let kills = list(answer.get("kill")).iter().map(|scope| leaf(show::cell(Some(scope))));
    let links = list(answer.get("on_behalf_of")).iter().map(|link| {
        let [from, delegation, decision] = ["from", "delegation", "decision"].map(|field| said(link, field));
        let why = link.get("reason").map(|why| format!(": {}", show::cell(Some(why)))).unwrap_or_default();
        leaf(format!("{from}, by {delegation}: {decision}{why}"))
    });
    let root = Node {
        text: painter.headline(answer),
        below: vec![
            group("because", policies("because")),
            group("near misses", policies("near_misses")),
            group("on behalf of", links.collect()),
            group("approvals", approvals.collect()),
            group(
                "with break-glass",
                answer.get("break_glass").into_iter().map(|held| leaf(break_glass(held))).collect(),
            ),
            group("kill switches", kills.collect()),
            group("rate limits", limits(answer).into_iter().map(leaf).collect()),
            group("it would be allowed if", changes.collect()),
        ]
        .into_iter()
        .filter(|group| !group.below.is_empty())
        .collect(),
    };
    let then = if is_past { format!(" (at {})", said(answer, "at")) } else { String::new() };
    let mut text = format!("{}{then}\n", root.text);
    draw(&root.below, "", &mut text);
    text
}

fn draw(nodes: &[Node], indent: &str, into: &mut String) {
    for (at, node) in nodes.iter().enumerate() {
        let (branch, below) = if at + 1 == nodes.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        into.push_str(&format!("{indent}{branch}{}\n", node.text));
        draw(&node.below, &format!("{indent}{below}"), into);
    }
}

struct Painter {
    in_colour: bool,
}

impl Painter {
    fn paint(&self, style: Style, text: &str) -> String {
        if self.in_colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// `deny: token.issue of max by mia: only admins issue tokens for others`
    fn headline(&self, answer: &Value) -> String {
        let decision = said(answer, "decision");
        let colour = match decision.as_str() {
            "allow" => AnsiColor::Green,
            "needs_approval" => AnsiColor::Yellow,
            _ => AnsiColor::Red,
        };
        let decision = self.paint(colour.on_default().bold(), &decision);
        let [operation, target, actor, reason] =
            ["operation", "target", "actor", "reason"].map(|field| said(answer, field));
        format!("{decision}: {operation} of {target} by {actor}: {reason}")
    }

    fn policy(&self, policy: &Value) -> Node {
        let failing = policy.get("failing").and_then(Value::as_u64).filter(|failing| *failing > 0);
        let failing = failing.map(|failing| format!(", {}", fails(failing))).unwrap_or_default();
        Node {
            text: format!("{} ({}{failing})", said(policy, "id"), place(policy)),
            below: list(policy.get("observed")).iter().map(|part| self.part(part)).collect(),
        }
    }

    /// `FAIL principal.trust > 2    principal.trust = 1`
    fn part(&self, part: &Value) -> Node {
        let state = said(part, "state");
        let (word, style) = match state.as_str() {
            "ok" => ("ok  ", AnsiColor::Green.on_default()),
            "fail" => ("FAIL", AnsiColor::Red.on_default().bold()),
            "hidden" => ("?   ", Style::new().dimmed()),
            _ => ("n/a ", Style::new().dimmed()),
        };
        let wanted = part.get("wanted").and_then(Value::as_bool).unwrap_or(true);
        let not = if wanted { "" } else { "not " };
        let read: Vec<String> = list(part.get("observed"))
            .iter()
            .map(|seen| {
                let value = seen.get("value").map(written).unwrap_or_default();
                format!("{} = {}", said(seen, "what"), show::visible(&value))
            })
            .collect();
        let read = if read.is_empty() { String::new() } else { format!("    {}", read.join(", ")) };
        let text = format!("{} {not}{}", self.paint(style, word), said(part, "text"));
        Node { text: format!("{text}{}", self.paint(Style::new().dimmed(), &read)), below: Vec::new() }
    }
}

/// A value as a policy would write it.
fn written(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => match (fields.get("type").and_then(Value::as_str), fields.get("id")) {
            (Some(kind), Some(id)) if fields.len() == 2 => format!("{kind}::{id}"),
            _ => value.to_string(),
        },
        other => other.to_string(),
    }
}
