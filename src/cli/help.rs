//! `ok help`: a command and its options, those that every command takes among them.

use super::command::{Commands, Needs, Run, own};
use super::exit::{Exit, Failure};
use super::{Context, declared, show};

pub const COMMANDS: Commands = &[&own::<Help>("help")];

/// Explain a command, with the options that every command takes
///
/// Example: `ok help actor set`
#[derive(clap::Args)]
pub struct Help {
    /// The command; by default lists all of them
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

impl Run for Help {
    const NEEDS: Needs = Needs::Nothing;

    async fn run(self, _: &Context) -> Result<Exit, Failure> {
        let mut whole = declared();
        whole.build();
        let mut command = &mut whole;
        for word in &self.words {
            let unknown = || Failure::Usage(format!("there is no command `ok {}`", self.words.join(" ")));
            command = command.find_subcommand_mut(word).ok_or_else(unknown)?;
        }
        show::text(&command.render_long_help().to_string())?;
        Ok(Exit::Done)
    }
}
