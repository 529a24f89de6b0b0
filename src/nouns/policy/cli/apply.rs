//! `ok policy apply`, `propose` and `rollback`: bring policies into force.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::super::client::Session;
use super::super::column::columns;
use super::super::command::{Needs, Run};
use super::super::exit::{Exit, Failure};
use super::super::operation::{Answer, change, query};
use super::super::save::write;
use super::super::{Context, show};
use super::given::{Given, Origin};
use super::lock::{PolicyLock, is_lost, lost, passed_over};
use super::rollout::{EARLIER, Outcome, Rollout, in_force, remark};
use super::{compared, git};
use crate::nouns::change::ShownChange;
use crate::nouns::policy::diff::{Candidate, Diff};
use crate::nouns::policy::in_force::{Applied, AppliedVersion, LastApplied, WhichApplied};
use crate::nouns::policy::propose::{self, NewPolicies};
use crate::policy::folder::PROPOSALS;
use crate::policy::plan::Plan;
use crate::types::named::first_of;
use crate::types::refusal::Code;

/// Bring a folder of policies, or a saved plan, into force
///
/// Proposes them, runs their tests and promotes them; where another person must act first, it says so and ends with 4. A proposal based on an older version than the one in force is refused, and the changes since then are listed.
///
/// Example: `ok policy apply policies --reason "leads may read the audit"`
#[derive(clap::Args)]
pub struct Apply {
    /// The folder, or a file that `ok policy export` or `ok policy diff --save` wrote; `-` reads it from stdin
    #[arg(default_value = "policies")]
    from: PathBuf,
    #[command(flatten)]
    how: How,
    /// How many seconds to wait for people who must act first
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,
}

/// Propose a folder of policies, or a policy generalized from approvals; nothing comes into force yet
///
/// Writes DIR/proposals/<change>.yaml beside a folder. From approvals, it drafts the narrowest exceptions that would have allowed the approved calls, and a test for them.
///
/// Example: `ok policy propose --from-approvals apr_01M7… apr_01M8… --reason "leads hire for their own team"`
#[derive(clap::Args)]
pub struct Propose {
    /// The folder, or a file that `ok policy export` or `ok policy diff --save` wrote; `-` reads it from stdin
    #[arg(default_value = "policies")]
    dir: PathBuf,
    /// Approvals to generalize from, instead of a folder
    #[arg(long, value_name = "APPROVAL", num_args = 1..)]
    from_approvals: Vec<String>,
    #[command(flatten)]
    how: How,
}

/// Go back to an earlier version of the policies
///
/// It follows the same steps as any other change.
#[derive(clap::Args)]
pub struct Rollback {
    /// The version [default: the one before]
    version: Option<i64>,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "rolled back")]
    reason: String,
    /// How many seconds to wait for people who must act first
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,
}

#[derive(clap::Args)]
struct How {
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "from the command line")]
    reason: String,
    /// The commit that it comes from
    #[arg(long, value_name = "SHA")]
    commit: Option<String>,
}

/// Why the version in force is not the base of what is applied.
struct Moved {
    /// The last version known here, for showing what came after it.
    from: Option<i64>,
    why: String,
    /// What to do about it.
    way: String,
}

/// The maximum number of files named.
const NAMED: usize = 5;
const COMMIT_FIRST: &str = "Commit what you edited and name that commit, or leave `--commit` out";
const REWRITTEN: &str = "Merge it, and run the job of the merge; if history was rewritten, run `ok policy export --dir`, commit the folder with its policy.lock, and apply that";
const TAKE_OVER: &str = "Take it over with `ok policy export --dir`, then apply again";

impl Given {
    /// Builds the input of `policy.propose`, based on the version in force, which it fits.
    fn proposal(&self, how: &How, applied: &LastApplied) -> NewPolicies {
        let (files, base_version) = (Some(self.bundle.files.clone()), Some(applied.last.version));
        let base_hash = Some(applied.last.hash.clone());
        let (unedited, reason, commit) = (self.unedited(), how.reason.clone(), how.commit.clone());
        NewPolicies { files, unedited, reason, commit, base_version, base_hash, ..NewPolicies::default() }
    }

    fn is(&self, applied: &LastApplied) -> bool {
        applied.last.hash == self.bundle.hash().as_str()
    }

    /// Returns what is in force. Refuses a plan for another company, and an outdated base, with what came in between.
    async fn fits(&self, how: &How, session: &mut Session, context: &Context) -> Result<LastApplied, Failure> {
        self.is_of_commit(how)?;
        // With a commit, no lock is needed.
        match (&self.unread_lock, &how.commit) {
            (Some(problem), None) => return Err(Failure::new(problem.clone())),
            (Some(problem), Some(_)) => passed_over(problem),
            (None, _) => {}
        }
        let which = WhichApplied { limit: EARLIER, before: None };
        let applied = query::<Applied>().within(session, context, &which).await??.read()?;
        let plan = self.plan.as_ref().filter(|plan| plan.company != applied.company);
        if let Some(plan) = plan {
            let message = format!("the plan was made for the company {}; this is {}", plan.company, applied.company);
            return Err(Failure::new(message));
        }
        let Some(moved) = self.moved(how, &applied).filter(|_| !self.is(&applied)) else {
            return Ok(LastApplied { earlier: Vec::new(), ..applied });
        };
        if moved.from.is_some() {
            let between = Candidate { from: moved.from, impact: Some(false), ..Candidate::default() };
            if let (Some(from), Ok(between)) = (moved.from, query::<Diff>().within(session, context, &between).await?) {
                show::note(&format!("what came into force between version {from} and {}:", applied.last.version));
                between.read().iter().for_each(|between| show::note(&compared::text(between)));
            }
        }
        Err(Failure::new(format!("{}. {}", moved.why, moved.way)))
    }

    /// Checks that the files are those of the commit: the log and drift refer to the commit.
    fn is_of_commit(&self, how: &How) -> Result<(), Failure> {
        let (Some(dir), Some(commit)) = (&self.dir, &how.commit) else { return Ok(()) };
        let unlike = git::unlike(dir, commit, &self.bundle.files);
        if unlike.is_empty() {
            return Ok(());
        }
        Err(Failure::new(format!("{commit} has other policies: {}. {COMMIT_FIRST}", first_of(&unlike, NAMED))))
    }

    fn moved(&self, how: &How, applied: &LastApplied) -> Option<Moved> {
        // Versions that changed only the schema of collections count as the same.
        let stands = |version: i64, hash: Option<&str>| {
            let is_it = |same: &AppliedVersion| same.version == version && hash.is_none_or(|hash| same.hash == hash);
            applied.same_policies().any(is_it)
        };
        let last = applied.same_policies().find(|same| same.commit.is_some()).or(applied.same_policies().last())?;
        let in_force = in_force(last);
        let folder = self.dir.clone().unwrap_or_else(|| PathBuf::from("."));
        let made_from = |what: &str, base: i64| Moved {
            from: Some(base),
            why: format!("{what} was made from version {base}; {in_force}"),
            way: TAKE_OVER.to_owned(),
        };
        match (&self.plan, &self.lock, &how.commit) {
            (Some(Plan { base, .. }), ..) => (!stands(base.version, Some(&base.hash))).then(|| {
                let (version, way) = (base.version, "Compare again: `ok policy diff --save`".to_owned());
                match is_lost((version, &base.hash), applied) {
                    true => Moved { from: None, why: format!("{}; {in_force}", lost("the plan", version)), way },
                    false => Moved { way, ..made_from("the plan", version) },
                }
            }),
            (None, _, Some(commit)) if let Some(version) = git::brought_before(commit, last, applied) => Some(Moved {
                from: Some(version),
                why: format!("{commit} brought version {version} into force before; {in_force}"),
                way: format!("To go back, revert it in git, or: ok policy rollback {version}"),
            }),
            (None, _, Some(commit)) if let Some(newer) = git::overtaken(&folder, commit, last) => Some(Moved {
                from: None,
                why: format!("{newer} is in force, and comes after {commit} in git"),
                way: "Run the job of the newest commit, or revert in git what should go".to_owned(),
            }),
            (None, Some(lock), _) if applied.same_policies().any(|same| lock.is_of(same)) => None,
            (None, None, None) => {
                if let (Some(dir), None, 2..) = (&self.dir, self.exported.as_ref(), applied.last.version) {
                    show::note(&format!(
                        "{} has no policy.lock, so its base version is unknown: {in_force}; of it, what is not in the folder will be removed",
                        dir.display()
                    ));
                }
                let Origin { version, hash } = self.exported.as_ref()?;
                (!stands(*version, hash.as_deref())).then(|| match hash {
                    Some(hash) if is_lost((*version, hash), applied) => {
                        let why = format!("{}; {in_force}", lost("what was exported", *version));
                        Moved { from: None, why, way: "Export again, and make the change there".to_owned() }
                    }
                    _ => made_from("what was exported", *version),
                })
            }
            (None, _, Some(commit)) if let Some(beside) = git::diverged(&folder, commit, last) => Some(Moved {
                from: None,
                why: format!(
                    "{beside} is in force, and {commit} does not come after it in git: what it brought would be undone"
                ),
                way: REWRITTEN.to_owned(),
            }),
            (None, lock, Some(_)) => unknown_to_git(lock.is_some(), (last, applied), &in_force),
            (None, Some(lock), None) => {
                let dir = self.dir.as_ref().map(|dir| dir.display().to_string()).unwrap_or_default();
                if lock.is_lost(applied) {
                    let why = format!("{}; {in_force}", lost(&dir, lock.version));
                    let way = format!("To apply it all the same, remove {dir}/policy.lock first");
                    return Some(Moved { from: None, why, way });
                }
                Some(made_from(&dir, lock.version))
            }
        }
    }
}

/// Detects changes unknown to git. What came with a commit is an ancestor of the next one, which git ensures. What somebody
/// applied by hand is in no commit, unless no version ever came with one.
fn unknown_to_git(
    has_lock: bool,
    (current, applied): (&AppliedVersion, &LastApplied),
    in_force: &str,
) -> Option<Moved> {
    let last = applied.earlier.iter().find(|version| version.commit.is_some()).map(|version| version.version);
    let known = current.commit.is_some() || (last.is_none() && !has_lock);
    let why = format!("{in_force}, and no commit brought it");
    (!known).then(|| Moved { from: last, why, way: TAKE_OVER.to_owned() })
}

impl Run for Apply {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let wanted = Given::read_aloud(&self.from)?;
        let left_out = wanted.lock.as_ref().map(|lock| lock.left_out(&wanted.bundle)).unwrap_or_default();
        if !left_out.is_empty() {
            let files: Vec<&str> = left_out.keys().map(String::as_str).collect();
            show::note(&format!("left out, which removes nothing: {} ({})", first_of(&files, NAMED), compared::WAYS));
        }
        let mut session = Session::open(context).await?;
        let outcome = self.walk(&wanted, &mut session, context).await;
        session.close().await;
        let outcome = outcome?;
        if let Some(dir) = &wanted.dir {
            match (&outcome, &wanted.lock) {
                (Outcome::Applied(applied) | Outcome::Same(applied), _) => {
                    PolicyLock::new(applied, &wanted.bundle).with_left_out(&left_out).write(dir)?;
                }
                (Outcome::Waits { change, .. }, Some(lock)) => {
                    PolicyLock { proposed: Some(change.clone()), ..lock.clone() }.write(dir)?;
                }
                (Outcome::Unread(_), _) => show::note("policy.lock is unchanged: it names what is in force"),
                (Outcome::Waits { .. }, None) => {}
            }
        }
        print(context, &outcome)
    }
}

impl Apply {
    async fn walk(&self, wanted: &Given, session: &mut Session, context: &Context) -> Result<Outcome, Failure> {
        let applied = wanted.fits(&self.how, session, context).await?;
        // A commit is declared to the company even if nothing changes, so that it knows where it is managed.
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
        let answer = proposed?;
        let change = answer.read()?;
        remark(&change, &self.how.reason);
        let dir = wanted.as_ref().map_or(Some(&self.dir), |wanted| wanted.dir.as_ref());
        if let Some(dir) = dir {
            let path = dir.join(PROPOSALS).join(format!("{}.yaml", change.id));
            write(&path, &kept(&answer)?)?;
            show::note(&format!("wrote {}", path.display()));
        }
        context.show(&answer.value, || {
            show::one(columns!(ShownChange; id, state, base_version, hash, reason), &change)?;
            change.also_allows.iter().try_for_each(|one| show::text(&format!("also allows: {one}")))
        })
    }
}

impl Propose {
    async fn propose(
        &self,
        wanted: Option<&Given>,
        session: &mut Session,
        context: &Context,
    ) -> Result<Answer<ShownChange>, Failure> {
        let input = match wanted {
            Some(wanted) => wanted.proposal(&self.how, &wanted.fits(&self.how, session, context).await?),
            None => NewPolicies {
                from_approvals: Some(self.from_approvals.clone()),
                reason: self.how.reason.clone(),
                commit: self.how.commit.clone(),
                ..NewPolicies::default()
            },
        };
        Ok(change::<propose::Propose>().within(session, context, &input).await??)
    }
}

/// Formats a proposal for the file beside the policies, without what changes later.
fn kept(change: &Answer<ShownChange>) -> Result<String, Failure> {
    let fields = columns!(ShownChange; id, target, base_version, hash, author, reason, commit, created_at);
    serde_yaml::to_string(&change.some(fields)).map_err(|error| Failure::new(error.to_string()))
}

impl Run for Rollback {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut session = Session::open(context).await?;
        let outcome = self.walk(&mut session, context).await;
        session.close().await;
        print(context, &outcome?)
    }
}

impl Rollback {
    async fn walk(&self, session: &mut Session, context: &Context) -> Result<Outcome, Failure> {
        let which = WhichApplied { limit: EARLIER, before: None };
        let applied = query::<Applied>().within(session, context, &which).await??.read()?;
        // A version from a schema proposal has the policies of the version before.
        let before = applied.same_policies().last().map_or(0, |changed| changed.version - 1);
        let version = self.version.or((before > 0).then_some(before));
        let version = Some(version.ok_or_else(|| Failure::new("there is no earlier version"))?);
        let proposal = NewPolicies { version, reason: self.reason.clone(), ..NewPolicies::default() };
        Rollout { proposal, wait: Duration::from_secs(self.wait) }.walk(session, context).await
    }
}

fn print(context: &Context, outcome: &Outcome) -> Result<Exit, Failure> {
    let fields = columns!(LastApplied; last.version, last.hash, last.by, last.at, last.change);
    let print_applied =
        |applied: &LastApplied| context.show(&serde_json::to_value(applied)?, || show::one(fields, applied));
    match outcome {
        Outcome::Applied(applied) => print_applied(applied),
        Outcome::Same(applied) => {
            show::note(&format!("version {} is exactly this already", applied.last.version));
            print_applied(applied)
        }
        Outcome::Unread(change) => {
            let what = format!("{change} is in force; under it you may not read the policies in force");
            context.show(&json!({ "change": change, "state": "promoted" }), || show::text(&what))
        }
        Outcome::Waits { change, why, approval } => {
            let mut answer = json!({ "error": Code::NeedsApproval.name(), "message": why, "change": change });
            if let (Some(fields), Some(approval)) = (answer.as_object_mut(), approval) {
                fields.insert("approval".into(), approval.as_str().into());
            }
            context.show(&answer, || show::text(&format!("{change}: {why}")))?;
            show::note(&format!("Next: `ok changes show {change}` shows what it changes and who reviewed it."));
            Ok(Exit::Waits)
        }
    }
}
