//! Extracts the text of a Word document from its one part with text (`word/document.xml`), up to the limit of a text. Nothing
//! else of the archive is unpacked, and entities are never expanded.

use std::io::{Cursor, Read as _};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;
use zip::result::ZipError;

use super::bounded::is_bounded;

/// The part that is read.
pub const PART: &str = "word/document.xml";
/// The maximum number of files in an archive; below, the maximum bytes of its one part, and its compression ratio.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 16 << 20;
const MOST_TIMES: u64 = 100;
/// The first bytes of a compound file: an encrypted document, or one of the older format.
const COMPOUND: [u8; 4] = [0xd0, 0xcf, 0x11, 0xe0];

pub fn text(bytes: &[u8]) -> Result<String, String> {
    if bytes.starts_with(&COMPOUND) {
        return Err("is encrypted or of an older form of Word: save it as .docx without a password".into());
    }
    let xml = unpacked(bytes)?;
    let mut reader = Reader::from_str(&xml);
    let (mut text, mut is_said) = (String::new(), false);
    loop {
        match reader.read_event().map_err(|error| format!("is damaged: {error}"))? {
            Event::Eof => return Ok(text),
            Event::Start(tag) if tag.local_name().as_ref() == b"t" => is_said = true,
            Event::Start(tag) | Event::Empty(tag) => text.push_str(begun(&tag)),
            Event::End(tag) => match tag.local_name().as_ref() {
                b"t" => is_said = false,
                b"p" => text.push_str("\n\n"),
                b"tc" => text.push('\t'),
                _ => {}
            },
            Event::Text(said) if is_said => {
                text.push_str(&said.decode().map_err(|error| format!("is damaged: {error}"))?);
            }
            Event::GeneralRef(name) if is_said => {
                let sign = name.resolve_char_ref().map_err(|error| format!("is damaged: {error}"))?;
                let known = name.decode().ok().and_then(|name| resolve_predefined_entity(&name));
                text.extend(sign);
                text.push_str(known.unwrap_or_default());
            }
            _ => {}
        }
        is_bounded(&text)?;
    }
}

/// Returns the text for an opening tag.
fn begun(tag: &BytesStart<'_>) -> &'static str {
    match tag.local_name().as_ref() {
        b"tab" => "\t",
        b"br" | b"cr" => "\n",
        b"pStyle" if is_heading(tag) => "# ",
        _ => "",
    }
}

fn is_heading(tag: &BytesStart<'_>) -> bool {
    let mut styles = tag.attributes().flatten().filter(|of| of.key.local_name().as_ref() == b"val");
    styles.any(|of| of.value.starts_with(b"Heading") || of.value.as_ref() == b"Title")
}

fn unpacked(bytes: &[u8]) -> Result<String, String> {
    let none = |error: ZipError| match error {
        ZipError::FileNotFound => format!("is not a Word document: it has no `{PART}`"),
        ZipError::UnsupportedArchive(why) => format!("cannot be read: {why}"),
        other => format!("is not a Word document: {other}"),
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(none)?;
    if archive.len() > MOST_FILES {
        return Err(format!("contains more than {MOST_FILES} files"));
    }
    let part = archive.by_name(PART).map_err(none)?;
    // Count the bytes unpacked, not those that the archive declares.
    let most = MOST_BYTES.min(part.compressed_size().saturating_mul(MOST_TIMES).max(1 << 20));
    let mut xml = Vec::new();
    part.take(most + 1).read_to_end(&mut xml).map_err(|error| format!("is damaged: {error}"))?;
    if xml.len() as u64 > most {
        return Err(format!("unpacks to more than {most} bytes"));
    }
    String::from_utf8(xml).map_err(|_| "is damaged: its text is not UTF-8".to_owned())
}
