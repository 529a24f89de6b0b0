//! Documents of PDF, which another process reads: so the real binary.

use serde_json::Value;

use super::{Place, Ran};

/// A file of these objects, numbered from 1.
fn file(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let (mut file, mut places) = (b"%PDF-1.7\n".to_vec(), Vec::new());
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n", number + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let (start, size) = (file.len(), objects.len() + 1);
    let entries: String = places.iter().map(|place| format!("{place:010} 00000 n \n")).collect();
    let end = format!(
        "xref\n0 {size}\n0000000000 65535 f \n{entries}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\n\
         startxref\n{start}\n%%EOF\n"
    );
    file.extend(end.bytes());
    file
}

/// A page that shows what `stream` says.
fn page(filter: &str, stream: &[u8]) -> Vec<Vec<u8>> {
    let mut content = format!("<< /Length {} {filter} >>\nstream\n", stream.len()).into_bytes();
    content.extend(stream);
    content.extend(b"\nendstream");
    let page = "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>";
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 200 200] >>".to_vec(),
        page.into(),
        content,
        font.into(),
    ]
}

fn saying(text: &str) -> Vec<Vec<u8>> {
    page("", format!("BT /F1 12 Tf 10 100 Td ({text}) Tj ET").as_bytes())
}

fn upload(place: &Place, bytes: &[u8]) -> Ran {
    std::fs::write(place.path().join("x.pdf"), bytes).unwrap();
    place.ana("--format json brain upload x.pdf")
}

#[test]
fn the_text_of_a_pdf_is_read_and_cut_into_passages() {
    let place = Place::with_company();
    let read = upload(&place, &file(&saying("A refund is paid within 30 days."), ""));
    assert_eq!(read.code, 0, "{read}");
    let entry: Value = serde_json::from_str(&read.stdout).unwrap();
    assert_eq!(
        (&entry["document"]["content_type"], &entry["document"]["chunks"]),
        (&"application/pdf".into(), &1.into())
    );
    let shown = place.ana(&format!("brain text {}", entry["id"].as_str().unwrap()));
    assert_eq!((shown.code, shown.stdout.trim()), (0, "A refund is paid within 30 days."), "{shown}");
}

#[test]
fn a_pdf_that_cannot_be_read_is_refused_with_the_reason_whatever_it_does_to_its_reader() {
    let place = Place::with_company();
    let key = "00".repeat(32);
    let mut encrypted = saying("secret");
    encrypted.push(format!("<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <{key}> /U <{key}> >>").into_bytes());
    // Of two bytes, 128.
    let bomb = page("/Filter /RunLengthDecode", &[0x81, b' '].repeat(200_000));
    let mut hog = saying("hog");
    hog.push([b"[".as_slice(), &b"1 ".repeat(4_800_000), b"]"].concat());
    let mut deep = saying("deep");
    deep.push([b"[".repeat(1_000_000), b"]".repeat(1_000_000)].concat());
    let mut circle = saying("round");
    circle[1] = b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>".to_vec();
    for (bytes, told) in [
        (file(&encrypted, "/Encrypt 6 0 R /ID [<00> <00>]"), "is encrypted: save it without a password"),
        (b"%PDF-1.7\nnothing that could be read".to_vec(), "is damaged, or no PDF"),
        (b"no PDF at all".to_vec(), "is damaged, or no PDF"),
        (Vec::new(), "is damaged, or no PDF"),
        (file(&saying(""), ""), "holds no text"),
        (file(&circle, ""), "holds no text"),
        (file(&bomb, ""), "unpacks to more than 16777216 bytes"),
        (file(&hog, ""), "takes more memory or time to read than a document may, or is damaged"),
    ] {
        let refused = upload(&place, &bytes);
        assert_eq!(refused.code, 1, "{told}: {refused}");
        assert!(refused.stderr.contains("content_base64") && refused.stderr.contains(told), "{told}: {refused}");
    }
    // Its memory is enough each time.
    for _ in 0..10 {
        let refused = upload(&place, &file(&bomb, ""));
        assert!(refused.stderr.contains("unpacks to more than 16777216 bytes"), "{refused}");
    }
    // What nobody refers to is nobody's business, as long as it can be passed over.
    let passed = upload(&place, &file(&deep, ""));
    assert!([0, 1].contains(&passed.code), "{passed}");
    assert_eq!(place.ana("audit verify").code, 0, "the company is as it was");
}
