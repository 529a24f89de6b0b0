//! Extracts the text of a file. Files come from anywhere: one that is no text, or too large, is reported and not stored.

use std::io;

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

use super::bounded::is_bounded;
use super::{docx, pdf};
use types::knowledge::DocumentType;
use types::separator::separator;

/// Extracts the text of a file, or returns what is wrong with it.
pub fn text(kind: DocumentType, bytes: &[u8]) -> Result<String, String> {
    let raw = match kind {
        DocumentType::Docx => docx::text(bytes)?,
        DocumentType::Pdf => pdf::text(bytes)?,
        DocumentType::Text | DocumentType::Markdown => utf8(bytes)?.to_owned(),
        DocumentType::Html => html(utf8(bytes)?)?,
        DocumentType::Csv => csv(utf8(bytes)?)?,
    };
    is_bounded(&raw)?;
    match raw.chars().any(char::is_alphanumeric) {
        true => Ok(raw),
        false => Err("holds no text".into()),
    }
}

/// Extracts and cleans the text of a file that is not stored, or returns what is wrong with it.
pub fn text_of(kind: DocumentType, bytes: &[u8]) -> Result<String, String> {
    text(kind, bytes).map(|raw| clean(&raw))
}

/// Cleans a text: at most one blank line between paragraphs, no control characters but tabs.
pub fn clean(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut blank = 0;
    for line in raw.lines() {
        let line = line.trim_end();
        if line.is_empty() {
            blank += 1;
            continue;
        }
        if !text.is_empty() {
            text.push_str(if blank > 0 { "\n\n" } else { "\n" });
        }
        blank = 0;
        text.extend(line.chars().filter(|c| !c.is_control() || *c == '\t'));
    }
    text
}

fn utf8(bytes: &[u8]) -> Result<&str, String> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| format!("is not UTF-8 from byte {} on", error.valid_up_to()))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Extracts the text of an HTML page without scripts, styles and fallbacks for readers without scripts.
fn html(page: &str) -> Result<String, String> {
    const DROPPED: [&[u8]; 7] = [b"script", b"style", b"template", b"noscript", b"iframe", b"object", b"svg"];
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let (mut text, mut within) = (String::new(), None::<Vec<u8>>);
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) if within.is_none() && !is_empty(&tag) && DROPPED.contains(&tag.name.as_slice()) => {
                within = Some(tag.name.0);
            }
            Token::EndTag(tag) if within.as_ref().is_some_and(|name| *name == tag.name.0) => within = None,
            _ if within.is_some() => {}
            Token::StartTag(tag) => text.push_str(before(&tag.name)),
            Token::EndTag(tag) => text.push_str(after(&tag.name)),
            Token::String(said) => words(&String::from_utf8_lossy(&said), &mut text),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        is_bounded(&text)?;
    }
    Ok(text)
}

/// Checks whether an element is closed at once: of the dropped ones only `svg` can be; a self-closing script stays open.
fn is_empty(tag: &StartTag<()>) -> bool {
    tag.self_closing && tag.name.as_slice() == b"svg"
}

/// Collapses whitespace: line breaks in a page's source are not part of its text.
fn words(said: &str, text: &mut String) {
    let space = |c: Option<char>| c.is_some_and(char::is_whitespace);
    if space(said.chars().next()) && !space(text.chars().next_back()) {
        text.push(' ');
    }
    for (number, word) in said.split_whitespace().enumerate() {
        if number > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
    if space(said.chars().next_back()) && !space(text.chars().next_back()) {
        text.push(' ');
    }
}

fn before(tag: &[u8]) -> &'static str {
    match tag {
        b"h1" => "\n\n# ",
        b"h2" => "\n\n## ",
        b"h3" | b"h4" | b"h5" | b"h6" => "\n\n### ",
        b"li" => "\n- ",
        b"td" | b"th" => "",
        b"br" | b"tr" | b"dd" | b"dt" => "\n",
        _ => after(tag),
    }
}

fn after(tag: &[u8]) -> &'static str {
    match tag {
        b"p" | b"div" | b"section" | b"article" | b"table" | b"ul" | b"ol" | b"blockquote" | b"pre" | b"title"
        | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"header" | b"footer" | b"main" | b"aside" => "\n\n",
        b"td" | b"th" => "\t",
        _ => "",
    }
}

/// Formats each row with its column names, so that it can be understood alone.
fn csv(file: &str) -> Result<String, String> {
    let separator = separator(file).map_err(|misquoted| format!("is not CSV: {misquoted}"))?;
    let mut rows = csv::ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(io::Cursor::new(file));
    let wrong = |error: csv::Error| format!("is not CSV: {error}");
    let names = rows.headers().map_err(wrong)?.clone();
    let mut text = names.iter().collect::<Vec<_>>().join(", ");
    for row in rows.records() {
        text.push_str("\n\n");
        for (number, value) in row.map_err(wrong)?.iter().enumerate().filter(|(_, value)| !value.is_empty()) {
            if let Some(name) = names.get(number).filter(|name| !name.is_empty()) {
                text.push_str(name);
                text.push_str(": ");
            }
            text.push_str(value);
            text.push_str("; ");
        }
        is_bounded(&text)?;
    }
    Ok(text)
}
