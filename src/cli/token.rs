//! `ok token`: API tokens. A token's value is printed once, alone on stdout, when it is issued.

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::{Context, client, show};
use crate::types::id::{ActorId, Kind};
use crate::types::scope::Scope;

/// Issue, list, narrow and revoke API tokens
#[derive(Subcommand)]
pub enum Token {
    /// Issue a token; it is printed this once
    ///
    /// Example: `ok token issue --for ci --ttl 7d --scope read`
    Issue(New),
    /// List tokens, newest first, without their values
    List {
        /// Only this actor's
        #[arg(long, value_name = "ID")]
        actor: Option<ActorId>,
        /// How many at most
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        limit: Option<u32>,
    },
    /// Revoke one token, or all tokens of an actor
    Revoke {
        /// A token's id (tok_…) or an actor's id
        #[arg(value_name = "TOKEN OR ACTOR")]
        id: String,
    },
    /// Narrow a token to some scopes; they can never be widened
    Scope {
        /// The token's id
        #[arg(value_name = "TOKEN")]
        id: String,
        /// The scopes that remain, separated by commas
        #[arg(value_delimiter = ',', required = true, value_parser = scopes())]
        scopes: Vec<String>,
    },
}

#[derive(clap::Args)]
pub struct New {
    /// Who will hold it [default: the acting actor]
    #[arg(long, value_name = "ID")]
    r#for: Option<ActorId>,
    /// How long it is valid, such as 12h or 7d [default: 30d]
    #[arg(long, value_name = "SPAN")]
    ttl: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    label: String,
    /// Limit it to a scope; may be given several times
    #[arg(long = "scope", value_parser = scopes())]
    scopes: Vec<String>,
}

fn scopes() -> PossibleValuesParser {
    PossibleValuesParser::new(Scope::ALL.map(Scope::name))
}

impl Token {
    pub async fn run(self, context: &Context) -> Result<Exit, Failure> {
        match self {
            Token::Issue(new) => issue(context, new).await,
            Token::List { actor, limit } => {
                let rows = client::list(context, "token.list", json!({ "actor": actor }), limit).await?;
                context.show(&rows.clone().into(), || show::list("no tokens", &COLUMNS, &rows))
            }
            Token::Revoke { id } => {
                let answer = if id.starts_with(Kind::Token.prefix()) {
                    client::call(context, "token.revoke", json!({ "id": id })).await?
                } else {
                    client::call(context, "token.revoke_all", json!({ "actor": id })).await?
                };
                context.show(&answer, || show::fields(&["revoked"], &answer))
            }
            Token::Scope { id, scopes } => {
                let answer = client::call(context, "token.narrow", json!({ "id": id, "scopes": scopes })).await?;
                context.show(&answer, || show::fields(&COLUMNS, &answer))
            }
        }
    }
}

const COLUMNS: [&str; 7] = ["id", "actor", "issuer", "label", "access", "status", "expires_at"];

async fn issue(context: &Context, new: New) -> Result<Exit, Failure> {
    let input = json!({ "for": new.r#for, "ttl": new.ttl, "label": new.label, "scopes": new.scopes });
    let answer = client::call(context, "token.issue", input).await?;
    context.show(&answer, || told(&answer))
}

fn told(answer: &Value) -> Result<(), Failure> {
    show::text(&show::cell(answer.get("token")))?;
    let said = |name| show::cell(answer.get(name));
    show::note(&format!(
        "{} for {}, {}, valid until {}; it is shown this once",
        said("id"),
        said("actor"),
        said("access"),
        said("expires_at")
    ));
    Ok(())
}
