//! The demo: a company with a history. Its story is data (`story/`); each scene is an operation that somebody performs through
//! the gate, on the story's own clock, which ends about now. So its log verifies like any other, and whatever the demo shows
//! can be done.

mod acting;
mod fakes;
mod mailbox;
mod model;
mod narrator;
mod receiver;
mod repository;
mod script;
mod sign_in;
pub mod time;
pub mod warehouse;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::TcpListener;

use crate::background::models::Chat;
use crate::gate::Gate;
use crate::gate::state::open::{CannotOpen, Options, open};
use crate::nouns::actor::{List, Which};
use crate::store::actors::Status;
use crate::types::actor::ActorKind;
use crate::types::page::{MAX_LIMIT, PageQuery};
use crate::types::refusal::Stop;
use crate::types::time::Clock;

pub use fakes::Fakes;
pub use mailbox::{Mailbox, SENDER};
use model::Model;
use receiver::Receiver;
pub use receiver::point_here;
pub use script::{Person, cast};
pub use sign_in::{SignIn, sign_in};

use acting::Acting;
use narrator::Narrator;
use repository::{Commit, Repository};
use time::StoryClock;

/// The result of telling the story.
pub struct DemoSummary {
    pub people: usize,
    pub agents: usize,
    pub teams: usize,
    pub events: i64,
    /// Whether the policies are in a git repository: only if git is installed.
    pub git: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum CannotTell {
    #[error(transparent)]
    Open(#[from] CannotOpen),
    /// A scene of the story was not answered as expected.
    #[error("the demo's story breaks off at {0}")]
    Story(String),
    #[error("cannot write {0}: {1}")]
    Write(PathBuf, std::io::Error),
}

/// Creates the demo company with the state file of `options`, and its policies in `policies`. `progress` is called per chapter.
pub async fn tell(
    options: &Options,
    models: Arc<dyn Chat>,
    policies: PathBuf,
    progress: &mut dyn FnMut(&str),
) -> Result<DemoSummary, CannotTell> {
    let story = script::story().map_err(CannotTell::Story)?;
    let clock = Arc::new(StoryClock::before(Arc::clone(&options.clock)));
    let company = open(&Options { clock: Arc::<StoryClock>::clone(&clock) as Arc<dyn Clock>, ..options.clone() })?;
    let repository = Repository::new(policies);
    let git = repository.is_git();
    let mut narrator = Narrator::new(Arc::clone(&company.gate), clock, repository, models);
    let mut outcome = Ok(());
    for chapter in &story {
        progress(&chapter.title);
        outcome = narrator.tell(chapter).await;
        if outcome.is_err() {
            break;
        }
    }
    let ended = narrator.end();
    let counted = count(&company.gate, git).await;
    company.close().await;
    outcome.and(ended)?;
    counted
}

/// Commits what was written beside the policies since: which version is in force.
pub fn commit_rest(policies: &Path, clock: &dyn Clock) {
    repository::commit_all(policies, &Commit { by: "sam", says: "Which version is in force", at: clock.now() });
}

async fn count(gate: &Arc<Gate>, git: bool) -> Result<DemoSummary, CannotTell> {
    let cast = cast().map_err(CannotTell::Story)?;
    let all = Which { kind: None, team: None, page: PageQuery { limit: Some(MAX_LIMIT), cursor: None } };
    let actors = match cast.first() {
        Some(first) => Acting { gate, who: Some(&first.id) }.rows::<List, _>(&all).await.unwrap_or_default(),
        None => Vec::new(),
    };
    let of = |kind| actors.iter().filter(|actor| actor.kind == kind && actor.status == Status::Active).count();
    let events = *gate.grown().borrow();
    Ok(DemoSummary {
        people: of(ActorKind::Person),
        agents: of(ActorKind::Agent),
        teams: of(ActorKind::Team),
        events,
        git,
    })
}

/// Listens on a port of an address, or on any free one there.
async fn listen((at, port): (Ipv4Addr, u16)) -> std::io::Result<(TcpListener, SocketAddr)> {
    let listener = match TcpListener::bind((at, port)).await {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind((at, 0)).await?,
    };
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Formats an error as a sentence.
fn in_words(stop: &Stop) -> String {
    match stop {
        Stop::Refused(refusal) => refusal.to_string(),
        Stop::Failed(fault) => fault.to_string(),
    }
}
