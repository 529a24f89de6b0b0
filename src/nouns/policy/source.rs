//! Sets where the company keeps its policies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::in_force::Source;
use crate::company::COMPANY;
use gate::{Change, Draft, Permit, Reader, Spec, Target, put};
use store::policies::events::PolicySourceChanged;
use types::change::SourceKind;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

/// A workspace, or a repository.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewSource {
    pub kind: SourceKind,
    /// The repository's address, https or ssh; needed where kind is `repo`.
    pub url: Option<String>,
    /// The branch or tag to follow.
    pub r#ref: Option<String>,
    /// The folder in the repository.
    pub path: Option<String>,
    /// Whether what the repository proposes comes into force at once where the policy permits it.
    #[serde(default)]
    pub auto: bool,
}

/// Set the source of the policies.
pub enum SetSource {}

impl Change for SetSource {
    const SPEC: Spec = Spec {
        name: "policy.source",
        doc: "Set where the company keeps its policies. Nothing is fetched: the repository's CI proposes.",
        scope: Reach::Full,
        route: put("/policy/source"),
        about: &[&COMPANY],
        events: &[PolicySourceChanged::KIND],
    };
    const SAYS: &'static str = "sets the source of the policies to {kind}";
    type Input = NewSource;
    type Output = Source;

    fn target(_: &NewSource, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: NewSource, draft: &mut Draft<'_>) -> Result<Source, Stop> {
        let problems = problems(&input);
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        let NewSource { kind, url, r#ref, path, auto } = input;
        let (at, branch, folder) = (url.clone(), r#ref.clone(), path.clone());
        draft.record(PolicySourceChanged { kind, url: at, r#ref: branch, path: folder, auto })?;
        Ok(Source { kind, url, r#ref, path, auto })
    }
}

fn problems(input: &NewSource) -> Vec<String> {
    let mut problems = Vec::new();
    let mut check = |fine: bool, problem: &str| {
        if !fine {
            problems.push(problem.to_owned());
        }
    };
    let repo = input.kind == SourceKind::Repo;
    let address = |url: &String| url.starts_with("https://") || url.starts_with("ssh://") || url.starts_with("git@");
    // A password in the URL would be visible to everybody who may read the source.
    let secret = |url: &String| {
        url.split_once("://").is_some_and(|(_, rest)| {
            rest.split('/').next().unwrap_or_default().rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
        })
    };
    check(!repo || input.url.as_ref().is_some_and(address), "url: must be the repository's https or ssh address");
    check(!input.url.as_ref().is_some_and(secret), "url: must not contain a password");
    check(repo || (input.url.is_none() && input.r#ref.is_none()), "kind: a workspace has neither url nor ref");
    check(repo || !input.auto, "auto: only a repo proposes by itself");
    let short = |text: &Option<String>| text.as_ref().is_none_or(|text| (1..=500).contains(&text.len()));
    check(short(&input.url), "url: must have 1 to 500 characters");
    check(short(&input.r#ref), "ref: must have 1 to 500 characters");
    let inside = |path: &String| !path.starts_with('/') && path.split('/').all(|part| part != "..");
    check(short(&input.path) && input.path.as_ref().is_none_or(inside), "path: must be a folder in the repository");
    problems
}
