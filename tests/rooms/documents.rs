//! The text of a file.

use ok::nouns::knowledge::document::extract::{clean, text};
use ok::types::knowledge::DocumentType;

fn read(kind: DocumentType, file: &str) -> String {
    clean(&text(kind, file.as_bytes()).unwrap())
}

#[test]
fn a_page_is_read_without_what_runs_or_styles() {
    let page = "<!doctype html><html><head><title>Rules</title><style>p{x:y}</style><script>let a = '<p>no</p>';</script>\
                </head><body><h1>Refunds &amp; more</h1><p>Within\n  30 <b>days</b>.</p><!-- hidden --><ul><li>one<li>two</ul>\
                <svg><text>drawn</text></svg><table><tr><td>a</td><td>b</td></tr></table></body>";
    assert_eq!(read(DocumentType::Html, page), "Rules\n\n# Refunds & more\n\nWithin 30 days.\n\n- one\n- two\n\na\tb");
    assert_eq!(read(DocumentType::Html, "<p>open <script>never closed"), "open");
}

#[test]
fn rows_carry_the_names_of_their_columns() {
    let file = "name,city\nAcme,\"Ulm,\nold town\"\nBeta,,more\n";
    assert_eq!(read(DocumentType::Csv, file), "name, city\n\nname: Acme; city: Ulm,\nold town;\n\nname: Beta; more;");
}

#[test]
fn what_is_no_text_or_too_much_is_told() {
    let wrong = |kind, bytes: &[u8]| text(kind, bytes).unwrap_err();
    assert_eq!(wrong(DocumentType::Text, b"ab\xff\xfe"), "is not UTF-8 from byte 2 on");
    assert_eq!(wrong(DocumentType::Markdown, b" \n--- \n"), "holds no text");
    assert_eq!(wrong(DocumentType::Html, b"<script>alert(1)</script>"), "holds no text");
    let long = "long ".repeat(300_000);
    assert_eq!(wrong(DocumentType::Text, long.as_bytes()), "contains more than 1048576 bytes of text: split it");
    let wide = format!("{}\n{}", "n".repeat(100_000), "x\n".repeat(100));
    assert!(wrong(DocumentType::Csv, wide.as_bytes()).starts_with("contains more than"));
}

#[test]
fn filling_and_control_characters_are_dropped() {
    assert_eq!(clean("\u{1}a \r\n\r\n\r\n\r\nb\0c\td\n"), "a\n\nbc\td");
}
