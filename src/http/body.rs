//! Reading a body, no further than its sender is worth listening to: past its beginning, the policies must be able to allow
//! it at all, and all long bodies together have a bound.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::time::timeout;

use super::face::Face;
use super::limits::Limits;
use crate::gate::admit::shares::{Place, Shares};
use crate::gate::write::queue::PATIENCE;
use crate::types::caller::Caller;
use crate::types::refusal::{Code, Refusal, Stop};

/// Bodies are counted in these.
const UNIT: usize = 1024;

/// The room for long bodies.
pub(super) fn room(limits: &Limits) -> Shares {
    let units = units(limits.bodies_bytes);
    Shares::new(units, units / 2)
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

/// A body that was read, and its place among the long ones: to be held until it was worked on.
pub(super) struct Taken {
    pub bytes: Bytes,
    pub place: Option<Place>,
}

/// Reads a caller's body.
pub(super) async fn take(face: &Face, caller: &Caller, body: Body) -> Result<Taken, Stop> {
    let slow = || Refusal::new(Code::Timeout, "the request's body took too long");
    timeout(face.limits.body_total, collect(face, caller, body)).await.map_err(|_| slow())?
}

async fn collect(face: &Face, caller: &Caller, mut body: Body) -> Result<Taken, Stop> {
    let slow = |_| Refusal::new(Code::Timeout, "the request's body took too long");
    let (limits, most) = (&face.limits, face.body_bytes());
    let announced = body.size_hint().exact().map(|announced| usize::try_from(announced).unwrap_or(usize::MAX));
    if announced.is_some_and(|announced| announced > most) {
        return Err(too_large(most));
    }
    let (mut all, mut place) = (BytesMut::new(), None);
    while let Some(frame) = timeout(limits.body_idle, body.frame()).await.map_err(slow)? {
        let frame = frame.map_err(|error| Refusal::bad_request(format!("the request's body broke off: {error}")))?;
        let Some(data) = frame.data_ref() else { continue };
        let length = all.len() + data.len();
        if length > most {
            return Err(too_large(most));
        }
        if length > limits.early_bytes && place.is_none() {
            face.gate.consider(caller, face.entry).await?;
            place = Some(enter(face, caller, announced.unwrap_or(most)).await?);
        }
        all.extend_from_slice(data);
    }
    Ok(Taken { bytes: all.freeze(), place })
}

async fn enter(face: &Face, caller: &Caller, bytes: usize) -> Result<Place, Refusal> {
    let place = face.bodies.take(caller.actor().as_str(), units(bytes), PATIENCE).await;
    place.ok_or_else(|| {
        let busy = Refusal::new(Code::Unavailable, "too many long bodies at once; try again");
        Refusal { retry_after: Some(1), ..busy }
    })
}

fn too_large(most: usize) -> Stop {
    Refusal::new(Code::TooLarge, format!("the request's body is over {most} bytes")).into()
}
