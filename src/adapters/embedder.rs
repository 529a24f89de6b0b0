//! Whoever tells what texts mean: a model of a provider that makes vectors of them (embeddings).

use super::Unread;
use types::vector::Vector;

/// The most texts that are asked about at once.
pub const MOST_TEXTS: usize = 32;

/// A model that makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// Which it is, such as `openai/text-embedding-3-small`: vectors of two models are not compared.
    fn model(&self) -> &str;
    /// Whether it is left alone for now, because it did not answer: until that is over, nothing is sent to it.
    fn rests(&self) -> bool {
        false
    }
    /// The vector of each text, in their order, all of as many dimensions. It blocks, for no longer than its time limit.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, Unread>;
}
