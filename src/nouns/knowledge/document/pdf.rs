//! The text of a PDF. Nothing bounds how long and with how much memory a PDF is read, so a process of its own does it: this
//! program again, which limits itself before it looks at a byte (`pdf::limited`). Whatever becomes of it, this process goes on.

#[cfg(feature = "pdf")]
mod asked;
#[cfg(feature = "pdf")]
pub mod limited;

#[cfg(feature = "pdf")]
pub(super) use asked::text;

/// Why this build reads no PDF.
#[cfg(not(feature = "pdf"))]
pub(super) const UNREAD: Option<&str> =
    Some("this build of ok reads no PDF; one that does is built with `cargo build --release --features pdf`");
#[cfg(feature = "pdf")]
pub(super) const UNREAD: Option<&str> = None;

#[cfg(not(feature = "pdf"))]
pub(super) fn text(_: &[u8]) -> Result<String, String> {
    Err(UNREAD.unwrap_or_default().to_owned())
}
