//! `ok completions`: a script for the shell.

use clap_complete::Shell;

use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, declared, show};

pub const COMMANDS: Commands = &[&own::<Completions>("completions")];

/// Print a completion script for a shell
///
/// Example: `ok completions bash > /etc/bash_completion.d/ok`
#[derive(clap::Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Run for Completions {
    const NEEDS: Needs = Needs::Nothing;

    async fn run(self, _: &Context) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut declared(), "ok", &mut script);
        show::whole(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Done)
    }
}
