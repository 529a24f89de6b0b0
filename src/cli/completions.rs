//! `ok completions`: a script for the shell.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::exit::{Exit, Failure};
use super::{Cli, show};

/// Print a completion script for a shell
///
/// Example: `ok completions bash > /etc/bash_completion.d/ok`
#[derive(clap::Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "ok", &mut script);
        show::whole(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Done)
    }
}
