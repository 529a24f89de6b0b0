//! What separates the cells of a table in CSV.

use std::fmt;

/// The separator of a table in CSV: a comma, or a semicolon or a tab if the line of its names has more of these.
/// Spreadsheets write semicolons where numbers have a decimal comma. Text in which a cell is quoted wrongly is none: readers
/// of tables guess what is meant.
pub fn separator(text: &str) -> Result<u8, Misquoted> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let names = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // Every second piece stands in quotation marks.
    let count = |byte: u8| names.split('"').step_by(2).flat_map(str::bytes).filter(|one| *one == byte).count();
    let more = [b';', b'\t'].into_iter().filter(|other| count(*other) > count(b','));
    let separator = more.max_by_key(|other| count(*other)).unwrap_or(b',');
    misquoted(text, separator).map_or(Ok(separator), Err)
}

/// The line of a quotation mark that cannot be one.
#[derive(Debug, PartialEq, Eq)]
pub enum Misquoted {
    /// Nothing closes it: its cell would take in all that follows.
    Unclosed(usize),
    /// It closes its cell, and the cell goes on.
    Followed(usize),
}

impl fmt::Display for Misquoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misquoted::Unclosed(line) => {
                write!(f, "line {line}: a cell opens with a quotation mark that nothing closes")
            }
            Misquoted::Followed(line) => {
                write!(
                    f,
                    "line {line}: a cell goes on after its closing quotation mark; a quotation mark within the cell is written twice"
                )
            }
        }
    }
}

/// Where in a cell something stands.
#[derive(Clone, Copy)]
enum At {
    Begin,
    Plain,
    /// Within quotation marks, opened in this line.
    Quoted(usize),
    /// Behind the closing one.
    Closed,
}

/// A cell opens with a quotation mark only at its beginning, and holds one if that is doubled (RFC 4180).
fn misquoted(text: &str, separator: u8) -> Option<Misquoted> {
    let (mut line, mut at) = (1, At::Begin);
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        at = match (at, byte) {
            (At::Quoted(_), b'"') if bytes.next_if_eq(&b'"').is_none() => At::Closed,
            (At::Quoted(_), _) => at,
            (_, b'\n' | b'\r') => At::Begin,
            (_, byte) if byte == separator => At::Begin,
            (At::Begin, b'"') => At::Quoted(line),
            (At::Closed, _) => return Some(Misquoted::Followed(line)),
            (At::Begin | At::Plain, _) => At::Plain,
        };
        line += usize::from(byte == b'\n');
    }
    if let At::Quoted(line) = at { Some(Misquoted::Unclosed(line)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::{Misquoted, separator};

    #[test]
    fn a_quotation_mark_that_cannot_be_one_has_a_line() {
        assert_eq!(separator("a,b\n1,\"open\n2,x\n"), Err(Misquoted::Unclosed(2)));
        assert_eq!(separator("\u{feff}\"a\"\"\n"), Err(Misquoted::Unclosed(1)));
        assert_eq!(separator("a,b\n1,\"x\"y\n"), Err(Misquoted::Followed(2)));
        assert_eq!(separator("a;b\n\"x\";\"y\"z\n"), Err(Misquoted::Followed(2)));
        assert_eq!(separator("a,b\n1,\"5\" pipe\n"), Err(Misquoted::Followed(2)));
        assert_eq!(separator("a;b\n\"x\" ;\"y\"\n"), Err(Misquoted::Followed(2)));
        assert_eq!(separator("a;b\r\n\"x\";\"y\"\r\n"), Ok(b';'));
        for closed in ["", "a,\"b\nc\"\n", "\"say \"\"hi\"\"\",x\n", "5\" pipe,x\n", "\"\",\"\"\n"] {
            assert_eq!(separator(closed), Ok(b','), "{closed}");
        }
    }

    #[test]
    fn the_line_of_names_tells_what_separates_cells() {
        let of = |text: &str| separator(text).map(char::from);
        let texts = ["Name,Price\nA;B;C,2", "Kunde;Preis\nAcme;12,50", "a\tb,c\td", "name", ""];
        assert_eq!(texts.map(of), [Ok(','), Ok(';'), Ok('\t'), Ok(','), Ok(',')]);
        assert_eq!(of("\n\"a;b;c\",d\n"), Ok(','));
        assert_eq!(of("\"Preis, netto\";Kunde\n"), Ok(';'));
    }
}
