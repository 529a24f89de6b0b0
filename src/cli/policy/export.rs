//! `ok policy export`, `list` and `source`: what is in force, and where it comes from.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use super::super::client::{self, Session};
use super::super::command::{Needs, Run};
use super::super::exit::{Exit, Failure};
use super::super::save::write;
use super::super::{Context, show};
use super::compared::terms;
use super::explain::list;
use super::given::printed;
use super::lock::{PolicyLock, sum};
use crate::policy::bundle::problems;
use crate::policy::folder::PRODUCT_SCHEMA;
use crate::policy::{Bundle, Folder};

/// Export the policies in force
///
/// Without --dir they are printed, each file after a line with its path; `check`, `diff`, `apply` and `propose` read that.
#[derive(clap::Args)]
pub struct Export {
    /// Write them into this folder, with their schema and policy.lock
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Overwrite files that were edited since they were last applied or exported
    #[arg(long, requires = "dir")]
    force: bool,
}

impl Run for Export {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut session = Session::open(context).await?;
        let asked = both(&mut session, context).await;
        session.close().await;
        let (exported, applied) = asked?;
        match &self.dir {
            None => {
                let version = exported.get("version").and_then(Value::as_i64).unwrap_or_default();
                context.show(&exported, || show::whole(&printed(version, &bundle(&exported))))
            }
            Some(dir) => {
                let bundle = bundle(&exported);
                // The server names them; this machine is not its own to write to.
                if let Some(problem) = problems(&bundle.files, 1).into_iter().next() {
                    return Err(Failure::new(format!("the server sends what no bundle holds: {problem}")));
                }
                if !self.force {
                    keep_edits(dir, &bundle)?;
                }
                save(dir, &bundle, &exported)?;
                PolicyLock::new(&applied, &bundle).write(dir)?;
                let answer = json!({ "dir": dir.display().to_string(), "version": applied.get("version") });
                context.show(&answer, || {
                    let (files, version) = (bundle.files.len(), show::cell(applied.get("version")));
                    show::text(&format!("version {version}: {files} files in {}", dir.display()))
                })
            }
        }
    }
}

async fn both(session: &mut Session, context: &Context) -> Result<(Value, Value), Failure> {
    let exported = session.call(context, "policy.export", json!({})).await??;
    let applied = session.call(context, "policy.applied", json!({})).await??;
    Ok((exported, applied))
}

fn bundle(exported: &Value) -> Bundle {
    let files = exported.get("files").and_then(Value::as_object);
    Bundle::new(files.into_iter().flatten().map(|(path, text)| (path.as_str(), text.as_str().unwrap_or_default())))
}

/// Refuses to overwrite what somebody wrote: a file that is neither as `policy.lock` has it nor as it would be.
fn keep_edits(dir: &Path, bundle: &Bundle) -> Result<(), Failure> {
    let known = PolicyLock::read(dir)?.map(|lock| lock.files).unwrap_or_default();
    let mut edited = Vec::new();
    for (path, text) in &bundle.files {
        let there = match std::fs::read(dir.join(path)) {
            Ok(there) => there,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", dir.join(path).display()))),
        };
        if there != text.as_bytes() && known.get(path) != Some(&sum(&there)) {
            edited.push(path.as_str());
        }
    }
    if edited.is_empty() {
        return Ok(());
    }
    let (dir, edited) = (dir.display(), edited.join(", "));
    Err(Failure::new(format!("in {dir} these files were edited and would be lost: {edited}; --force overwrites them")))
}

/// Writes the files; what else lies in the folder is left there, and told.
fn save(dir: &Path, bundle: &Bundle, exported: &Value) -> Result<(), Failure> {
    let before = if dir.is_dir() { Folder::read(dir).ok() } else { None };
    // A folder that is a link would be written to elsewhere.
    for path in bundle.files.keys() {
        let folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        if let Some(link) = folders.map(|folder| dir.join(folder)).find(|folder| folder.is_symlink()) {
            return Err(Failure::new(format!("{} is a link; nothing is written", link.display())));
        }
    }
    for (path, text) in &bundle.files {
        write(&dir.join(path), text)?;
    }
    write(&dir.join(PRODUCT_SCHEMA), exported.get("schema").and_then(Value::as_str).unwrap_or_default())?;
    let left = before.into_iter().flat_map(|before| before.bundle.files.into_keys());
    for path in left.filter(|path| !bundle.files.contains_key(path)) {
        show::note(&format!("{} is not in force; remove it, or apply it", dir.join(path).display()));
    }
    Ok(())
}

/// List the versions of the policies that were in force, newest first
#[derive(clap::Args)]
pub struct List {
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
}

impl Run for List {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut last = client::call(context, "policy.applied", json!({ "limit": self.limit - 1 })).await?;
        let fields = last.as_object_mut();
        let earlier = fields.and_then(|fields| {
            fields.retain(|field, _| field != "company" && field != "event");
            fields.remove("earlier")
        });
        let rows: Vec<Value> = [last].into_iter().chain(list(earlier.as_ref()).to_vec()).collect();
        context.show(&rows.clone().into(), || show::table(&["version", "by", "at", "change", "hash"], &rows))
    }
}

/// Tell whether what is in force is what the repository declared last
///
/// Ends with 0 if it is, if what is declared waits to come into force, or if nothing is declared; with 2 if it is not.
#[derive(clap::Args)]
pub struct Drift {
    /// Write the report into this file, as YAML
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

impl Run for Drift {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answer = client::call(context, "policy.drift", json!({})).await?;
        if let Some(path) = &self.save {
            let text = serde_yaml::to_string(&answer).map_err(|error| Failure::new(error.to_string()))?;
            write(path, &text)?;
        }
        let weaker = answer.get("weaker").and_then(Value::as_array).cloned().unwrap_or_default();
        context.show(&answer, || {
            let fields = ["status", "declared_change", "declared_hash", "applied_version", "applied_hash"];
            show::fields(&fields, &answer)?;
            if answer.get("waits") == Some(&Value::Bool(true)) {
                show::text(&format!("{} waits to come into force", show::cell(answer.get("declared_change"))))?;
            }
            terms(&answer).iter().try_for_each(|term| show::text(term))?;
            show::table(&["operation", "actor_kind", "change"], &weaker)
        })?;
        let is = |field: &str| answer.get(field) == Some(&Value::Bool(true));
        Ok(if is("drifted") && !is("waits") { Exit::Findings } else { Exit::Done })
    }
}

/// Show where the policies are kept, or say so
#[derive(clap::Args)]
pub struct Source {
    #[command(subcommand)]
    set: Option<Set>,
}

#[derive(Subcommand)]
enum Set {
    /// They are kept here, and changed through the API and the command line
    Workspace,
    /// They are kept in a repository, whose CI proposes what changed
    Repo {
        /// Its https or ssh address
        url: String,
        /// The branch or tag that counts
        #[arg(long, value_name = "REF")]
        r#ref: Option<String>,
        /// The folder in it
        #[arg(long, value_name = "PATH")]
        path: Option<String>,
        /// What it proposes comes into force at once, where the policy permits it
        #[arg(long)]
        auto: bool,
    },
}

impl Run for Source {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let source = match self.set {
            None => {
                let policy = client::call(context, "policy.read", json!({})).await?;
                policy.get("source").cloned().unwrap_or_default()
            }
            Some(Set::Workspace) => client::call(context, "policy.source", json!({ "kind": "workspace" })).await?,
            Some(Set::Repo { url, r#ref, path, auto }) => {
                let input = json!({ "kind": "repo", "url": url, "ref": r#ref, "path": path, "auto": auto });
                client::call(context, "policy.source", input).await?
            }
        };
        context.show(&source, || show::fields(&["kind", "url", "ref", "path", "auto"], &source))
    }
}
