//! Parts of rooms that nothing else has to be there for: texts of documents, figures, tables. In here, and not beside what they
//! test, because a crate with tests of its own is compiled twice.

mod arguments;
mod aside;
mod courier;
mod documents;
mod egress;
mod framing;
mod given;
mod log;
mod newest;
mod passages;
mod policy;
mod proxies;
mod statements;
mod steps;
mod story;
mod tables;
mod tick;
mod word;
