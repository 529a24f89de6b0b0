//! Reads the text of a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::shown::{marked, statement};
use super::super::{KNOWLEDGE, OneEntry, find};
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::knowledge::documents::PART;
use types::knowledge::DocumentType;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;

/// What a document says.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct DocumentText {
    pub id: String,
    /// Its name; none where it is erased.
    pub name: Option<String>,
    pub content_type: DocumentType,
    /// What was read from the file; none where it is erased.
    pub text: Option<String>,
}

/// Read the text of a document.
pub enum Read {}

impl Query for Read {
    const SPEC: Spec = Spec {
        name: "knowledge.text",
        doc: "Read the text of a document, as it was read from the file.",
        scope: Reach::READ,
        route: get("/knowledge/{id}/text").listed(),
        about: &[&KNOWLEDGE],
        events: &[],
    };
    type Input = OneEntry;
    type Output = DocumentText;

    fn target(input: &OneEntry, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.knowledge_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneEntry, read: &Reader<'_>) -> Result<DocumentText, Stop> {
        let entry = find(&input.id, read)?;
        let none = || Refusal::conflict(format!("{} is no document", entry.id));
        let content_type = read.document(&entry.id)?.ok_or_else(none)?.content_type;
        marked(&entry, read);
        let (name, _) = statement(&entry, read)?;
        let kept = read.kept(&entry.id, PART)?;
        let text = kept.and_then(|kept| Some(kept.get("text")?.as_str()?.to_owned()));
        Ok(DocumentText { id: entry.id, name, content_type, text })
    }
}
