//! A policy as shown to people who ask what it does.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use policy::{Effect, ExplainedPolicy, PolicyMeta, ShownPart};

/// One policy.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownPolicy {
    pub id: String,
    /// `permit` or `forbid`.
    #[schemars(extend("enum" = ["permit", "forbid"]))]
    pub effect: Cow<'static, str>,
    pub reason: Option<String>,
    pub title: Option<String>,
    /// What the policy says, for whoever may read policies.
    #[serde(flatten)]
    pub source: Option<PolicySource>,
}

/// A policy as its author wrote it, and as the question finds it.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct PolicySource {
    pub file: String,
    pub line: usize,
    pub text: String,
    /// How many parts, at the least, are not as the policy wants them.
    pub failing: usize,
    /// Each part, and what it reads.
    pub observed: Vec<ShownPart>,
}

impl ShownPolicy {
    pub(super) fn of(explained: ExplainedPolicy, with_source: bool) -> ShownPolicy {
        let policy = explained.policy.as_ref();
        let source = with_source.then(|| PolicySource {
            file: policy.file.clone(),
            line: policy.line,
            text: policy.text.clone(),
            failing: explained.failing,
            observed: explained.parts,
        });
        ShownPolicy { source, ..ShownPolicy::named(policy) }
    }

    pub(super) fn named(policy: &PolicyMeta) -> ShownPolicy {
        ShownPolicy {
            id: policy.id.clone(),
            effect: match policy.effect {
                Effect::Permit => "permit".into(),
                Effect::Forbid => "forbid".into(),
            },
            reason: policy.reason.clone(),
            title: policy.title.clone(),
            source: None,
        }
    }
}
