//! Parts of rooms that nothing else has to be there for: texts of documents, figures, tables. In here, and not beside what they
//! test, because a crate with tests of its own is compiled twice.

mod documents;
mod passages;
mod policy;
mod statements;
mod tables;
mod word;
