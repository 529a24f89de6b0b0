//! One request for vectors of texts, in a provider's own form: OpenAI's `POST /embeddings`, Gemini's
//! `POST /models/{model}:batchEmbedContents`, Ollama's `POST /api/embed`. The library that speaks to models knows these forms,
//! too, but reads an answer of any size.

use reqwest::{Client, RequestBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::setup::Key;
use super::wire::{Broke, CUT, NO_FORM, Target};
use crate::background::egress::{Cut, whole};
use crate::types::models::{Embeddings, ProviderKind};
use crate::types::vector::MOST_DIMENSIONS;

/// The most bytes that a provider may take for one value of a vector, and for all else in its answer.
const VALUE: usize = 32;
const FRAME: usize = 64 << 10;
/// The most bytes that are read of an answer with an error status.
const ERROR: usize = 8 << 10;

/// The vectors of texts, in their order.
pub(super) async fn vectors(
    http: &Client,
    target: &Target<'_>,
    of: &Embeddings,
    texts: &[String],
) -> Result<Vec<Vec<f32>>, Broke> {
    let sent = request(http, target, of, texts).send().await;
    let answer = sent.map_err(|error| match error.is_connect() {
        true => target.away(&error),
        false => Broke::Unknown(CUT.into()),
    })?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    if !status.is_success() {
        let body = whole(answer, ERROR).await.unwrap_or_else(|_| Vec::new());
        return Err(target.said(status, &String::from_utf8_lossy(&body), Some(&headers)));
    }
    let most = FRAME + texts.len() * MOST_DIMENSIONS * VALUE;
    let body = whole(answer, most).await.map_err(|cut| match cut {
        Cut::TooLong => Broke::Refused(format!("its answer has more than {most} bytes")),
        Cut::Broken(_) => Broke::Unknown(CUT.into()),
    })?;
    read(target.kind, &body).ok_or_else(|| Broke::Refused(NO_FORM.into()))
}

fn request(http: &Client, target: &Target<'_>, of: &Embeddings, texts: &[String]) -> RequestBuilder {
    let (base, key) = (target.base_url, target.key.map(Key::reveal));
    let (name, dimensions) = (&of.name, of.dimensions);
    let with_dimensions = |mut body: Value, field: &str| {
        if let (Some(dimensions), Some(fields)) = (dimensions, body.as_object_mut()) {
            fields.insert(field.to_owned(), dimensions.into());
        }
        body
    };
    let bearer = |request: RequestBuilder| match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    };
    let plain = with_dimensions(json!({ "model": name, "input": texts }), "dimensions");
    match target.kind {
        ProviderKind::Gemini => {
            let one = |text: &String| {
                let content = json!({ "parts": [{ "text": text }] });
                with_dimensions(
                    json!({ "model": format!("models/{name}"), "content": content }),
                    "outputDimensionality",
                )
            };
            let requests: Vec<Value> = texts.iter().map(one).collect();
            let request = http.post(format!("{base}models/{name}:batchEmbedContents"));
            request.header("x-goog-api-key", key.unwrap_or_default()).json(&json!({ "requests": requests }))
        }
        ProviderKind::Ollama => bearer(http.post(format!("{base}api/embed"))).json(&plain),
        ProviderKind::OpenAi | ProviderKind::Anthropic => bearer(http.post(format!("{base}embeddings"))).json(&plain),
    }
}

#[derive(Deserialize)]
struct OfOpenAi {
    data: Vec<Numbered>,
}

#[derive(Deserialize)]
struct Numbered {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct OfGemini {
    embeddings: Vec<Values>,
}

#[derive(Deserialize)]
struct Values {
    values: Vec<f32>,
}

#[derive(Deserialize)]
struct OfOllama {
    embeddings: Vec<Vec<f32>>,
}

fn read(kind: ProviderKind, body: &[u8]) -> Option<Vec<Vec<f32>>> {
    match kind {
        ProviderKind::Gemini => {
            let answer: OfGemini = crate::types::json::read(body).ok()?;
            Some(answer.embeddings.into_iter().map(|one| one.values).collect())
        }
        ProviderKind::Ollama => crate::types::json::read(body).ok().map(|answer: OfOllama| answer.embeddings),
        ProviderKind::OpenAi | ProviderKind::Anthropic => {
            let mut answer: OfOpenAi = crate::types::json::read(body).ok()?;
            answer.data.sort_by_key(|one| one.index);
            Some(answer.data.into_iter().map(|one| one.embedding).collect())
        }
    }
}
