//! The published checkpoints, met in order while the tree grows.

use super::finding::Findings;
use super::note::Note;
use super::source::Signed;
use super::trust::Trust;

/// The published checkpoints that are rightly signed, each waiting for the tree to reach its size.
pub struct Marks<P> {
    rest: P,
    next: Option<Note>,
    last: Option<u64>,
}

impl<P: Iterator<Item = Signed>> Marks<P> {
    pub fn new(rest: P) -> Marks<P> {
        Marks { rest, next: None, last: None }
    }

    /// The checkpoint of this size, if one was published.
    pub fn at(&mut self, size: u64, trust: &Trust, findings: &mut Findings) -> Option<Note> {
        while self.next.as_ref().is_none_or(|note| note.size < size) {
            self.next = Some(self.pull(trust, findings)?);
        }
        self.next.take_if(|note| note.size == size)
    }

    /// Reports those that the tree never reached.
    pub fn finish(&mut self, size: u64, trust: &Trust, findings: &mut Findings) {
        while let Some(note) = self.next.take().or_else(|| self.pull(trust, findings)) {
            let message = format!("a published checkpoint covers {} entries, but the log has {size}", note.size);
            findings.add_leaf(size + 1, message);
        }
    }

    /// The next one in the store that stands up, and is larger than the one before.
    fn pull(&mut self, trust: &Trust, findings: &mut Findings) -> Option<Note> {
        for signed in self.rest.by_ref() {
            let at = signed.size.map(|size| format!(" at {size} entries")).unwrap_or_default();
            let flawless = |note: Note| signed.flaw.map_or(Ok(note), Err);
            match trust.published(signed.note).and_then(flawless) {
                Err(why) => findings.add(None, format!("the checkpoint published{at} is bad: {why}")),
                Ok(note) if self.last.is_some_and(|last| note.size <= last) => {
                    findings.add(None, format!("the checkpoint published{at} is out of order"));
                }
                Ok(note) => {
                    self.last = Some(note.size);
                    return Some(note);
                }
            }
        }
        None
    }
}
