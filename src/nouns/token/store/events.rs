//! The events of API tokens.

use rusqlite::params;

use crate::event::{Content, Moment, Notify, Table, events};
use crate::memory::{Memory, Touched};
use crate::settles::{End, Settles};
use crate::{actors, inbox, to_json, unreadable};
use types::actor::ActorKind;
use types::id::{ActorId, Id};
use types::inbox::ItemKind;
use types::scope::Scopes;
use types::time::Time;

const TOKEN: Table = Table { name: "token", key: "id" };

events! {
    /// An API token was issued.
    TokenIssued = "token_issued" {
        id: Id, holder: ActorId, hash: String, label: String, scopes: Scopes, issuer: Option<ActorId>,
        expires_at: Time,
    } about [id, holder] => {
        says: "issued a token to @{holder}[: «{label}»]",
        content: Content::SHOWN.hiding(&["hash"]), tables: &[TOKEN], memory: Memory::Tokens, settles: Settles::Nothing,
        fold: Some(issued), notify: Notify::Only(notify_holder), news: None,
    }
    /// A token was revoked.
    TokenRevoked = "token_revoked" {
        id: Id, holder: ActorId,
    } about [id, holder] => {
        says: "revoked a token of @{holder}",
        content: Content::SHOWN, tables: &[TOKEN], memory: Memory::Tokens,
        settles: Settles::Ends(|event, _| Ok(End::thing(&event.id, "was revoked"))),
        fold: Some(|event, moment| ended(moment, &event.id, "revoked")),
        notify: Notify::Only(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
    /// A token's scopes were narrowed.
    TokenNarrowed = "token_narrowed" {
        id: Id, holder: ActorId, scopes: Scopes,
    } about [id, holder] => {
        says: "narrowed a token of @{holder}",
        content: Content::SHOWN, tables: &[TOKEN], memory: Memory::Tokens, settles: Settles::Nothing,
        fold: Some(narrowed), notify: Notify::Nobody, news: None,
    }
    /// A token expired; recorded by the tick.
    TokenExpired = "token_expired" {
        id: Id, holder: ActorId,
    } about [id, holder] => {
        says: "recorded that a token of @{holder} expired",
        content: Content::SHOWN, tables: &[TOKEN], memory: Memory::Tokens,
        settles: Settles::Ends(|event, _| Ok(End::thing(&event.id, "has expired"))),
        fold: Some(|event, moment| ended(moment, &event.id, "expired")),
        notify: Notify::Only(|event, moment| inbox::resolve(moment, event.id.as_str())), news: None,
    }
}

fn issued(event: &TokenIssued, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let hash = hex::decode(&event.hash).map_err(|error| unreadable(0, error))?;
    let sql = "INSERT INTO token (id, holder, hash, label, scopes, issuer, created_at, expires_at) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    moment.conn.prepare_cached(sql)?.execute(params![
        event.id.as_str(),
        event.holder.as_str(),
        hash,
        event.label,
        to_json(&event.scopes)?,
        event.issuer.as_ref().map(ActorId::as_str),
        moment.at.0,
        event.expires_at.0
    ])?;
    Ok(Touched::Token(event.id.clone()))
}

/// Notifies a person of a token that somebody else issued for them. An agent's tokens are always issued by others.
fn notify_holder(event: &TokenIssued, moment: &Moment<'_>) -> rusqlite::Result<()> {
    let Some(issuer) = &event.issuer else { return Ok(()) };
    let person = actors::get(moment.conn, &event.holder)?.filter(|holder| holder.kind == ActorKind::Person);
    let title = format!("{issuer} issued a token for you");
    person.map_or(Ok(()), |person| inbox::add(moment, &person.id, ItemKind::Alert, event.id.as_str(), &title))
}

fn ended(moment: &Moment<'_>, id: &Id, how: &str) -> rusqlite::Result<Touched> {
    let sql = "UPDATE token SET ended = ?, ended_at = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![how, moment.at.0, id.as_str()])?;
    Ok(Touched::Token(id.clone()))
}

fn narrowed(event: &TokenNarrowed, moment: &Moment<'_>) -> rusqlite::Result<Touched> {
    let sql = "UPDATE token SET scopes = ? WHERE id = ?";
    moment.conn.prepare_cached(sql)?.execute(params![to_json(&event.scopes)?, event.id.as_str()])?;
    Ok(Touched::Token(event.id.clone()))
}
