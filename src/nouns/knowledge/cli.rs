//! `ok brain recall` and related commands for knowledge.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::column::{Columns, columns};
use super::command::Run;
use super::definition::bytes_of;
use super::exit::{Exit, Failure};
use super::operation::change;
use super::{Context, show};
use crate::nouns::knowledge::{DocumentText, NewDocument, Passage, Recalled, Recollection, ShownKnowledge, Upload};
use crate::types::id::ActorId;
use crate::types::knowledge::{DocumentType, SourceKind};
use crate::types::time::Time;

/// Columns of one entry.
pub const ENTRY: Columns<ShownKnowledge> = columns!(
    ShownKnowledge; id, status, kind, statement, document, topics, scope, reasons, origin, source, reference, confidence, proposed_by,
    run, supersedes, superseded_by, decided_by, expires_at, version, created_at
);
/// Columns in a list.
pub const ROW: Columns<ShownKnowledge> =
    columns!(ShownKnowledge; id, status, kind, statement, topics, scope, origin, proposed_by, created_at);
/// Columns in the quarantine list.
pub const HELD: Columns<ShownKnowledge> =
    columns!(ShownKnowledge; id, statement, reasons, source, proposed_by, created_at);

/// Columns of recalled entries; below, with similarity if any has it.
const KNOWN: Columns<Recollection> =
    columns!(Recollection; id, kind, statement, topics, origin, proposed_by, accepted_by);
const NEAR: Columns<Recollection> =
    columns!(Recollection; id, kind, statement, topics, origin, proposed_by, accepted_by, similarity);
const PASSAGE: Columns<Passage> = columns!(Passage; document, name, chunk, text, origin, proposed_by, accepted_by);
const NEAR_PASSAGE: Columns<Passage> =
    columns!(Passage; document, name, chunk, text, origin, proposed_by, accepted_by, similarity);

/// Prints what was recalled as a table.
pub fn print(recalled: &Recalled) -> Result<(), Failure> {
    let Recalled { entries, passages, .. } = recalled;
    if entries.is_empty() && passages.is_empty() {
        show::text("nothing is known")?;
    }
    show::rows(if entries.iter().any(|entry| entry.similarity.is_some()) { NEAR } else { KNOWN }, entries)?;
    if !passages.is_empty() {
        show::text("")?;
        let is_near = passages.iter().any(|passage| passage.similarity.is_some());
        show::rows(if is_near { NEAR_PASSAGE } else { PASSAGE }, passages)?;
    }
    if let Some(why) = &recalled.words_alone {
        show::note(&format!("By words alone: {why}."));
    }
    if !recalled.is_all {
        show::note("There is more than was looked at: name topics.");
    }
    Ok(())
}

/// Prints the text of a document.
pub fn text(document: &DocumentText) -> Result<(), Failure> {
    match &document.text {
        Some(text) => show::text(text),
        None => {
            show::note("The text is erased.");
            Ok(())
        }
    }
}

/// Upload a document: text, Markdown, HTML, CSV, Word (.docx) or, where the server is built so, PDF
///
/// Example: `ok brain upload handbook.md --topic refunds`
#[derive(clap::Args)]
pub struct Uploading {
    /// The file; at most 10 MiB, and 1 MiB of text in it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The document's name; by default the file's
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// The media type; by default derived from the file's extension
    #[arg(long = "type", value_name = "CONTENT_TYPE")]
    content_type: Option<DocumentType>,
    /// Topics by which it is recalled: at most 10, of lower-case letters, digits and `-`
    #[arg(long = "topic", value_name = "TOPIC")]
    topics: Vec<String>,
    /// The team or person that it is limited to. The whole company unless given
    #[arg(long, value_name = "ID")]
    scope: Option<ActorId>,
    /// The source; documents from the web, mail or a webhook are quarantined
    #[arg(long, default_value = "document")]
    source: SourceKind,
    /// The exact source, such as an address: at most 500 characters
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reference: String,
    /// The accepted document that it is to supersede
    #[arg(long, value_name = "KNOWLEDGE")]
    supersedes: Option<String>,
    /// When it expires
    #[arg(long = "expires", value_name = "TIME")]
    expires_at: Option<Time>,
}

/// The maximum bytes of a file.
const MOST_BYTES: usize = 10 << 20;

impl Run for Uploading {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let Uploading { file, name, content_type, topics, scope, source, reference, supersedes, expires_at } = self;
        let content_type = content_type.map_or_else(|| type_of(&file), Ok)?;
        let own = || file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let document = NewDocument {
            name: name.unwrap_or_else(own),
            content_type,
            text: None,
            content_base64: Some(STANDARD.encode(bytes_of(&file, MOST_BYTES)?)),
            topics,
            scope,
            source,
            reference,
            supersedes,
            expires_at,
        };
        change::<Upload>().ask(context, &document).await?.fields(context, ENTRY)
    }
}

/// Returns a file's type by its extension.
fn type_of(file: &Path) -> Result<DocumentType, Failure> {
    let end = file.extension().map(|end| end.to_string_lossy().to_lowercase());
    Ok(match end.as_deref() {
        Some("txt" | "text" | "log") => DocumentType::Text,
        Some("md" | "markdown") => DocumentType::Markdown,
        Some("html" | "htm") => DocumentType::Html,
        Some("csv") => DocumentType::Csv,
        Some("docx") => DocumentType::Docx,
        Some("pdf") => DocumentType::Pdf,
        _ => {
            let known = "`.txt`, `.md`, `.html`, `.csv`, `.docx` and `.pdf` are known; for another name, give `--type`";
            return Err(Failure::new(format!("cannot derive the media type of `{}`: {known}", file.display())));
        }
    })
}
