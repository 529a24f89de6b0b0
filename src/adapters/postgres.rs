//! Tables and views of a PostgreSQL. Its connections are kept; each reads only, asks in UTC, and is told by the server itself
//! when a question takes too long. A question that nobody waits for any more is cancelled there, too.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};
use tokio_postgres::config::{ChannelBinding, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::{CancelToken, Config, Error, NoTls, Row};
use tokio_postgres_rustls::MakeRustlsConnect;
use zeroize::Zeroizing;

use super::pushed::{PushedQuery, push_down};
use super::{Adapter, MOST_BYTES, MOST_ROWS, Rows, Unread, Wanted};
use types::effort;

/// Connections that are open at once.
const CONNECTIONS: usize = 8;
/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How often it is looked whether anybody still waits.
const LOOK: Duration = Duration::from_millis(50);

/// Where a database is, and as whom it is asked.
pub struct Place {
    pub host: String,
    pub port: u16,
    pub database: String,
    pub user: String,
}

pub struct Postgres {
    pool: Pool,
    tls: Option<MakeRustlsConnect>,
    limit: Duration,
}

/// How the server's certificate is checked: by those in a file, or by those that the machine trusts.
pub fn tls(ca_file: Option<&Path>) -> Result<MakeRustlsConnect, String> {
    let config = match ca_file {
        None => ClientConfig::with_platform_verifier().map_err(|error| format!("tls: {error}"))?,
        Some(path) => {
            let wrong = |error: &dyn std::fmt::Display| format!("ca_file: {}: {error}", path.display());
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))? {
                let certificate = certificate.map_err(|error| wrong(&error))?;
                roots.add(certificate).map_err(|error| wrong(&error))?;
            }
            if roots.is_empty() {
                return Err(wrong(&"it contains no certificate"));
            }
            ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

impl Postgres {
    pub fn new(
        place: Place,
        password: Option<Zeroizing<String>>,
        tls: Option<MakeRustlsConnect>,
        limit: Duration,
    ) -> Result<Postgres, String> {
        let Place { host, port, database, user } = place;
        let mut config = Config::new();
        config.host(&host).port(port).dbname(&database).user(&user).application_name("ok").connect_timeout(CONNECT);
        config.channel_binding(ChannelBinding::Prefer);
        if let Some(password) = password {
            config.password(password.as_bytes());
        }
        let how = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match &tls {
            Some(tls) => Manager::from_config(config.ssl_mode(SslMode::Require).clone(), tls.clone(), how),
            None => Manager::from_config(config.ssl_mode(SslMode::Disable).clone(), NoTls, how),
        };
        let began = begun_with(limit);
        let begin = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
            let began = began.clone();
            Box::pin(async move { client.batch_execute(&began).await.map_err(HookError::Backend) })
        });
        let pool = Pool::builder(manager).max_size(CONNECTIONS).runtime(Runtime::Tokio1).post_create(begin);
        let pool = pool.build().map_err(|error| error.to_string())?;
        Ok(Postgres { pool, tls, limit })
    }

    /// What is asked, for as long as somebody waits and the limit allows. Rows that came before the limit are kept.
    async fn read(&self, asked: PushedQuery) -> Result<Rows, Failed> {
        let client = self.client().await?;
        let cancel = client.cancel_token();
        let mut rows = Rows::default();
        // The server's own limit comes first, where it can still answer.
        let ended = timeout(self.limit + CONNECT, unless_unwanted(gather(&client, asked, &mut rows))).await;
        let outcome = match ended {
            Ok(Some(Ok(()))) => return Ok(rows),
            Ok(Some(Err(error))) => Err(error),
            Ok(None) => Ok(false),
            Err(_) => Ok(true),
        };
        // What was left in the middle is nobody's next question.
        drop(Object::take(client));
        match outcome {
            Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {
                rows.is_cut = true;
                Ok(rows)
            }
            Err(error) => Err(Failed::Query(error)),
            Ok(is_late) => {
                self.cancel(cancel).await;
                rows.is_cut = true;
                if is_late { Ok(rows) } else { Err(Failed::Unwanted) }
            }
        }
    }

    async fn client(&self) -> Result<Object, Failed> {
        match timeout(CONNECT + Duration::from_secs(1), unless_unwanted(self.pool.get())).await {
            Ok(Some(Ok(client))) => Ok(client),
            Ok(Some(Err(error))) => Err(Failed::Connected(error.to_string())),
            Ok(None) => Err(Failed::Unwanted),
            Err(_) => Err(Failed::Connected("it took too long".into())),
        }
    }

    async fn cancel(&self, token: CancelToken) {
        let cancelled = async {
            match &self.tls {
                Some(tls) => token.cancel_query(tls.clone()).await,
                None => token.cancel_query(NoTls).await,
            }
        };
        // Where it cannot be told, its own limit ends the question.
        let _ = timeout(CONNECT, cancelled).await;
    }
}

enum Failed {
    Connected(String),
    Query(Error),
    /// Nobody waits any more.
    Unwanted,
}

impl Failed {
    /// What went wrong, as far as whoever asked should know: nothing of where the database is.
    fn into_unread(self) -> Unread {
        match self {
            Failed::Connected(why) => {
                tracing::warn!(%why, "another system cannot be reached");
                Unread("it does not answer".into())
            }
            Failed::Unwanted => Unread("nobody is waiting for it any more".into()),
            Failed::Query(error) => match error.as_db_error() {
                Some(said) => Unread(said.message().chars().take(200).collect()),
                None => {
                    tracing::warn!(%error, "another system cannot be read");
                    Unread("it stopped answering".into())
                }
            },
        }
    }
}

/// How a connection begins.
fn begun_with(limit: Duration) -> String {
    let limit = limit.as_millis();
    format!(
        "SET default_transaction_read_only = on; SET statement_timeout = {limit}; SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; \
         SET search_path = ''; SET extra_float_digits = 1"
    )
}

/// The rows as they come, as many as may.
async fn gather(client: &Object, asked: PushedQuery, rows: &mut Rows) -> Result<(), Error> {
    let statement = client.prepare(&asked.sql).await?;
    let mut coming = pin!(client.query_raw(&statement, asked.given).await?);
    let mut bytes = 0;
    while let Some(row) = next(coming.as_mut()).await {
        if rows.rows.len() == MOST_ROWS || bytes > MOST_BYTES {
            rows.is_cut = true;
            return Ok(());
        }
        let values = texts(&row?)?;
        bytes += values.iter().flatten().map(String::len).sum::<usize>();
        rows.rows.push(values);
    }
    Ok(())
}

async fn next<S: futures_core::Stream>(mut stream: std::pin::Pin<&mut S>) -> Option<S::Item> {
    std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await
}

fn texts(row: &Row) -> Result<Vec<Option<String>>, Error> {
    (0..row.len()).map(|place| row.try_get(place)).collect()
}

/// What comes of it, unless nobody is waiting for it any more.
async fn unless_unwanted<T>(work: impl Future<Output = T>) -> Option<T> {
    let effort = effort::current();
    let unwanted = async {
        match effort {
            None => std::future::pending().await,
            Some(effort) => {
                while !effort.has_ended() {
                    sleep(LOOK).await;
                }
            }
        }
    };
    tokio::select! {
        done = work => Some(done),
        () = unwanted => None,
    }
}

impl Adapter for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn rows(&self, wanted: &Wanted<'_>) -> Result<Rows, Unread> {
        let question = push_down(wanted, MOST_ROWS + 1);
        let read = Handle::current().block_on(self.read(question)).map_err(Failed::into_unread);
        effort::spend(1);
        read
    }

    fn check(&self) -> Result<String, Unread> {
        let version = async {
            let client = self.client().await?;
            let row = client.query_one("SELECT current_setting('server_version')", &[]).await.map_err(Failed::Query)?;
            row.try_get::<_, String>(0).map_err(Failed::Query)
        };
        let version = Handle::current().block_on(version).map_err(Failed::into_unread)?;
        Ok(format!("is PostgreSQL {version}"))
    }
}
