//! Documents of Word.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use ok::nouns::knowledge::document::docx::{PART, text};

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
    assert!(wrong(b"PK\x03\x04 not an archive").starts_with("is not a Word document"));
    assert!(wrong(b"").starts_with("is not a Word document"));
    assert_eq!(wrong(&packed("other.xml", b"<a/>")), "is not a Word document: it has no `word/document.xml`");
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
