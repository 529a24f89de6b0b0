//! Which name a policy meant by one that does not exist. Cedar proposes the nearest, however far, and any of several that are
//! equally near.

use std::collections::BTreeSet;

use cedar_policy::{Schema, ValidationError};

use crate::Finding;
use types::near::{far, nearest};

/// What a policy may name.
pub(super) struct Names {
    types: BTreeSet<String>,
    actions: BTreeSet<String>,
}

impl Names {
    pub fn of(schema: &Schema) -> Names {
        let actions = schema.actions().chain(schema.action_groups());
        Names {
            types: schema.entity_types().map(ToString::to_string).collect(),
            actions: actions.map(ToString::to_string).collect(),
        }
    }

    /// What helps with an error about the place that a finding names in a text.
    pub fn help(&self, error: &ValidationError, finding: &Finding, text: &str) -> Option<String> {
        let (start, length) = finding.span;
        let written = text.get(start..start + length).unwrap_or_default();
        let names = match error {
            ValidationError::UnrecognizedEntityType(_) if ACTORS.contains(&written) => return Some(KINDS.to_owned()),
            ValidationError::UnrecognizedEntityType(_) => &self.types,
            ValidationError::UnrecognizedActionId(_) => &self.actions,
            ValidationError::UnsafeAttributeAccess(_) => return kept(finding),
            _ if finding.message.contains(LENGTH) => return Some(by_length()),
            _ => return finding.help.clone(),
        };
        nearest(written, names.iter().map(String::as_str)).map(|name| format!("did you mean `{name}`?"))
    }
}

/// What people and agents are called elsewhere.
const ACTORS: [&str; 5] = ["Ok::Agent", "Ok::Human", "Ok::OutsideAgent", "Ok::Person", "Ok::User"];
const KINDS: &str = "people and agents are `Ok::Actor`, and differ in `kind`: `principal is Ok::Actor` with \
                     `when { principal.kind == \"agent\" }`; the kinds are `person`, `agent` and `outside_agent`";

/// How Cedar tells the type of a text that policies see by its length.
const LENGTH: &str = "{length: Long,}";

fn by_length() -> String {
    "policies see only the length of a text that may exceed 1,024 characters: compare its `.length`, such as \
     `context.input.goal.length <= 500`"
        .to_owned()
}

/// The attribute that Cedar proposes, if it is near the one that the message names.
fn kept(finding: &Finding) -> Option<String> {
    let quoted = |text: &str, after: &str| {
        text.split_once(after).and_then(|(_, rest)| rest.split('`').next()).unwrap_or_default().to_owned()
    };
    let help = finding.help.as_ref()?;
    let (written, proposed) = (quoted(&finding.message, "attribute `"), quoted(help, "did you mean `"));
    (proposed.is_empty() || far(&written, &proposed).is_some()).then(|| help.clone())
}
