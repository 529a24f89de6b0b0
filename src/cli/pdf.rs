//! `ok` as the process that reads one PDF for another `ok`, which limits itself (`nouns::knowledge::pdf`). No command:
//! people have no use for it.

use super::exit::Exit;
use super::show;
use crate::nouns::knowledge::pdf::{ARGUMENT, text};

/// Whether this process is that one.
pub fn is_asked() -> bool {
    std::env::args_os().nth(1).is_some_and(|first| first == ARGUMENT)
}

/// Reads a PDF on stdin for the parent process: prints the text and exits with 0, or prints the reason and exits with
/// 1.
pub fn read() -> Exit {
    let (exit, said) = match text(std::io::stdin().lock()) {
        Ok(text) => (Exit::Done, text),
        Err(why) => (Exit::Failed, why),
    };
    show::piped(said.as_bytes()).map_or_else(|_| Exit::Failed, |()| exit)
}
