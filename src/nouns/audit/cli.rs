//! `ok audit`: verifies, exports and proves the log, from the state file itself or from an export. It needs no permission:
//! whoever holds the file has its content. It does not write to the file, so it may run beside a server.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::Value;

use super::column::columns;
use super::command::{Commands, Run, owns};
use super::exit::{Exit, Failure};
use super::{Context, client, file, show};
use crate::gate::state::difference::Difference;
use crate::gate::state::open::CannotOpen;
use crate::gate::state::refold;
use crate::gate::state::rekey::{self, CannotRekey};
use crate::log::export::{self, ExportError};
use crate::log::verify::note::{Note, VerifierKey};
use crate::log::verify::proof::{check_consistency, check_proof, is_inclusion};
use crate::log::verify::{Ask, Report, verify_export, verify_sqlite};
use crate::log::{proof, read};
use crate::nouns::audit::{Checkpoint, HeadAnswer};

pub const COMMANDS: Commands = &[&owns::<Audit>("audit")];

/// Check the log, and take out what an auditor needs
#[derive(Subcommand)]
pub enum Audit {
    Verify(Verify),
    /// Print the newest signed checkpoint
    Head,
    /// List the published checkpoints, newest first
    Checkpoints {
        /// The maximum number of results
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
    /// Prove that an event is in the log
    Proof {
        /// The event number
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        seq: u64,
    },
    /// Prove that the log extends an earlier checkpoint
    Consistency {
        /// The size of the checkpoint that you hold
        from: u64,
        /// The size of a later published checkpoint [default: the newest]
        to: Option<u64>,
    },
    /// Print the verifier key of the checkpoints
    Key,
    /// Create a new signing key where the log's own is lost; the log records this permanently
    Rekey,
    /// Write the whole log into a folder of plain files, which can be checked without ok
    Export {
        /// The folder; it must be empty or not exist
        dir: PathBuf,
    },
}

/// Check every entry, every link, every hash and every signature; exit code 2 if anything is wrong
#[derive(clap::Args)]
pub struct Verify {
    /// Check an export instead of the state file
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
    /// Check a proof from `ok audit proof` or `ok audit consistency`; it needs the key that you kept, and for the
    /// second one the older checkpoint
    #[arg(long, value_name = "FILE", requires = "vkey", conflicts_with_all = ["export", "from", "to"])]
    proof: Option<PathBuf>,
    /// An earlier checkpoint: verifies that the log still contains everything it contained then
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// The verifier key that you kept; without it, the key beside the log is trusted
    #[arg(long, visible_alias = "key", value_name = "KEY")]
    vkey: Option<String>,
    /// The first event whose content is checked
    #[arg(long, value_name = "SEQ")]
    from: Option<u64>,
    /// The last event whose content is checked
    #[arg(long, value_name = "SEQ")]
    to: Option<u64>,
}

impl Run for Audit {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Audit::Verify(verify) => verify.run(context),
            Audit::Head => head(context),
            Audit::Checkpoints { limit } => checkpoints(context, limit),
            Audit::Proof { seq } => prove(context, seq),
            Audit::Consistency { from, to } => continues(context, from, to),
            Audit::Key => {
                let key = file::head(&file::open(context)?)?.vkey().to_owned();
                context.show(&Value::String(format!("{key}\n")), || show::text(&key))
            }
            Audit::Rekey => rekey(context),
            Audit::Export { dir } => write_out(context, &dir),
        }
    }
}

impl Verify {
    fn run(self, context: &Context) -> Result<Exit, Failure> {
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from > to
        {
            return Err(Failure::Usage("--from must be at most --to".into()));
        }
        let since = self.checkpoint.as_deref().map(text_of).transpose()?;
        if let (Some(proof), Some(key)) = (&self.proof, &self.vkey) {
            return proven(context, &text_of(proof)?, key, since.as_deref());
        }
        let ask = Ask { vkey: self.vkey.as_deref(), since: since.as_deref(), from: self.from, to: self.to };
        if let Some(dir) = &self.export {
            let report = verify_export(dir, &ask)?;
            context.show(&json(&report)?, || {
                verdict(&report)?;
                signed(&report)?;
                unchecked(&report)
            })?;
            return Ok(if report.ok { Exit::Done } else { Exit::Findings });
        }
        let (mut log, tables) = self.look(context, &ask)?;
        if tables.is_some() {
            log.not_checked.extend(refold::not_checked(&file::open(context)?)?);
        } else {
            let why = if log.ok { "not all payloads were checked" } else { "the log itself has not passed" };
            log.not_checked.push(format!("whether the tables are what the log says: {why}"));
        }
        let checked = Checked { ok: log.ok && tables.as_ref().is_none_or(Vec::is_empty), log, tables };
        context.show(&json(&checked)?, || {
            verdict(&checked.log)?;
            checked.tables.iter().try_for_each(|tables| compared(tables))?;
            signed(&checked.log)?;
            unchecked(&checked.log)
        })?;
        Ok(if checked.ok { Exit::Done } else { Exit::Findings })
    }
}

impl Verify {
    /// Verifies the log, and the tables if the log is intact.
    fn look(&self, context: &Context, ask: &Ask<'_>) -> Result<(Report, Option<Vec<Difference>>), Failure> {
        let [conn, other] = [file::open(context)?, file::open(context)?];
        // One snapshot for all reads, whatever a server appends meanwhile.
        let moment = conn.unchecked_transaction()?;
        other.execute_batch("BEGIN")?;
        let absent = refold::absent(&moment)?;
        if !absent.is_empty() {
            return mangled(&moment, ask, absent);
        }
        let is_read_whole = |size| self.from.is_none_or(|from| from <= 1) && self.to.is_none_or(|to| to >= size);
        if !is_read_whole(u64::MAX) || read::last_seq(&moment)? != read::last_seq(&other)? {
            let log = verify_sqlite(&moment, ask)?;
            let tables = (log.ok && is_read_whole(log.size)).then(|| refold::compare(&moment)).transpose()?;
            return Ok((log, tables));
        }
        std::thread::scope(|threads| {
            // If the log is not intact, comparing the tables with it is meaningless.
            let tables = threads.spawn(move || refold::tables(&other));
            let log = verify_sqlite(&moment, ask)?;
            let file = if log.ok { refold::file(&moment)? } else { Vec::new() };
            let tables = tables.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            if !log.ok {
                return Ok((log, None));
            }
            Ok((log, Some(tables?.into_iter().chain(file).collect())))
        })
    }
}

/// Returns the verdict on a file with missing tables: the log's own, from which all else is built, or others.
fn mangled(
    moment: &Connection,
    ask: &Ask<'_>,
    absent: Vec<Difference>,
) -> Result<(Report, Option<Vec<Difference>>), Failure> {
    let lacks: Vec<&str> = absent.iter().map(|one| one.message.as_str()).collect();
    let lacks = lacks.join(", ");
    let cannot = |why| Failure::new(format!("the log cannot be verified: {lacks} ({why})"));
    let mut log = verify_sqlite(moment, ask).map_err(cannot)?;
    log.not_checked.push("whether the other tables are what the log says: some are missing".into());
    Ok((log, Some(absent)))
}

/// The verdict on a state file: its log, and whether its tables match the log.
#[derive(Serialize)]
struct Checked {
    ok: bool,
    log: Report,
    /// `None` if they were not compared.
    tables: Option<Vec<Difference>>,
}

/// Prints what was not verified.
fn unchecked(report: &Report) -> Result<(), Failure> {
    report.not_checked.iter().try_for_each(|what| show::text(&format!("not checked: {what}")))
}

/// Prints which key signed which events, if the key changed.
fn signed(report: &Report) -> Result<(), Failure> {
    for pair in report.keys.windows(2) {
        let [before, after] = pair else { continue };
        let Some(last) = before.to else { continue };
        show::text(&show::visible(&format!(
            "key   events up to {last} are signed with {}; from {} on with {}, with which the machine's owner \
             replaced it: the earlier key does not vouch for these",
            before.vkey, after.from, after.vkey
        )))?;
    }
    Ok(())
}

fn compared(tables: &[Difference]) -> Result<(), Failure> {
    if tables.is_empty() {
        return show::text("ok    the tables are what the log says");
    }
    for difference in tables {
        let Difference { table, key, message } = difference;
        show::text(&show::visible(&format!("FAIL  table {table}: {key} {message}")))?;
    }
    Ok(())
}

fn text_of(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
}

fn json(value: &impl Serialize) -> Result<Value, Failure> {
    Ok(serde_json::to_value(value)?)
}

fn verdict(report: &Report) -> Result<(), Failure> {
    if report.ok {
        let erased =
            if report.redacted > 0 { format!(", {} erased and declared so", report.redacted) } else { String::new() };
        return show::text(&format!(
            "ok    {} of {} events checked{erased}; root {}",
            report.checked, report.size, report.root
        ));
    }
    for problem in &report.problems {
        let place = problem.seq.map(|seq| format!("event {seq}: ")).unwrap_or_default();
        show::text(&show::visible(&format!("FAIL  {place}{}", problem.message)))?;
    }
    let first = report.first_bad_seq.map(|seq| format!("; the first bad one is {seq}")).unwrap_or_default();
    show::text(&format!("FAIL  {} of {} events are vouched for{first}", report.vouched, report.size))
}

fn head(context: &Context) -> Result<Exit, Failure> {
    let mut conn = file::open(context)?;
    let moment = file::moment(&mut conn)?;
    let head = file::head(&moment)?;
    let newest = if head.size > 0 { Some(read::one(&moment, head.size as i64)?) } else { None };
    context.show(&json(&HeadAnswer::of(&head, newest))?, || show::text(&head.note))
}

fn checkpoints(context: &Context, limit: Option<u32>) -> Result<Exit, Failure> {
    let rows = read::checkpoints(&file::open(context)?, u64::MAX, limit.unwrap_or(u32::MAX) as usize)?;
    let rows: Vec<Value> = rows.into_iter().map(|row| json(&Checkpoint::from(row))).collect::<Result<_, _>>()?;
    let columns = columns!(Checkpoint; size, root, at).list;
    context.show(&rows.clone().into(), || show::list("no checkpoints", columns, &rows))
}

fn prove(context: &Context, seq: u64) -> Result<Exit, Failure> {
    let mut conn = file::open(context)?;
    let moment = file::moment(&mut conn)?;
    let head = file::head(&moment)?;
    if seq > head.size {
        return Err(Failure::new(format!("there is no event {seq}; the newest is {}", head.size)));
    }
    let proof = proof::inclusion(&moment, &head, seq)?;
    context.show(&Value::String(proof.clone()), || show::text(&proof))
}

fn continues(context: &Context, from: u64, to: Option<u64>) -> Result<Exit, Failure> {
    let mut conn = file::open(context)?;
    let moment = file::moment(&mut conn)?;
    let head = file::head(&moment)?;
    let to = to.unwrap_or(head.size);
    if from > to || to > head.size {
        return Err(Failure::new(format!("the sizes must ascend, up to {}", head.size)));
    }
    let published = read::checkpoints(&moment, to.saturating_add(1), 1)?.pop().filter(|published| published.size == to);
    let note = if to == head.size { Some(head.note) } else { published.map(|published| published.note) };
    let note = note.ok_or_else(|| Failure::new(format!("no checkpoint of {to} events was published")))?;
    let proof = proof::consistency(&moment, from, to, &note)?;
    context.show(&Value::String(proof.clone()), || show::text(&proof))
}

/// Verifies a proof offline, from nothing but what its reader holds.
fn proven(context: &Context, text: &str, key: &str, older: Option<&str>) -> Result<Exit, Failure> {
    let key = VerifierKey::parse(key.trim()).map_err(|error| Failure::new(error.to_string()))?;
    let checked = if is_inclusion(text) {
        check_proof(text, &key).map(|included| {
            let leaf = String::from_utf8_lossy(&included.leaf).into_owned();
            let summary =
                format!("event {} is in the log {} of {} events", included.seq, key.origin(), included.checkpoint.size);
            (summary, Some(leaf))
        })
    } else {
        let older = older.ok_or_else(|| Failure::Usage("give the older checkpoint: --checkpoint FILE".into()))?;
        let describe = |newer: Note| {
            format!("the log {} of {} events continues the checkpoint that you hold", key.origin(), newer.size)
        };
        check_consistency(text, older, &key).map(|newer| (describe(newer), None))
    };
    let (ok, summary, leaf) = match checked {
        Ok((summary, leaf)) => (true, summary, leaf),
        Err(error) => (false, error.to_string(), None),
    };
    let answer = serde_json::json!({ "ok": ok, "summary": summary, "leaf": leaf });
    context.show(&answer, || {
        show::text(&show::visible(&format!("{}  {summary}", if ok { "ok  " } else { "FAIL" })))?;
        leaf.iter().try_for_each(|leaf| show::text(leaf))
    })?;
    Ok(if ok { Exit::Done } else { Exit::Findings })
}

fn rekey(context: &Context) -> Result<Exit, Failure> {
    let head = rekey::rekey(&client::options(context)?)?;
    let answer = serde_json::json!({ "seq": head.size, "vkey": head.vkey() });
    context.show(&answer, || {
        show::fields(&["seq", "vkey"], &answer)?;
        show::note(
            "\nKeep the verifier key (vkey) where this computer cannot reach it, and the one before it too: that one verifies \
             what was signed before.\nThe secrets of webhooks have a key of their own: `state.db.secrets`.",
        );
        Ok(())
    })
}

impl From<CannotRekey> for Failure {
    fn from(error: CannotRekey) -> Failure {
        match error {
            CannotRekey::NotWhole(_) => Failure::Exits(Exit::Findings, error.to_string()),
            CannotRekey::Open(CannotOpen::Held(_)) => Failure::busy(format!(
                "{error}, and a new key is created only while nothing else holds it: stop that first"
            )),
            CannotRekey::Open(_) | CannotRekey::KeyIsThere(_) | CannotRekey::OtherKey(..) => {
                Failure::new(error.to_string())
            }
        }
    }
}

fn write_out(context: &Context, dir: &Path) -> Result<Exit, Failure> {
    let size = export::write(&mut file::open(context)?, dir)?;
    let answer = serde_json::json!({ "dir": dir, "events": size });
    context.show(&answer, || show::text(&format!("{size} events written to {}", dir.display())))
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Failure {
        Failure::new(error.to_string())
    }
}
