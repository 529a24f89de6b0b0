//! `ok serve`: owns the state file, and answers over HTTP and over the admin socket until a signal ends it. A second
//! signal does not wait.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::{self, Opened};
use super::command::{Commands, Run, own};
use super::exit::{Exit, Failure};
use super::global::help_of;
use super::socket::Socket;
use super::{Context, file, models, settings, show};
use crate::background;
use crate::background::models::{Checked, Models};
use crate::config;
use crate::gate::Gate;
use crate::gate::state::keys::{self, open_to_others};
use crate::gate::state::open::{CannotOpen, Company};
use crate::http;
use crate::store::{Position, actors, kills};
use crate::types::entropy::SystemEntropy;

pub const COMMANDS: Commands = &[&own::<Serve>("serve")];

/// Run the API and the admin socket
#[derive(clap::Args)]
pub struct Serve {
    #[arg(long, value_name = "ADDRESS", help = help_of(&config::BIND))]
    bind: Option<String>,
}

impl Run for Serve {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let bind = self.bind.or_else(|| config::BIND.value()).unwrap_or_else(|| config::BIND.default.into());
        run(&bind, context, async |_: &Company, _: SocketAddr, _: &CancellationToken| Ok(())).await
    }
}

/// Serves the company until a signal ends it. `begin` comes before, when nothing can be in the way any more.
pub async fn run(
    bind: &str,
    context: &Context,
    begin: impl AsyncFnOnce(&Company, SocketAddr, &CancellationToken) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let mut company = match client::open(context).await? {
        Opened::Ours(company) => *company,
        Opened::Theirs(holder, _) => {
            let path = context.state.display();
            return Err(Failure::busy(format!("another server (process {}) already serves {path}", holder.pid)));
        }
    };
    if let Some(key) = keys::missing(&context.state) {
        company.close().await;
        return Err(CannotOpen::NoKey(key).into());
    }
    let mut signals =
        Signals::new().map_err(|error| Failure::new(format!("cannot install signal handlers: {error}")))?;
    let stop = CancellationToken::new();
    let whole = async {
        let served = serve(bind, context, &mut company, (&stop, begin)).await;
        company.close().await;
        served.map(|()| Exit::Done)
    };
    tokio::select! {
        exit = whole => exit,
        () = signals.twice(&stop) => Ok(Exit::Interrupted),
    }
}

/// Serves until `stop`; the company is the caller's to close.
async fn serve(
    bind: &str,
    context: &Context,
    company: &mut Company,
    (stop, begin): (
        &CancellationToken,
        impl AsyncFnOnce(&Company, SocketAddr, &CancellationToken) -> Result<(), Failure>,
    ),
) -> Result<(), Failure> {
    let proxies = proxies()?;
    let named = hosts()?;
    let asks_models = settings::is_on(&config::LLM_CHECK, true)?;
    if let Some(problem) = &context.models().catalog.problem {
        return Err(Failure::Usage(problem.clone()));
    }
    let cannot_listen = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidInput => {
            Failure::Usage(format!("--bind: `{bind}` is no address and port, such as {}", config::BIND.default))
        }
        _ => Failure::new(format!("cannot listen on {bind}: {error}")),
    };
    let listener = TcpListener::bind(bind).await.map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    let no_socket = |error| Failure::new(format!("cannot make the admin socket: {error}"));
    let socket = Socket::listen(&context.state, &SystemEntropy).map_err(no_socket)?;
    company.lock.tell(Some(socket.path().into())).map_err(no_socket)?;
    tell_state(context)?;
    for (path, mode) in open_to_others(&context.state) {
        show::remark(&format!(
            "{} is open to others (mode {mode:o}); make it its owner's alone: chmod 600",
            path.display()
        ));
    }
    // Whatever ends the server ends everything beside it.
    let _ended = stop.clone().drop_guard();
    begin(company, address, stop).await?;
    let beside = TaskTracker::new();
    beside.spawn(socket.serve(company.gate.clone(), stop.clone()));
    // Nobody waits for it, and it keeps nothing open.
    tokio::spawn(wind_down(Arc::downgrade(&company.gate), stop.clone()));
    beside.spawn(background::tick::run(company.gate.clone(), stop.clone()));
    beside.spawn(background::courier::run(company.gate.clone(), stop.clone()));
    let models = models::client(context.models())?;
    beside.spawn(background::runner::run(company.gate.clone(), context.means(models.clone())?, stop.clone()));
    if let Some(embedder) = models::embedder(context.models())? {
        beside.spawn(background::embeddings::run(company.gate.clone(), embedder, stop.clone()));
    }
    remarks(address, &proxies, context.dev_auth)?;
    if !http::is_built() {
        tracing::warn!("built without the workspace: `make web`, then build again");
    }
    show::remark(&format!("listening on http://{address}"));
    if asks_models {
        beside.spawn(check_models(models, stop.clone()));
    }
    beside.close();
    let hosts = named.unwrap_or_else(|| http::Hosts::usual(address.ip()));
    let front = http::Front { proxies, hosts, tenant: context.tenant.as_deref().map(Arc::from) };
    let served = http::serve(company.gate.clone(), listener, http::Limits::default(), front, stop.clone()).await;
    stop.cancel();
    beside.wait().await;
    served.map_err(|error| Failure::new(format!("the server failed: {error}")))
}

/// How long comparisons and the like, which may take minutes, go on once the server is to stop. Everything else has longer.
const LONG_WORK: Duration = Duration::from_secs(2);

/// Ends what takes long, soon after the server is to stop.
async fn wind_down(gate: Weak<Gate>, stop: CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(LONG_WORK).await;
    if let Some(gate) = gate.upgrade() {
        gate.end_long_work();
    }
}

/// What an operator should know of how this is served.
fn remarks(address: SocketAddr, proxies: &http::Proxies, dev_auth: bool) -> Result<(), Failure> {
    if !address.ip().is_loopback() {
        show::remark("others reach this address, and what travels is not encrypted: put a proxy with TLS before it");
    }
    if dev_auth {
        let others = if address.ip().is_loopback() { "" } else { " and others reach this address" };
        show::remark(&format!(
            "{} is on{others}: webhooks and `web.read` may go to this machine, without TLS; it is for development",
            config::DEV_AUTH.variable
        ));
    }
    if proxies.trust_all() {
        show::remark(&format!(
            "{} trusts every address: anybody can pass for another client; name the proxies alone",
            config::TRUSTED_PROXIES.variable
        ));
    }
    Ok(())
}

/// Says which model providers cannot be asked. The server does not wait for them, and runs without.
async fn check_models(models: Arc<Models>, stop: CancellationToken) {
    let checking = models.check();
    let checked = tokio::select! {
        checked = checking => checked,
        () = stop.cancelled() => return,
    };
    for Checked { provider, outcome } in checked {
        if let Err(why) = outcome {
            show::remark(&format!("the model provider {provider} cannot be asked: {why}"));
        }
    }
}

/// The proxies that are trusted to say whom they speak for.
fn proxies() -> Result<http::Proxies, Failure> {
    let text = config::TRUSTED_PROXIES.value().unwrap_or_else(|| config::TRUSTED_PROXIES.default.into());
    text.parse().map_err(|wrong| {
        let name = config::TRUSTED_PROXIES.variable;
        Failure::Usage(format!(
            "{name} must contain addresses or networks, such as 10.0.0.0/8,::1; `{wrong}` is neither"
        ))
    })
}

/// The names that the server answers to, where they are set.
fn hosts() -> Result<Option<http::Hosts>, Failure> {
    let Some(text) = config::HOSTS.value() else { return Ok(None) };
    let wrong = |wrong| {
        let name = config::HOSTS.variable;
        Failure::Usage(format!(
            "{name} must contain names such as ok.example.com,ok.internal, or `any`; `{wrong}` is none"
        ))
    };
    text.parse().map(Some).map_err(wrong)
}

/// Says which kill switches are engaged, so that nobody wonders why so much is refused; and that there is nobody yet.
fn tell_state(context: &Context) -> Result<(), Failure> {
    let conn = file::open(context)?;
    if actors::LIST.after(&conn, &Position::start(), 1)?.is_empty() {
        show::remark("this company has no actors yet: `ok init --admin <id>` names its first admin");
    }
    for kill in kills::all(&conn)? {
        show::remark(&format!("kill switch {} is engaged, held by an admin", kill.scope));
    }
    Ok(())
}

/// The signals that end a server.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Signals> {
        Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Asks for a stop at the first signal, returns at the second.
    async fn twice(&mut self, stop: &CancellationToken) {
        self.next().await;
        stop.cancel();
        self.next().await;
    }
}
