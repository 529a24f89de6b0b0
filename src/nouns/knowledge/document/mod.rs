//! Documents in what is known: a text with its passages. A document is an entry of knowledge, so it is accepted, held apart,
//! retracted and read like any; here is only what it has besides.

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
