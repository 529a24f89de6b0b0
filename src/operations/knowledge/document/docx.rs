//! The text of a document of Word: of its one part that says something (`word/document.xml`), no more of it than a text can be.
//! Nothing else of the archive is unpacked, and entities are never expanded.

use std::io::{Cursor, Read as _};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;
use zip::result::ZipError;

use super::bounded::is_bounded;

/// The part that is read.
const PART: &str = "word/document.xml";
/// The most files of an archive, bytes of its one part, and how many times its size in the archive that may be.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 16 << 20;
const MOST_TIMES: u64 = 100;
/// What begins an encrypted document, or one of the form before (a compound file).
const COMPOUND: [u8; 4] = [0xd0, 0xcf, 0x11, 0xe0];

pub(super) fn text(bytes: &[u8]) -> Result<String, String> {
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

/// What the beginning of a part of a text stands for.
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
        ZipError::FileNotFound => format!("is no document of Word: it has no `{PART}`"),
        ZipError::UnsupportedArchive(why) => format!("cannot be read: {why}"),
        other => format!("is no document of Word: {other}"),
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(none)?;
    if archive.len() > MOST_FILES {
        return Err(format!("holds more than {MOST_FILES} files"));
    }
    let part = archive.by_name(PART).map_err(none)?;
    // What is counted is what comes out, not what the archive says.
    let most = MOST_BYTES.min(part.compressed_size().saturating_mul(MOST_TIMES).max(1 << 20));
    let mut xml = Vec::new();
    part.take(most + 1).read_to_end(&mut xml).map_err(|error| format!("is damaged: {error}"))?;
    if xml.len() as u64 > most {
        return Err(format!("unpacks to more than {most} bytes"));
    }
    String::from_utf8(xml).map_err(|_| "is damaged: its text is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn packed(name: &str, xml: &[u8]) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(xml).unwrap();
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn paragraphs_headings_and_signs_are_read_and_what_was_deleted_is_not() {
        let xml = br#"<?xml version="1.0"?><w:document xmlns:w="x"><w:body>
            <w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Refunds</w:t></w:r></w:p>
            <w:p><w:r><w:t xml:space="preserve">Food &amp; dr&#105;nk: </w:t><w:tab/><w:t>30 days</w:t></w:r>
            <w:del><w:r><w:delText>60 days</w:delText></w:r></w:del></w:p></w:body></w:document>"#;
        assert_eq!(text(&packed(PART, xml)).unwrap(), "# Refunds\n\nFood & drink: \t30 days\n\n");
    }

    #[test]
    fn entities_are_not_expanded() {
        let xml = br#"<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><w:t>said &b;</w:t>"#;
        assert_eq!(text(&packed(PART, xml)).unwrap(), "said ");
    }

    #[test]
    fn what_is_no_document_or_a_bomb_is_told() {
        let wrong = |bytes: &[u8]| text(bytes).unwrap_err();
        assert!(wrong(b"PK\x03\x04 not an archive").starts_with("is no document of Word"));
        assert!(wrong(b"").starts_with("is no document of Word"));
        assert_eq!(wrong(&packed("other.xml", b"<a/>")), "is no document of Word: it has no `word/document.xml`");
        assert!(wrong(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1").starts_with("is encrypted"));
        let bomb = packed(PART, &vec![b' '; 40 << 20]);
        assert!(bomb.len() < 1 << 20, "{}", bomb.len());
        assert!(wrong(&bomb).starts_with("unpacks to more than"), "{}", wrong(&bomb));
        let mut broken = packed(PART, b"<w:t>some words that are long enough to be packed, packed, packed</w:t>");
        let middle = broken.len() / 3;
        broken.get_mut(middle..middle + 4).unwrap().fill(0xff);
        assert!(text(&broken).is_err());
        assert!(wrong(&packed(PART, b"<w:p><w:t>open</w:p>")).starts_with("is damaged"));
        assert!(wrong(&packed(PART, b"<w:t>\xff\xfe</w:t>")).starts_with("is damaged"));
    }
}
