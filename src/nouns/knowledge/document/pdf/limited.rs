//! The process that reads one PDF: it limits itself, and exits with what it found. Nothing of it outlives the file.

use std::io::Read;

use lopdf::{DecompressError, Document, Error, LoadOptions};
use nix::sys::resource::{Resource, setrlimit};

use crate::knowledge::document::bounded::is_bounded;

/// The argument with which the program runs as that process.
pub const ARGUMENT: &str = "read-one-pdf";

/// The maximum bytes of memory; below, the seconds of CPU time.
const MOST_MEMORY: u64 = 1 << 30;
const MOST_SECONDS: u64 = 20;
/// The maximum bytes to which one part of the file, or the content of a page, unpacks.
const MOST_BYTES: usize = 16 << 20;

/// Extracts the text of a PDF, in a process that does nothing else.
pub fn text(mut file: impl Read) -> Result<String, String> {
    limit().map_err(|error| format!("cannot be read here: its reader cannot be limited: {error}"))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    let options = LoadOptions { max_decompressed_size: Some(MOST_BYTES), ..LoadOptions::default() };
    let document = Document::load_mem_with_options(&bytes, options).map_err(|error| wrong(&error))?;
    if document.is_encrypted() || document.was_encrypted() {
        return Err(ENCRYPTED.into());
    }
    let (mut text, mut unread) = (String::new(), None);
    for number in document.get_pages().into_keys() {
        for part in document.extract_text_chunks_with_limit(&[number], MOST_BYTES) {
            match part {
                Ok(said) => text.push_str(&said),
                Err(Error::Decompress(error)) => return Err(wrong(&Error::Decompress(error))),
                // Text in fonts without a usable encoding is left out, as long as some text can be read.
                Err(error) => unread = unread.or(Some(wrong(&error))),
            }
        }
        text.push_str("\n\n");
        is_bounded(&text)?;
    }
    match unread {
        Some(why) if text.trim().is_empty() => Err(why),
        _ => Ok(text),
    }
}

const ENCRYPTED: &str = "is encrypted: save it without a password";

fn wrong(error: &Error) -> String {
    match error {
        Error::InvalidPassword | Error::Decryption(_) => ENCRYPTED.into(),
        Error::Decompress(DecompressError::MemoryLimitExceeded { limit }) => {
            format!("unpacks to more than {limit} bytes")
        }
        error => format!("is damaged, or no PDF: {error}"),
    }
}

fn limit() -> nix::Result<()> {
    setrlimit(Resource::RLIMIT_AS, MOST_MEMORY, MOST_MEMORY)?;
    setrlimit(Resource::RLIMIT_CPU, MOST_SECONDS, MOST_SECONDS)?;
    // No core dump may contain the document.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)
}
