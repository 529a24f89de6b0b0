//! What separates the cells of a table in CSV.

/// The separator of a table in CSV: a comma, or a semicolon or a tab if the line of its names has more of these.
/// Spreadsheets write semicolons where numbers have a decimal comma. Err: the line of a quotation mark that nothing
/// closes, whose cell would take in all that follows.
pub fn separator(text: &str) -> Result<u8, usize> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let names = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // Every second piece stands in quotation marks.
    let count = |byte: u8| names.split('"').step_by(2).flat_map(str::bytes).filter(|one| *one == byte).count();
    let more = [b';', b'\t'].into_iter().filter(|other| count(*other) > count(b','));
    let separator = more.max_by_key(|other| count(*other)).unwrap_or(b',');
    unclosed(text, separator).map_or(Ok(separator), Err)
}

/// A cell opens with a quotation mark only at its beginning, and holds one if that is doubled (RFC 4180).
fn unclosed(text: &str, separator: u8) -> Option<usize> {
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
        begins = opened.is_none() && (byte == separator || byte == b'\n' || byte == b'\r');
    }
    opened
}

#[cfg(test)]
mod tests {
    use super::separator;

    #[test]
    fn a_quotation_mark_that_nothing_closes_has_a_line() {
        assert_eq!(separator("a,b\n1,\"open\n2,x\n"), Err(2));
        assert_eq!(separator("\u{feff}\"a\"\"\n"), Err(1));
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
