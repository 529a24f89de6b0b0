//! `ok policy export`, `list` and `source`: show what is in force, and where it comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;

use super::super::client::Session;
use super::super::column::{Columns, columns};
use super::super::command::{Needs, Run};
use super::super::exit::{Exit, Failure};
use super::super::operation::{Answer, change, query};
use super::super::save::{put, write};
use super::super::{Context, show};
use super::compared::terms;
use super::given::printed;
use super::lock::{PolicyLock, lost, sum};
use super::rollout::EARLIER;
use crate::nouns::Nothing;
use crate::nouns::policy::drift::{self, ShowDrift};
use crate::nouns::policy::in_force::{
    self, Applied, AppliedVersion, Exported, InForce, LastApplied, Show, WhichApplied,
};
use crate::nouns::policy::source::{NewSource, SetSource};
use crate::policy::brain::is_collection;
use crate::policy::bundle::problems;
use crate::policy::diff::Pair;
use crate::policy::folder::PRODUCT_SCHEMA;
use crate::policy::{Bundle, Folder};
use crate::types::change::SourceKind;

/// Export the policies in force
///
/// Without --dir they are printed, each file after a line with its path; `check`, `diff`, `apply` and `propose` read that.
#[derive(clap::Args)]
pub struct Export {
    /// Write them into this folder, with their schema and policy.lock
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Overwrite files that were edited or deleted here since the last apply or export. Without it they are kept, and the export is refused if one of them has also changed in force
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
                let Exported { version, hash, files, .. } = exported.read()?;
                context.show(&exported.value, || show::whole(&printed((version, &hash), &Bundle { files })))
            }
            Some(dir) => {
                let Exported { files, schema, .. } = exported.read()?;
                let (bundle, version) = (Bundle { files }, applied.last.version);
                // The paths come from the server, which must not write outside the folder.
                if let Some(problem) = problems(&bundle.files, 1).into_iter().next() {
                    return Err(Failure::new(format!("the server sent an invalid bundle: {problem}")));
                }
                let kept = if self.force { Vec::new() } else { edits(dir, &bundle, &applied)? };
                write_all(dir, &bundle, &kept, &schema, &applied)?;
                if !kept.is_empty() {
                    let kept = kept.join(", ");
                    show::note(&format!("kept as edited here, since nothing else has changed in them: {kept}"));
                }
                let answer = json!({ "dir": dir.display().to_string(), "version": version, "kept": kept });
                let files = bundle.files.len();
                context.show(&answer, || show::text(&format!("version {version}: {files} files in {}", dir.display())))
            }
        }
    }
}

/// Writes what is in force into a folder, overwriting what is there.
pub async fn write_to(dir: &Path, context: &Context) -> Result<(), Failure> {
    let mut session = Session::open(context).await?;
    let asked = both(&mut session, context).await;
    session.close().await;
    let (exported, applied) = asked?;
    let Exported { files, schema, .. } = exported.read()?;
    write_all(dir, &Bundle { files }, &[], &schema, &applied)
}

fn write_all(dir: &Path, bundle: &Bundle, kept: &[String], schema: &str, applied: &LastApplied) -> Result<(), Failure> {
    // What a company has lost, or another one had, may exist nowhere else: none of it is removed.
    let lock = PolicyLock::read(dir).ok().flatten().filter(|lock| !lock.is_lost(applied));
    let known = lock.map(|lock| lock.files).unwrap_or_default();
    save(dir, bundle, (kept, &known), schema)?;
    PolicyLock::new(applied, bundle).write(dir)
}

async fn both(session: &mut Session, context: &Context) -> Result<(Answer<Exported>, LastApplied), Failure> {
    let exported = query::<in_force::Export>().within(session, context, &Nothing {}).await??;
    let which = WhichApplied { limit: EARLIER, before: None };
    Ok((exported, query::<Applied>().within(session, context, &which).await??.read()?))
}

/// Returns the files edited or deleted locally that have not changed in force since. Refuses if they have changed in force,
/// too: one of both changes would be lost.
fn edits(dir: &Path, bundle: &Bundle, applied: &LastApplied) -> Result<Vec<String>, Failure> {
    let unread = |failure: Failure| Failure::new(format!("{}; --force overwrites what is there", failure.sentence()));
    let lock = PolicyLock::read(dir).map_err(unread)?;
    let is_lost = |lock: &&PolicyLock| lock.is_lost(applied) && !applied.same_policies().any(|same| lock.is_of(same));
    if let Some(lock) = lock.as_ref().filter(is_lost) {
        // What was in force then may exist nowhere else any more.
        let there = Folder::read(dir).map_err(|error| Failure::new(error.to_string()))?;
        if there.bundle.files != bundle.files {
            let lost = lost(&dir.display().to_string(), lock.version);
            let way = "--force overwrites what differs, and keeps what is only here";
            return Err(Failure::new(format!("{lost}; {way}")));
        }
    }
    let known = lock.as_ref().map(|lock| lock.files.clone()).unwrap_or_default();
    // If what was proposed from here is in force by now, that is the edited version.
    let is_ours = lock.as_ref().is_some_and(|lock| applied.same_policies().any(|same| lock.has_proposed(same)));
    let (mut kept, mut lost) = (Vec::new(), Vec::new());
    for (path, text) in &bundle.files {
        let there = match std::fs::read(dir.join(path)) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", dir.join(path).display()))),
        };
        let in_force = sum(text.as_bytes());
        let known = match is_ours && !is_collection(path) {
            true => Some(&in_force).filter(|_| there.is_some() || known.contains_key(path)),
            false => known.get(path),
        };
        let is_edited = match &there {
            Some(there) => there != text.as_bytes() && known != Some(&sum(there)),
            None => known.is_some(),
        };
        match known {
            _ if !is_edited => {}
            Some(known) if *known == in_force => kept.push(path.clone()),
            _ => lost.push(path.as_str()),
        }
    }
    if lost.is_empty() {
        return Ok(kept);
    }
    let (dir, lost) = (dir.display(), lost.join(", "));
    Err(Failure::new(format!(
        "in {dir} these files were edited or deleted, and what is in force has changed, too: {lost}; --force overwrites what \
         was done here"
    )))
}

/// Writes the files, and removes what is no longer in force and was not edited locally. Other files in the folder stay there,
/// and are reported.
fn save(
    dir: &Path,
    bundle: &Bundle,
    (kept, known): (&[String], &BTreeMap<String, String>),
    schema: &str,
) -> Result<(), Failure> {
    let before = if dir.is_dir() { Folder::read(dir).ok() } else { None };
    // Through a linked folder, files would be written elsewhere.
    for path in bundle.files.keys() {
        let folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        if let Some(link) = folders.map(|folder| dir.join(folder)).find(|folder| folder.is_symlink()) {
            return Err(Failure::new(format!("{} is a link; nothing is written", link.display())));
        }
    }
    let before = before.map(|before| before.bundle.files).unwrap_or_default();
    let is_edit = |path: &String, text: &String| known.get(path) != Some(&sum(text.as_bytes()));
    for (path, text) in bundle.files.iter().filter(|(path, _)| !kept.contains(path)) {
        let file = dir.join(path);
        write(&file, text)?;
        if before.get(path).is_some_and(|there| there != text && is_edit(path, there)) {
            let how = if known.is_empty() { "differed from what is in force" } else { "was edited here" };
            show::note(&format!("overwrote {}, which {how}", file.display()));
        }
    }
    write(&dir.join(PRODUCT_SCHEMA), schema)?;
    let left = before.into_iter();
    for (path, text) in left.filter(|(path, _)| !bundle.files.contains_key(path)) {
        let file = dir.join(&path);
        // Left in the folder, the next apply would bring it back.
        if !is_edit(&path, &text) {
            std::fs::remove_file(&file)
                .map_err(|error| Failure::new(format!("cannot remove {}: {error}", file.display())))?;
            show::note(&format!("removed {}: it is not in force any more", file.display()));
        } else {
            show::note(&format!("{} is not in force; remove it, or apply it", file.display()));
        }
    }
    Ok(())
}

/// List the versions of the policies that were in force, newest first
#[derive(clap::Args)]
pub struct List {
    /// The maximum number of results
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
}

impl Run for List {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let which = WhichApplied { limit: self.limit - 1, before: None };
        let LastApplied { last, earlier, .. } = query::<Applied>().ask(context, &which).await?.read()?;
        let versions: Vec<AppliedVersion> = [last].into_iter().chain(earlier).collect();
        let columns = columns!(AppliedVersion; version, by, at, change, hash);
        context.show(&serde_json::to_value(&versions)?, || show::rows(columns, &versions))
    }
}

/// Check whether the policies in force are those that the repository declared last
///
/// Ends with 0 if they are, if the declared ones are pending, or if nothing is declared; with 2 if they are not.
#[derive(clap::Args)]
pub struct Drift {
    /// Write the report into this file, as YAML
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

impl Run for Drift {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let answer = query::<ShowDrift>().ask(context, &Nothing {}).await?;
        if let Some(path) = &self.save {
            let text = serde_yaml::to_string(&answer.value).map_err(|error| Failure::new(error.to_string()))?;
            put(path, &text)?;
        }
        context.show(&answer.value, || {
            let found = answer.read()?;
            let fields = columns!(drift::Drift; status, declared_change, declared_hash, applied_version, applied_hash);
            show::one(fields, &found)?;
            if found.waits {
                let change = found.declared_change.as_deref().unwrap_or_default();
                show::text(&format!("{change} waits to come into force"))?;
            }
            terms(&found.terms).iter().try_for_each(|term| show::text(term))?;
            show::rows(columns!(Pair; operation, actor_kind, change), &found.weaker)
        })?;
        let drifted: bool = answer.part(columns!(drift::Drift; drifted))?;
        let waits: bool = answer.part(columns!(drift::Drift; waits))?;
        Ok(if drifted && !waits { Exit::Findings } else { Exit::Done })
    }
}

/// Show or set where the policies are kept
#[derive(clap::Args)]
pub struct Source {
    #[command(subcommand)]
    set: Option<Set>,
}

#[derive(Subcommand)]
enum Set {
    /// Keep them here; they are changed through the API and the command line
    Workspace,
    /// Keep them in a repository, whose CI proposes the changes
    Repo {
        /// Its https or ssh address
        url: String,
        /// The branch or tag to follow
        #[arg(long, value_name = "REF")]
        r#ref: Option<String>,
        /// The folder in it
        #[arg(long, value_name = "PATH")]
        path: Option<String>,
        /// Its proposals come into force at once, where the policies permit it
        #[arg(long)]
        auto: bool,
    },
}

impl Run for Source {
    const NEEDS: Needs = Needs::FileOrServer;

    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let set = match self.set {
            None => {
                let policy = query::<Show>().ask(context, &Nothing {}).await?;
                let source: in_force::Source = policy.part(columns!(InForce; source))?;
                return context.show(&serde_json::to_value(&source)?, || show::one(SOURCE, &source));
            }
            Some(Set::Workspace) => {
                NewSource { kind: SourceKind::Workspace, url: None, r#ref: None, path: None, auto: false }
            }
            Some(Set::Repo { url, r#ref, path, auto }) => {
                NewSource { kind: SourceKind::Repo, url: Some(url), r#ref, path, auto }
            }
        };
        change::<SetSource>().ask(context, &set).await?.fields(context, SOURCE)
    }
}

const SOURCE: Columns<in_force::Source> = columns!(in_force::Source; kind, url, r#ref, path, auto);
