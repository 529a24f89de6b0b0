//! Formats an explanation as a tree: each policy with its parts, their results, and what they read.

use clap::builder::styling::{AnsiColor, Style};
use serde_json::Value;

use super::super::show;
use super::explained::{ShownAnswer, break_glass, fails, limits, place, sentence};
use crate::nouns::policy::explained::{ExplainedLink, NeededApproval};
use crate::nouns::policy::shown::ShownPolicy;
use crate::policy::{Observed, ShownPart, State};
use crate::types::impact::Decision;

/// A line with its children.
struct Node {
    text: String,
    below: Vec<Node>,
}

/// Renders the tree as text; coloured only if requested.
pub(super) fn drawn(told: &ShownAnswer, is_past: bool, in_colour: bool) -> String {
    let painter = Painter { in_colour };
    let group = |title: &str, below: Vec<Node>| Node { text: painter.paint(Style::new().bold(), title), below };
    let policies = |all: &[ShownPolicy]| all.iter().map(|policy| painter.policy(policy)).collect();
    let leaf = |text: String| Node { text, below: Vec::new() };
    let changes = told.what_would_change.iter().map(|set| leaf(sentence(set)));
    let kills = told.kill.iter().map(|scope| leaf(show::said(scope)));
    let groups = [
        group("because", policies(&told.because)),
        group("near misses", policies(&told.near_misses)),
        group("on behalf of", told.on_behalf_of.iter().map(|link| leaf(handed_on(link))).collect()),
        group("approvals", told.approvals.iter().map(|needed| leaf(held(needed))).collect()),
        group("with break-glass", told.break_glass.iter().map(|held| leaf(break_glass(held))).collect()),
        group("kill switches", kills.collect()),
        group("rate limits", limits(&told.limits).into_iter().map(leaf).collect()),
        group("it would be allowed if", changes.collect()),
    ];
    let below: Vec<Node> = groups.into_iter().filter(|group| !group.below.is_empty()).collect();
    let then = if is_past { format!(" (at {})", show::said(&told.at)) } else { String::new() };
    let mut text = format!("{}{then}\n", painter.headline(told));
    draw(&below, "", &mut text);
    text
}

/// Formats an approval like `admin: 0 of 1, by ana, ben`.
fn held(needed: &NeededApproval) -> String {
    let (kind, by) = (show::said(&needed.kind), show::said(&needed.who_may_decide));
    format!("{kind}: {} of {}, by {by}", needed.held.len(), needed.threshold)
}

/// Formats a delegation like `mia, by dlg_01M7…: deny: only leads hire`.
fn handed_on(link: &ExplainedLink) -> String {
    let why = link.reason.as_ref().map(|why| format!(": {}", show::said(why))).unwrap_or_default();
    format!("{}, by {}: {}{why}", show::said(&link.from), show::said(&link.delegation), link.decision.name())
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

    /// Formats the root like `deny: token.issue of max by mia: only admins issue tokens for others`.
    fn headline(&self, told: &ShownAnswer) -> String {
        let colour = match told.decision {
            Decision::Allow => AnsiColor::Green,
            Decision::NeedsApproval => AnsiColor::Yellow,
            Decision::Deny => AnsiColor::Red,
        };
        let decision = self.paint(colour.on_default().bold(), told.decision.name());
        let [operation, target, actor, reason] =
            [&told.operation, &told.target, &told.actor, &told.reason].map(show::said);
        format!("{decision}: {operation} of {target} by {actor}: {reason}")
    }

    fn policy(&self, policy: &ShownPolicy) -> Node {
        let failing = policy.source.as_ref().map(|source| source.failing).filter(|failing| *failing > 0);
        let failing = failing.map(|failing| format!(", {}", fails(failing))).unwrap_or_default();
        let parts = policy.source.iter().flat_map(|source| &source.observed);
        Node {
            text: format!("{} ({}{failing})", show::said(&policy.id), place(policy)),
            below: parts.map(|part| self.part(part)).collect(),
        }
    }

    /// Formats a part like `FAIL principal.trust > 2    principal.trust = 1`.
    fn part(&self, part: &ShownPart) -> Node {
        let (word, style) = match part.state {
            State::Ok => ("ok  ", AnsiColor::Green.on_default()),
            State::Fail => ("FAIL", AnsiColor::Red.on_default().bold()),
            State::Hidden => ("?   ", Style::new().dimmed()),
            State::NotAsked => ("n/a ", Style::new().dimmed()),
        };
        let not = if part.wanted { "" } else { "not " };
        let seen =
            |Observed { what, value }: &Observed| format!("{} = {}", show::said(what), show::visible(&written(value)));
        let read: Vec<String> = part.observed.iter().map(seen).collect();
        let read = if read.is_empty() { String::new() } else { format!("    {}", read.join(", ")) };
        let text = format!("{} {not}{}", self.paint(style, word), show::said(&part.text));
        Node { text: format!("{text}{}", self.paint(Style::new().dimmed(), &read)), below: Vec::new() }
    }
}

/// Formats a value in Cedar's syntax.
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
