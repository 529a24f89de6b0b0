//! What separates the cells of a row of text.

/// The separator of a table in CSV: a comma, or a semicolon or a tab if the line of its names has more of these. Spreadsheets
/// write semicolons where numbers have a decimal comma.
pub fn delimiter(text: &str) -> u8 {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // Every second piece stands in quotation marks.
    let count = |byte: u8| first.split('"').step_by(2).flat_map(str::bytes).filter(|one| *one == byte).count();
    [b';', b'\t']
        .into_iter()
        .filter(|other| count(*other) > count(b','))
        .max_by_key(|other| count(*other))
        .unwrap_or(b',')
}

/// The line of a quotation mark that opens a cell and that nothing closes: all that follows would be read as this cell. A
/// cell opens with one only at its beginning, and holds one if that is doubled (RFC 4180).
pub fn unclosed(text: &str, delimiter: u8) -> Option<usize> {
    let (mut line, mut opened, mut begins) = (1, None, true);
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match (opened, byte) {
            (Some(_), b'"') if bytes.peek() == Some(&b'"') => drop(bytes.next()),
            (Some(_), b'"') => opened = None,
            (None, b'"') if begins => opened = Some(line),
            _ => {}
        }
        line += usize::from(byte == b'\n');
        begins = opened.is_none() && (byte == delimiter || byte == b'\n' || byte == b'\r');
    }
    opened
}

#[cfg(test)]
mod tests {
    use super::{delimiter, unclosed};

    #[test]
    fn a_quotation_mark_that_nothing_closes_has_a_line() {
        let of = |text: &str| unclosed(text, b',');
        assert_eq!(of("a,b\n1,\"open\n2,x\n"), Some(2));
        assert_eq!(of("\"a\"\"\n"), Some(1));
        for closed in ["", "a,\"b\nc\"\n", "\"say \"\"hi\"\"\",x\n", "5\" pipe,x\n", "\"\",\"\"\n"] {
            assert_eq!(of(closed), None, "{closed}");
        }
    }

    #[test]
    fn the_first_line_tells_what_separates_cells() {
        let of = |text: &str| char::from(delimiter(text));
        assert_eq!(
            ["Name,Price\nA;B;C,2", "Kunde;Preis\nAcme;12,50", "a\tb,c\td", "name", ""].map(of),
            [',', ';', '\t', ',', ',']
        );
        assert_eq!(of("\n\"a;b;c\",d\n"), ',');
        assert_eq!(of("\"Preis, netto\";Kunde\n"), ';');
    }
}
