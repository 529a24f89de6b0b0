//! `ok audit`: what an auditor needs, from the state file itself or from an export. It needs no permission: who holds
//! the file has its content. It writes nothing to it, so it may run beside a server.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Serialize;
use serde_json::Value;

use super::exit::{Exit, Failure};
use super::{Context, file, show};
use crate::gate::refold::{self, Difference};
use crate::log::export::{self, ExportError};
use crate::log::verify::{Ask, Report, verify_export, verify_sqlite};
use crate::log::{proof, read};
use crate::operations::audit::{Checkpoint, HeadAnswer};

/// Check the log, and take out what an auditor needs
#[derive(Subcommand)]
pub enum Audit {
    Verify(Verify),
    /// Print the newest signed checkpoint
    Head,
    /// List the published checkpoints, newest first
    Checkpoints {
        /// How many at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
    /// Prove that an event is in the log
    Proof {
        /// The event number
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        seq: u64,
    },
    /// Print the key that checkpoints are verified with
    Key,
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
    /// A checkpoint from before: shows whether the log still contains what it contained then
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// The verifier key that you kept; without it, the key beside the log is believed
    #[arg(long, value_name = "KEY")]
    vkey: Option<String>,
    /// The first event whose content is checked
    #[arg(long, value_name = "SEQ")]
    from: Option<u64>,
    /// The last event whose content is checked
    #[arg(long, value_name = "SEQ")]
    to: Option<u64>,
}

impl Audit {
    pub fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Audit::Verify(verify) => verify.run(context),
            Audit::Head => head(context),
            Audit::Checkpoints { limit } => checkpoints(context, limit),
            Audit::Proof { seq } => prove(context, seq),
            Audit::Key => {
                let key = file::head(&file::open(context)?)?.vkey;
                context.show(&Value::String(format!("{key}\n")), || show::text(&key))
            }
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
        let ask = Ask { vkey: self.vkey.as_deref(), since: since.as_deref(), from: self.from, to: self.to };
        if let Some(dir) = &self.export {
            let report = verify_export(dir, &ask)?;
            context.show(&json(&report)?, || verdict(&report))?;
            return Ok(if report.ok { Exit::Done } else { Exit::Findings });
        }
        let conn = file::open(context)?;
        // One moment for both looks at the file, whatever a server appends meanwhile.
        let moment = conn.unchecked_transaction()?;
        let log = verify_sqlite(&moment, &ask)?;
        // A log that is not whole says nothing about the tables.
        let tables = if log.ok { refold::compare(&moment)? } else { Vec::new() };
        let checked = Checked { ok: log.ok && tables.is_empty(), log, tables };
        context.show(&json(&checked)?, || {
            verdict(&checked.log)?;
            if checked.log.ok { compared(&checked.tables) } else { Ok(()) }
        })?;
        Ok(if checked.ok { Exit::Done } else { Exit::Findings })
    }
}

/// The verdict on a state file: its log, and whether its tables are what the log makes of them.
#[derive(Serialize)]
struct Checked {
    ok: bool,
    log: Report,
    tables: Vec<Difference>,
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
    context.show(&rows.clone().into(), || show::table(&["size", "root", "at"], &rows))
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
