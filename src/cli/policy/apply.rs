//! `ok policy apply`, `propose` and `rollback`: policies on their way into force.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::client::{self, Session};
use super::super::command::{Needs, Run};
use super::super::exit::{Exit, Failure};
use super::super::save::write;
use super::super::{Context, show};
use super::given::Given;
use super::lock::PolicyLock;
use super::rollout::{Outcome, Rollout};
use super::{ancestry, compared};
use crate::policy::folder::PROPOSALS;
use crate::types::refusal::Code;

/// Bring a folder of policies, or a saved plan, into force
///
/// Proposes them, runs their tests and promotes them; where another person comes first, it says so and ends with 4. What
/// was made from an older version than the one in force is refused, and told what came between.
///
/// Example: `ok policy apply policies --reason "leads may read the audit"`
#[derive(clap::Args)]
pub struct Apply {
    /// The folder, or a file that `ok policy export` or `ok policy diff --save` wrote; `-` reads it from stdin
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
/// Writes DIR/proposals/<change>.yaml beside a folder. From approvals, the policies in force are drafted anew, with the narrowest exceptions
/// that would have let the approved calls go on, and a test of them.
///
/// Example: `ok policy propose --from-approvals apr_01M7… apr_01M8… --reason "leads hire for their own team"`
#[derive(clap::Args)]
pub struct Propose {
    /// The folder, or a file that `ok policy export` or `ok policy diff --save` wrote; `-` reads it from stdin
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

/// Why what is in force is not what this was made from.
struct Moved {
    /// The last version that is known here, to tell what came after it.
    from: Option<i64>,
    why: String,
    /// What to do about it.
    way: String,
}

const TAKE_OVER: &str = "Take it over with `ok policy export --dir`, then apply again";

impl Given {
    /// The input of `policy.propose`: made from what is in force, which it fits.
    fn proposal(&self, how: &How, applied: &Value) -> Value {
        json!({
            "files": self.bundle.files, "reason": how.reason, "commit": how.commit,
            "base_version": applied.get("version"),
        })
    }

    fn is(&self, applied: &Value) -> bool {
        applied.get("hash").and_then(Value::as_str) == Some(self.bundle.hash().as_str())
    }

    /// What is in force. A plan is for one company, and what was made from something else is told what came between.
    async fn fits(&self, how: &How, session: &mut Session, context: &Context) -> Result<Value, Failure> {
        let mut applied = session.call(context, "policy.applied", json!({ "limit": EARLIER })).await??;
        let text = |field: &str| applied.get(field).and_then(Value::as_str).unwrap_or_default();
        let plan = self.plan.as_ref().filter(|plan| plan.company != text("company"));
        if let Some(plan) = plan {
            let message = format!("the plan was made for the company {}; this is {}", plan.company, text("company"));
            return Err(Failure::new(message));
        }
        let Some(moved) = self.moved(how, &applied).filter(|_| !self.is(&applied)) else {
            client::set(&mut applied, "earlier", json!([]));
            return Ok(applied);
        };
        if let Some(from) = moved.from {
            let input = json!({ "from": from, "impact": false });
            if let Ok(between) = session.call(context, "policy.diff", input).await? {
                show::note(&format!("what came between version {from} and {}:", show::cell(applied.get("version"))));
                show::note(&compared::text(&between));
            }
        }
        Err(Failure::new(format!("{}. {}", moved.why, moved.way)))
    }

    fn moved(&self, how: &How, applied: &Value) -> Option<Moved> {
        let in_force = in_force(applied);
        let made_from = |what: &str, base: i64| Moved {
            from: Some(base),
            why: format!("{what} was made from version {base}; {in_force}"),
            way: TAKE_OVER.to_owned(),
        };
        match (&self.plan, &self.lock, &how.commit) {
            (Some(plan), ..) => {
                let other = applied.get("version").and_then(Value::as_i64) != Some(plan.base.version);
                other.then(|| made_from("the plan", plan.base.version))
            }
            (None, _, Some(commit)) if let Some(version) = brought_before(commit, applied) => Some(Moved {
                from: Some(version),
                why: format!("{commit} brought version {version} into force before; {in_force}"),
                way: format!("To go back, revert it in git, or: ok policy rollback {version}"),
            }),
            (None, _, Some(commit)) if let Some(newer) = overtaken(self.dir.as_deref(), commit, applied) => {
                Some(Moved {
                    from: None,
                    why: format!("{newer} is in force, and comes after {commit} in git"),
                    way: "Run the job of the newest commit, or revert what is to go in git".to_owned(),
                })
            }
            (None, Some(lock), _) if lock.is_of(applied) => None,
            (None, None, None) => {
                let version =
                    self.version.filter(|version| applied.get("version").and_then(Value::as_i64) != Some(*version));
                version.map(|version| made_from("what was exported", version))
            }
            (None, lock, Some(_)) => unknown_to_git(lock.is_some(), applied, &in_force),
            (None, Some(lock), None) => {
                let dir = self.dir.as_ref().map(|dir| dir.display().to_string()).unwrap_or_default();
                Some(made_from(&dir, lock.version))
            }
        }
    }
}

/// How many earlier versions are asked for, to find the last one that came with a commit.
const EARLIER: u32 = 200;

/// The version that a commit brought into force, where another is by now: its job runs once more.
fn brought_before(commit: &str, applied: &Value) -> Option<i64> {
    let earlier = applied.get("earlier").and_then(Value::as_array).into_iter().flatten();
    let is_its =
        |version: &&Value| version.get("commit").and_then(Value::as_str).is_some_and(|known| is_same(known, commit));
    earlier.filter(is_its).find_map(|version| version.get("version")?.as_i64())
}

/// The commit in force, where git says that it comes after this one: a job that is late, or runs once more.
fn overtaken<'a>(dir: Option<&Path>, commit: &str, applied: &'a Value) -> Option<&'a str> {
    let in_force = applied.get("commit").and_then(Value::as_str).filter(|known| !is_same(known, commit))?;
    match ancestry::comes_before(dir.unwrap_or(Path::new(".")), commit, in_force) {
        Some(is_older) => is_older.then_some(in_force),
        None => {
            show::note(&format!(
                "git does not tell here whether {commit} comes before {in_force}, which is in force; fetch the whole history to have that checked"
            ));
            None
        }
    }
}

/// Whether two hashes are of one commit: either may be abbreviated.
fn is_same(one: &str, other: &str) -> bool {
    let begins = |one: &str, other: &str| one.get(..other.len()).is_some_and(|head| head.eq_ignore_ascii_case(other));
    begins(one, other) || begins(other, one)
}

/// What came with a commit is an ancestor of the next one: that is git's business. What somebody brought into force by hand
/// is in no commit, unless none ever came before.
fn unknown_to_git(has_lock: bool, applied: &Value, in_force: &str) -> Option<Moved> {
    let has_commit = |version: &Value| version.get("commit").is_some_and(Value::is_string);
    let earlier = applied.get("earlier").and_then(Value::as_array).into_iter().flatten();
    let last = earlier.filter(|version| has_commit(version)).find_map(|version| version.get("version")?.as_i64());
    let known = has_commit(applied) || (last.is_none() && !has_lock);
    let why = format!("{in_force}, and no commit brought it");
    (!known).then(|| Moved { from: last, why, way: TAKE_OVER.to_owned() })
}

/// `version 3 is in force, applied by ana with chg_…`
fn in_force(applied: &Value) -> String {
    let with = applied.get("change").and_then(Value::as_str).map(|change| format!(" with {change}"));
    let [version, by] = ["version", "by"].map(|field| show::cell(applied.get(field)));
    format!("version {version} is in force, applied by {by}{}", with.unwrap_or_default())
}

impl Run for Apply {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let wanted = Given::read_aloud(&self.from)?;
        let mut session = Session::open(context).await?;
        let outcome = self.walk(&wanted, &mut session, context).await;
        session.close().await;
        let outcome = outcome?;
        if let Some(dir) = &wanted.dir {
            match (&outcome, &wanted.lock) {
                (Outcome::Applied(applied) | Outcome::Same(applied), _) => {
                    PolicyLock::new(applied, &wanted.bundle).write(dir)?;
                }
                (Outcome::Waits { change, .. }, Some(lock)) => {
                    PolicyLock { proposed: Some(change.clone()), ..lock.clone() }.write(dir)?;
                }
                (Outcome::Waits { .. }, None) => {}
            }
        }
        told(context, &outcome)
    }
}

impl Apply {
    async fn walk(&self, wanted: &Given, session: &mut Session, context: &Context) -> Result<Outcome, Failure> {
        let applied = wanted.fits(&self.how, session, context).await?;
        // What a commit declares is told the company although nothing changes by it: then it knows that it is managed.
        if wanted.is(&applied) && self.how.commit.is_none() {
            return Ok(Outcome::Same(applied));
        }
        let rollout = Rollout { proposal: wanted.proposal(&self.how, &applied), wait: Duration::from_secs(self.wait) };
        rollout.walk(session, context).await
    }
}

impl Run for Propose {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let wanted = if self.from_approvals.is_empty() { Some(Given::read_aloud(&self.dir)?) } else { None };
        let mut session = Session::open(context).await?;
        let proposed = self.propose(wanted.as_ref(), &mut session, context).await;
        session.close().await;
        let change = proposed?;
        let id = show::cell(change.get("id"));
        let dir = wanted.as_ref().map_or(Some(&self.dir), |wanted| wanted.dir.as_ref());
        if let Some(dir) = dir {
            let path = dir.join(PROPOSALS).join(format!("{id}.yaml"));
            write(&path, &proposal(&change)?)?;
            show::note(&format!("wrote {}", path.display()));
        }
        context.show(&change, || {
            show::fields(&["id", "state", "base_version", "hash", "reason"], &change)?;
            let also = change.get("also_allows").and_then(Value::as_array).into_iter().flatten();
            also.filter_map(Value::as_str).try_for_each(|one| show::text(&format!("also allows: {one}")))
        })
    }
}

impl Propose {
    async fn propose(
        &self,
        wanted: Option<&Given>,
        session: &mut Session,
        context: &Context,
    ) -> Result<Value, Failure> {
        let input = match wanted {
            Some(wanted) => wanted.proposal(&self.how, &wanted.fits(&self.how, session, context).await?),
            None => {
                json!({ "from_approvals": self.from_approvals, "reason": self.how.reason, "commit": self.how.commit })
            }
        };
        Ok(session.call(context, "policy.propose", input).await??)
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

impl Run for Rollback {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut session = Session::open(context).await?;
        let outcome = self.walk(&mut session, context).await;
        session.close().await;
        told(context, &outcome?)
    }
}

impl Rollback {
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
            show::note(&format!("Next: `ok changes show {change}` tells what it changes, and who reviewed it."));
            Ok(Exit::Waits)
        }
    }
}
