//! Shows what is in force: its version, its files, and their source.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Nothing;
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::policies as store;
use types::change::SourceKind;
use types::id::ActorId;
use types::refusal::{Refusal, Stop};
use types::scope::{Reach, Scope};
use types::time::Time;

/// The policies in force.
#[derive(Serialize, JsonSchema)]
pub struct InForce {
    /// Grows by one with each change.
    pub version: i64,
    /// SHA-256 over the files, hex.
    pub hash: String,
    pub applied_at: Time,
    pub source: Source,
    /// The files' paths.
    pub files: Vec<String>,
    /// How many policies they hold.
    pub policies: usize,
    /// `enforce`: what the policies say is what happens.
    pub mode: &'static str,
}

/// Where the company keeps its policies.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Source {
    pub kind: SourceKind,
    pub url: Option<String>,
    /// The branch or tag.
    pub r#ref: Option<String>,
    /// The folder in the repository.
    pub path: Option<String>,
    /// Whether what the repository proposes comes into force at once where the policy permits it.
    pub auto: bool,
}

impl Source {
    pub(super) fn of(read: &Reader<'_>) -> Result<Source, Stop> {
        let workspace = Source { kind: SourceKind::Workspace, url: None, r#ref: None, path: None, auto: false };
        Ok(read.policy_source()?.map_or(workspace, |source| Source {
            kind: source.kind,
            url: source.url,
            r#ref: source.r#ref,
            path: source.path,
            auto: source.auto,
        }))
    }
}

/// Show the policies in force.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "policy.read",
        doc: "Show the policies in force and their source.",
        scope: Reach::READ,
        route: get("/policy"),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = InForce;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<InForce, Stop> {
        let applied = read.applied()?;
        Ok(InForce {
            version: applied.version,
            hash: applied.hash,
            applied_at: applied.at,
            source: Source::of(read)?,
            files: read.bundle()?.files.into_keys().collect(),
            policies: read.policies(),
            mode: "enforce",
        })
    }
}

/// A whole bundle.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Exported {
    pub version: i64,
    /// SHA-256 over the files, hex; the schema is not among them unless the company has one of its own.
    pub hash: String,
    /// Text by path.
    pub files: BTreeMap<String, String>,
    /// The product's Cedar schema, for editors; the company's own additions stand in `schema.cedarschema`.
    pub schema: String,
}

/// Export the policies in force.
pub enum Export {}

/// Checks whether the caller may read the policies in force; nobody else may see what shows them or their answers.
pub fn may_export(read: &Reader<'_>) -> bool {
    read.may(Export::SPEC.name, &Target::Company)
}

impl Query for Export {
    const SPEC: Spec = Spec {
        name: "policy.export",
        doc: "Export the policy files in force, and the schema that they are checked against.",
        scope: Reach::READ,
        route: get("/policy/export").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = Exported;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<Exported, Stop> {
        let (applied, bundle) = (read.applied()?, read.bundle()?);
        let schema = read.build_cache().schema(&bundle);
        Ok(Exported { version: applied.version, hash: applied.hash, files: bundle.files, schema })
    }
}

/// The maximum number of earlier versions in one answer.
const MOST: u32 = 200;

/// Which earlier versions the answer includes.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct WhichApplied {
    /// How many earlier versions to include: 0 to 200, 0 by default.
    #[serde(default)]
    #[schemars(range(max = 200))]
    pub limit: u32,
    /// Of the earlier ones, only those before this version.
    #[schemars(range(min = 1))]
    pub before: Option<i64>,
}

/// What was applied last.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct LastApplied {
    /// The log of the company that this is about.
    pub company: String,
    #[serde(flatten)]
    pub last: AppliedVersion,
    /// The number of the event that records it.
    pub event: i64,
    /// The versions before it, newest first.
    pub earlier: Vec<AppliedVersion>,
}

impl LastApplied {
    /// Returns the versions with the policies in force, newest first: since the last of them, only the schema of collections
    /// has changed.
    pub fn same_policies(&self) -> impl Iterator<Item = &AppliedVersion> {
        let brought = |version: &&AppliedVersion| version.proposal.is_some();
        let all = || std::iter::once(&self.last).chain(&self.earlier);
        let later = all().take_while(brought).count();
        all().take(later + 1)
    }
}

/// One version that is, or was, in force.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct AppliedVersion {
    pub version: i64,
    pub hash: String,
    pub by: ActorId,
    pub at: Time,
    /// The change that brought it, if one did.
    pub change: Option<String>,
    /// The schema proposal that brought it, if one did: its policies are those of the version before.
    #[serde(default)]
    pub proposal: Option<String>,
    /// The commit that the change came from.
    pub commit: Option<String>,
}

impl From<store::Applied> for AppliedVersion {
    fn from(applied: store::Applied) -> AppliedVersion {
        let store::Applied { version, hash, by, at, change, proposal, commit, .. } = applied;
        AppliedVersion { version, hash, by, at, change, proposal, commit }
    }
}

/// Show the version in force.
pub enum Applied {}

impl Query for Applied {
    const SPEC: Spec = Spec {
        name: "policy.applied",
        doc: "Show the version of the policies that was applied last, by whom and with which change, and earlier \
              versions.",
        scope: Reach::Scopes(&[Scope::Read, Scope::Policy]),
        route: get("/policy/applied").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = WhichApplied;
    type Output = LastApplied;

    fn target(_: &WhichApplied, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: WhichApplied, read: &Reader<'_>) -> Result<LastApplied, Stop> {
        if input.limit > MOST {
            return Err(Refusal::field("limit", format!("must be 0 to {MOST}")).into());
        }
        let last = read.applied()?;
        let before = input.before.map_or(last.version, |before| before.min(last.version));
        let earlier = read.applied_before(before, input.limit as usize)?.into_iter().map(Into::into).collect();
        let (company, event) = (read.head().origin.clone(), read.applied_event()?);
        Ok(LastApplied { company, last: last.into(), event, earlier })
    }
}
