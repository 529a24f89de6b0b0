//! Pages that agents read: each call makes one request to a public address (`background::egress`) and returns the page
//! as text.

use serde_json::json;
use tokio::task::spawn_blocking;

use super::egress::{Client, Got, Missed};
use crate::nouns::knowledge::text_of;
use crate::nouns::run::{Came, WebPage};
use crate::types::egress::Egress;
use crate::types::knowledge::DocumentType;

/// The most bytes of a text that are answered at a time.
const AT_A_TIME: usize = 32 << 10;

/// Reads pages.
pub struct Web(Client);

impl Web {
    pub fn new(egress: Egress) -> Result<Web, String> {
        Client::new(egress).map(Web)
    }

    pub(super) async fn read(&self, page: &WebPage) -> Came {
        let at = format!("{}{}", page.host.as_str(), page.path.as_str());
        match self.0.get(&at).await {
            Ok(got) => answer(got, page.from.unwrap_or_default() as usize).await,
            Err(Missed::Refused(why)) => Came::Failed(why),
            Err(Missed::Silent(why)) => Came::Unknown(why),
        }
    }
}

async fn answer(got: Got, from: usize) -> Came {
    let Got { url, kind, bytes } = got;
    let Some(format) = format_of(&kind) else {
        return Came::Failed(format!("it answers `{kind}`, which is not read as text"));
    };
    // A page of a megabyte takes a while.
    let text = spawn_blocking(move || text_of(format, &bytes)).await;
    let text = match text.unwrap_or_else(|_| Err("cannot be read".into())) {
        Ok(text) => text,
        Err(why) => return Came::Failed(format!("what it answers {why}")),
    };
    let begin = text.ceil_char_boundary(from.min(text.len()));
    let end = text.floor_char_boundary((begin + AT_A_TIME).min(text.len()));
    let part = text.get(begin..end).unwrap_or_default();
    let mut answer = json!({ "url": url, "text": part, "bytes": text.len() });
    if let Some(answer) = answer.as_object_mut().filter(|_| end < text.len()) {
        answer.insert("next".into(), end.into());
    }
    Came::Done(answer)
}

/// How an answer is read, by its media type (RFC 9110, 8.3); none where it is no text.
fn format_of(kind: &str) -> Option<DocumentType> {
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" => Some(DocumentType::Html),
        "text/csv" => Some(DocumentType::Csv),
        "application/json" | "application/xml" => Some(DocumentType::Text),
        other if other.starts_with("text/") || other.ends_with("+json") || other.ends_with("+xml") => {
            Some(DocumentType::Text)
        }
        _ => None,
    }
}
