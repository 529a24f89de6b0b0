//! Extracts the text of a PDF. The time and memory for parsing a PDF are unbounded, so a separate process does it: this program
//! again, which limits itself before it reads a byte (`pdf::limited`). Whatever happens to it, this process survives.

#[cfg(feature = "pdf")]
mod asked;
#[cfg(feature = "pdf")]
pub mod limited;

#[cfg(feature = "pdf")]
pub(super) use asked::text;

/// Why this build cannot read PDFs.
#[cfg(not(feature = "pdf"))]
pub(super) const UNREAD: Option<&str> =
    Some("this build of ok reads no PDF; one that does is built with `cargo build --release --features pdf`");
#[cfg(feature = "pdf")]
pub(super) const UNREAD: Option<&str> = None;

#[cfg(not(feature = "pdf"))]
pub(super) fn text(_: &[u8]) -> Result<String, String> {
    Err(UNREAD.unwrap_or_default().to_owned())
}
