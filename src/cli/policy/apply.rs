//! `ok policy apply`, `propose` and `rollback`: policies on their way into force.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::client::{self, Session};
use super::super::exit::{Exit, Failure};
use super::super::save::write;
use super::super::{Context, show};
use super::compared;
use super::lock::PolicyLock;
use super::rollout::{Outcome, Rollout};
use crate::policy::Bundle;
use crate::policy::plan::Plan;
use crate::types::refusal::Code;

/// Bring a folder of policies, or a saved plan, into force
///
/// Proposes them, runs their tests and promotes them; where another person comes first, it says so and ends with 4. What
/// was made from an older version than the one in force is refused, and told what came between.
///
/// Example: `ok policy apply policies --reason "leads may read the audit"`
#[derive(clap::Args)]
pub struct Apply {
    /// The folder, or a plan that `ok policy diff --save` wrote
    #[arg(default_value = "policies")]
    from: PathBuf,
    #[command(flatten)]
    how: How,
    /// How many seconds to wait for people, where they come first
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,
}

/// Propose a folder of policies, or the rule behind approvals; nothing comes into force by it
///
/// Writes DIR/proposals/<change>.yaml. From approvals, the policies in force are drafted anew, with the narrowest exceptions
/// that would have let the approved calls go on, and a test of them.
///
/// Example: `ok policy propose --from-approvals apr_01M7… apr_01M8… --reason "leads hire for their own team"`
#[derive(clap::Args)]
pub struct Propose {
    /// The folder
    #[arg(default_value = "policies")]
    dir: PathBuf,
    /// Approvals that were given, instead of the folder's policies
    #[arg(long, value_name = "APPROVAL", num_args = 1..)]
    from_approvals: Vec<String>,
    #[command(flatten)]
    how: How,
}

/// Go back to an earlier version of the policies
///
/// It takes the same way as any other change.
#[derive(clap::Args)]
pub struct Rollback {
    /// The version [default: the one before]
    version: Option<i64>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "rolled back")]
    reason: String,
    /// How many seconds to wait for people, where they come first
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,
}

#[derive(clap::Args)]
struct How {
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "applied from the command line")]
    reason: String,
    /// The commit that it comes from
    #[arg(long, value_name = "SHA")]
    commit: Option<String>,
}

/// What a folder or a plan would put into force.
struct Wanted {
    bundle: Bundle,
    /// The version that it was made from.
    base: Option<i64>,
    /// The log of the company that a plan was made for.
    company: Option<String>,
    /// Where the lock stands.
    dir: Option<PathBuf>,
}

impl Wanted {
    fn read(from: &Path) -> Result<Wanted, Failure> {
        let told = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", from.display()));
        if from.is_file() {
            let plan = std::fs::read_to_string(from).map_err(|error| told(&error))?;
            let plan = Plan::parse(&plan).map_err(|error| told(&error))?;
            return Ok(Wanted {
                bundle: plan.bundle(),
                base: Some(plan.base.version),
                company: Some(plan.company),
                dir: None,
            });
        }
        let bundle = Bundle::from_dir(from).map_err(|error| Failure::new(error.to_string()))?;
        let base = PolicyLock::read(from)?.map(|lock| lock.version);
        Ok(Wanted { bundle, base, company: None, dir: Some(from.to_owned()) })
    }

    fn proposal(&self, how: &How) -> Value {
        json!({
            "files": self.bundle.files, "reason": how.reason, "commit": how.commit, "base_version": self.base,
        })
    }

    /// What is in force. A plan is for one company, and what was made from another version is told what came between.
    async fn fits(&self, session: &mut Session, context: &Context) -> Result<Value, Failure> {
        let applied = session.call(context, "policy.applied", json!({})).await??;
        let text = |field: &str| applied.get(field).and_then(Value::as_str).unwrap_or_default();
        if let Some(company) = self.company.as_deref().filter(|company| *company != text("company")) {
            let message = format!("the plan was made for the company {company}; this is {}", text("company"));
            return Err(Failure::new(message));
        }
        let version = applied.get("version").and_then(Value::as_i64);
        let other = self.base.filter(|base| Some(*base) != version && self.bundle.hash().as_str() != text("hash"));
        let Some(base) = other else { return Ok(applied) };
        let input = json!({ "from": base, "impact": false });
        if let Ok(between) = session.call(context, "policy.diff", input).await? {
            show::note(&format!("what came between version {base} and {}:", show::cell(applied.get("version"))));
            show::note(&compared::text(&between));
        }
        let with = applied.get("change").and_then(Value::as_str).map(|change| format!(" with {change}"));
        Err(Failure::new(format!(
            "{} was made from version {base}; version {} is in force, applied by {}{}. Take it over with `ok policy export`, then apply again",
            self.dir.as_ref().map_or("the plan".into(), |dir| dir.display().to_string()),
            show::cell(applied.get("version")),
            text("by"),
            with.unwrap_or_default(),
        )))
    }
}

impl Apply {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let wanted = Wanted::read(&self.from)?;
        let mut session = Session::open(context).await?;
        let outcome = self.walk(&wanted, &mut session, context).await;
        session.close().await;
        let outcome = outcome?;
        if let (Outcome::Applied(applied) | Outcome::Same(applied), Some(dir)) = (&outcome, &wanted.dir) {
            PolicyLock::new(applied, &wanted.bundle).write(dir)?;
        }
        told(context, &outcome)
    }

    async fn walk(&self, wanted: &Wanted, session: &mut Session, context: &Context) -> Result<Outcome, Failure> {
        let applied = wanted.fits(session, context).await?;
        if applied.get("hash").and_then(Value::as_str) == Some(wanted.bundle.hash().as_str()) {
            return Ok(Outcome::Same(applied));
        }
        let rollout = Rollout { proposal: wanted.proposal(&self.how), wait: Duration::from_secs(self.wait) };
        rollout.walk(session, context).await
    }
}

impl Propose {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let proposed = if self.from_approvals.is_empty() {
            Wanted::read(&self.dir)?.proposal(&self.how)
        } else {
            json!({ "from_approvals": self.from_approvals, "reason": self.how.reason, "commit": self.how.commit })
        };
        let change = client::call(context, "policy.propose", proposed).await?;
        let id = show::cell(change.get("id"));
        let path = self.dir.join("proposals").join(format!("{id}.yaml"));
        write(&path, &proposal(&change)?)?;
        show::note(&format!("wrote {}", path.display()));
        context.show(&change, || show::fields(&["id", "state", "base_version", "hash", "reason"], &change))
    }
}

/// A proposal as it stands beside the policies: what it is, without what changes later.
fn proposal(change: &Value) -> Result<String, Failure> {
    let fields = ["id", "target", "base_version", "hash", "author", "reason", "commit", "created_at"];
    let kept: serde_json::Map<String, Value> = fields
        .iter()
        .filter_map(|field| Some(((*field).to_owned(), change.get(field).filter(|value| !value.is_null())?.clone())))
        .collect();
    serde_yaml::to_string(&kept).map_err(|error| Failure::new(error.to_string()))
}

impl Rollback {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut session = Session::open(context).await?;
        let outcome = self.walk(&mut session, context).await;
        session.close().await;
        told(context, &outcome?)
    }

    async fn walk(&self, session: &mut Session, context: &Context) -> Result<Outcome, Failure> {
        let applied = session.call(context, "policy.applied", json!({})).await??;
        let before = applied.get("version").and_then(Value::as_i64).map(|version| version - 1);
        let version = self.version.or(before.filter(|version| *version > 0));
        let version = version.ok_or_else(|| Failure::new("there is no earlier version"))?;
        let proposal = json!({ "version": version, "reason": self.reason });
        Rollout { proposal, wait: Duration::from_secs(self.wait) }.walk(session, context).await
    }
}

fn told(context: &Context, outcome: &Outcome) -> Result<Exit, Failure> {
    let fields = ["version", "hash", "by", "at", "change"];
    match outcome {
        Outcome::Applied(applied) => context.show(applied, || show::fields(&fields, applied)),
        Outcome::Same(applied) => {
            show::note(&format!("version {} is exactly this already", show::cell(applied.get("version"))));
            context.show(applied, || show::fields(&fields, applied))
        }
        Outcome::Waits { change, why } => {
            let answer = json!({ "error": Code::NeedsApproval.name(), "message": why, "change": change });
            context.show(&answer, || show::text(&format!("{change}: {why}")))?;
            Ok(Exit::Waits)
        }
    }
}
