//! Documents: knowledge entries with a text and its passages. Like any entry, a document is accepted, quarantined, retracted
//! and read; this module has only what it has besides.

mod bounded;
pub mod chunks;
pub mod docx;
pub mod extract;
mod passages;
pub mod pdf;
mod read;
mod upload;

pub use extract::text_of;
pub use passages::{Passage, passages, readable, shown, with_words};
pub use read::{DocumentText, Read};
pub use upload::{NewDocument, Upload};
