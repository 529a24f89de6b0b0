//! Uploads a document as a knowledge entry.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::super::propose::{NewKnowledge, is_admitted, is_not_too_many, looked_at, recorded, whom};
use super::super::scan;
use super::super::shown::{ShownDocument, ShownKnowledge};
use super::{chunks, extract, pdf};
use crate::actor::resource::{ACTOR, TEAM};
use crate::company::COMPANY;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::content::events::ContentKept;
use store::knowledge::documents::PART;
use store::knowledge::events::{DocumentIndexed, KnowledgeProposed, KnowledgeQuarantined};
use types::id::{ActorId, Id};
use types::knowledge::{DocumentType, KnowledgeKind, SourceKind};
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::Time;
use types::visible::is_blank;

/// The maximum bytes of a file; below, characters of its name.
const MOST_BYTES: usize = 10 << 20;
const LONGEST_NAME: usize = 200;

/// A document: its text, or its bytes.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewDocument {
    /// Its name, by which people know it: 1 to 200 characters. It can be erased.
    #[schemars(length(min = 1, max = 200), extend("x-erasable" = true))]
    pub name: String,
    /// Its format.
    pub content_type: DocumentType,
    /// Its text, if it is a text; otherwise use `content_base64`. At most 10 MiB, with 1 MiB of text in it. It can be
    /// erased.
    #[schemars(length(max = 10_485_760), extend("x-erasable" = true))]
    pub text: Option<String>,
    /// Its bytes in Base64 (RFC 4648 §4). They can be erased.
    #[schemars(length(max = 13_981_016), extend("x-erasable" = true))]
    pub content_base64: Option<String>,
    /// Topics by which it is recalled: at most 10, of lower-case letters, digits and `-`.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub topics: Vec<String>,
    /// The team or person that it is limited to. The whole company unless given.
    pub scope: Option<ActorId>,
    /// The source: `document` unless given. Documents from the web, mail or a webhook are quarantined.
    #[serde(default = "document")]
    pub source: SourceKind,
    /// The exact source, such as an address: at most 500 characters. It can be erased.
    #[serde(default)]
    #[schemars(length(max = 500), extend("x-erasable" = true))]
    pub reference: String,
    /// The accepted document that it is to supersede.
    pub supersedes: Option<String>,
    /// When it expires.
    pub expires_at: Option<Time>,
}

const fn document() -> SourceKind {
    SourceKind::Document
}

/// Upload a document.
pub enum Upload {}

impl Change for Upload {
    const SPEC: Spec = Spec {
        name: "knowledge.upload",
        doc: "Upload a document: text, Markdown, HTML, CSV, Word (.docx) or, where the server is built so, PDF. It is read and \
              indexed at once; its passages can be recalled once somebody else has accepted it.",
        scope: Reach::Full,
        route: post("/knowledge/documents").created().large().slow(),
        about: &[&COMPANY, &ACTOR, &TEAM],
        events: &[KnowledgeProposed::KIND, KnowledgeQuarantined::KIND, ContentKept::KIND, DocumentIndexed::KIND],
    };
    const SAYS: &'static str = "uploads a document[ for {scope}]";
    type Input = NewDocument;
    type Output = ShownKnowledge;

    fn target(input: &NewDocument, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(whom(input.scope.as_ref(), read))
    }

    fn prepare(input: &NewDocument, read: &Reader<'_>) -> Result<(), Stop> {
        is_named(input)?;
        // Checked before the file is parsed.
        is_not_too_many(&read.caller().actor(), read)?;
        read.build_cache().put(&key(input), unfolded(input)?);
        Ok(())
    }

    fn run(permit: Permit<Self>, input: NewDocument, draft: &mut Draft<'_>) -> Result<ShownKnowledge, Stop> {
        is_named(&input)?;
        let Unfolded { found, text, bounds } = match draft.read().build_cache().get::<Unfolded>(&key(&input)) {
            Some(prepared) => Unfolded::clone(&prepared),
            None => unfolded(&input)?,
        };
        let NewDocument { name, content_type, topics, scope, source, reference, supersedes, expires_at, .. } = input;
        let new = NewKnowledge {
            statement: name,
            kind: KnowledgeKind::Document,
            topics,
            scope,
            source,
            reference,
            confidence: None,
            supersedes,
            expires_at,
        };
        let by = (permit.actor(), permit.now());
        is_admitted(&by, &new, draft.read())?;
        let looked = looked_at(&new, draft.read())?.and(found);
        let (team, person) = new.whom();
        let shown = recorded(by, new, looked, draft)?;
        let id = Id::stored(&shown.id);
        let (bytes, chunks) = (text.len() as u32, bounds.len() as u32);
        let kept = Map::from_iter([("text".to_owned(), Value::from(text))]);
        draft.record(ContentKept { id: id.clone(), part: PART.into(), kept })?;
        draft.record(DocumentIndexed {
            id,
            proposer: shown.proposed_by.clone(),
            team,
            person,
            origin: shown.origin,
            status: shown.status,
            content_type,
            bytes,
            chunks,
            bounds,
        })?;
        Ok(ShownKnowledge { document: Some(ShownDocument { content_type, bytes, chunks }), ..shown })
    }
}

fn is_named(input: &NewDocument) -> Result<(), Stop> {
    let name = &input.name;
    if is_blank(name) || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(Refusal::field("name", format!("must have 1 to {LONGEST_NAME} characters, in one line")).into());
    }
    Ok(())
}

/// A parsed file, which takes a while to produce.
#[derive(Clone)]
struct Unfolded {
    /// What looks suspicious in it.
    found: Vec<String>,
    text: String,
    bounds: Vec<(u32, u32)>,
}

fn unfolded(input: &NewDocument) -> Result<Unfolded, Stop> {
    let raw = raw(input)?;
    let (found, text) = (scan::of_text(&raw), extract::clean(&raw));
    let bounds = chunks::bounds(&text);
    Ok(Unfolded { found, text, bounds })
}

/// Returns the cache key of exactly this file, whoever uploads it.
fn key(input: &NewDocument) -> String {
    let [text, packed] = [&input.text, &input.content_base64].map(|part| part.as_deref().unwrap_or_default());
    let hash = Sha256::new().chain_update(text.len().to_le_bytes()).chain_update(text).chain_update(packed).finalize();
    format!("document {} {}", input.content_type.name(), hex::encode(hash))
}

/// Returns a file's text before it is cleaned.
fn raw(input: &NewDocument) -> Result<String, Stop> {
    if let (DocumentType::Pdf, Some(why)) = (input.content_type, pdf::UNREAD) {
        return Err(Refusal::field("content_type", why).into());
    }
    let (field, bytes) = match (&input.text, &input.content_base64) {
        (Some(_), None) if !input.content_type.is_text() => {
            return Err(Refusal::field("content_base64", "must contain the file, which is not text").into());
        }
        (Some(text), None) => ("text", text.clone().into_bytes()),
        (None, Some(packed)) => {
            let wrong = |error| Refusal::field("content_base64", format!("is not Base64: {error}"));
            ("content_base64", STANDARD.decode(packed).map_err(wrong)?)
        }
        _ => return Err(Refusal::field("text", "give either `text` or `content_base64`").into()),
    };
    if bytes.len() > MOST_BYTES {
        return Err(Refusal::field(field, format!("is larger than {MOST_BYTES} bytes")).into());
    }
    extract::text(input.content_type, &bytes).map_err(|why| Refusal::field(field, why).into())
}
