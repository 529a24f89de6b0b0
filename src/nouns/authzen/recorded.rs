//! Makes the decisions of one request, and collects those that go into the log.

use std::sync::Arc;

use cedar_policy::EntityUid;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::words::{Action, Entity, Evaluation, parts, required, whole};
use gate::Reader;
use policy::own::{self, Circumstances, Evaluator, Said, Thing, Wrong};
use policy::{Ruling, Snapshot};
use store::decisions::events::AccessDecided;
use store::event::Event;
use types::decision::Recording;

/// A decision.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Decision {
    pub decision: bool,
    /// Only on a denial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Why>,
}

/// Why it is no.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Why {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The kinds of approval that would allow it; all are required.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs_approval: Vec<String>,
    /// The ids of the policies that stand in the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_version: Option<i64>,
    /// Why this question of the batch is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<NotUnderstood>,
}

/// What is wrong with one question of a batch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NotUnderstood {
    /// The HTTP status that this question alone would have got.
    pub status: u16,
    pub message: String,
}

/// Decides the questions of one request, all under the same policies. Shared parts are read once.
pub(super) struct Judge<'a> {
    read: &'a Reader<'a>,
    snapshot: &'a Snapshot,
    evaluator: Evaluator<'a>,
    version: i64,
    recording: Recording,
    subject: Option<Result<Arc<Thing>, Wrong>>,
    resource: Option<Result<Arc<Thing>, Wrong>>,
    /// The shared context of an action, and whether it includes the action's properties.
    circumstances: Option<(EntityUid, bool, Result<Arc<Circumstances>, Wrong>)>,
    pub events: Vec<Event>,
}

impl<'a> Judge<'a> {
    /// `snapshot` holds the serving policies.
    pub fn new(read: &'a Reader<'a>, snapshot: &'a Snapshot) -> Judge<'a> {
        Judge {
            read,
            snapshot,
            evaluator: Evaluator::new(snapshot),
            version: read.policy_stamp().0,
            recording: read.recording(),
            subject: None,
            resource: None,
            circumstances: None,
            events: Vec::new(),
        }
    }

    /// Decides a question, and records it if recording is on. A part left out is taken from `default`; a given part replaces
    /// the default's entirely.
    pub fn decide(&mut self, said: &Evaluation, default: &Evaluation) -> Result<Decision, Wrong> {
        let snapshot = self.snapshot;
        let words = said.action.as_ref().or(default.action.as_ref()).ok_or_else(|| required("action"))?;
        let name = words.name.as_deref().ok_or_else(|| required("name").within("action"))?;
        let action = own::action(snapshot, name).map_err(|wrong| wrong.within("name").within("action"))?;
        let end = |said, default, kept| end(snapshot, said, default, kept);
        let subject = end(said.subject.as_ref(), default.subject.as_ref(), &mut self.subject);
        let subject = subject.map_err(|wrong| wrong.within("subject"))?;
        let resource = end(said.resource.as_ref(), default.resource.as_ref(), &mut self.resource);
        let resource = resource.map_err(|wrong| wrong.within("resource"))?;
        let shared = said.action.as_ref().is_none_or(|action| action.properties.is_none()) && said.context.is_none();
        let context = said.context.as_ref().or(default.context.as_ref());
        let read = || own::circumstances(snapshot, action, context, properties(words)).map(Arc::new);
        // What is shared has no properties, or those of the default action.
        let has_properties = words.properties.is_some();
        let circumstances = match &self.circumstances {
            Some((kept, with, circumstances)) if shared && kept == action && *with == has_properties => {
                circumstances.clone()?
            }
            _ if shared => {
                let circumstances = read();
                self.circumstances = Some((action.clone(), has_properties, circumstances.clone()));
                circumstances?
            }
            _ => read()?,
        };
        let ruling = self.evaluator.ask(&subject, action, &resource, &circumstances)?;
        let whole = || whole(said, default, action, words).ok();
        let about = || (own::name(action), format!("{} -> {}", subject.uid, resource.uid));
        self.read.watch(about, &ruling, |candidate| {
            let asked = whole()?.to_question(candidate, Vec::new()).ok()?;
            Some(asked.answer(candidate).ruling)
        });
        Ok(self.recorded(&subject, action, &resource, &ruling, whole))
    }

    fn recorded(
        &mut self,
        subject: &Thing,
        action: &EntityUid,
        resource: &Thing,
        ruling: &Ruling,
        whole: impl FnOnce() -> Option<Said>,
    ) -> Decision {
        let decision = ruling.is_allowed();
        let why = self.why(ruling);
        if self.recording.wants(decision) {
            let event = AccessDecided {
                subject: subject.uid.to_string(),
                action: action.to_string(),
                resource: resource.uid.to_string(),
                decision,
                needs_approval: why.needs_approval.clone(),
                policies: ruling.because().iter().map(|policy| policy.id.clone()).collect(),
                policy_version: self.version,
                asked: self.recording.keeps_questions().then(whole).flatten().and_then(|said| kept(&said)),
            };
            self.events.push(event.into());
        }
        Decision { decision, context: (!decision).then_some(why) }
    }

    fn why(&self, ruling: &Ruling) -> Why {
        let needs_approval = match ruling {
            Ruling::NeedsApproval { kinds, .. } => kinds.clone(),
            Ruling::Allow { .. } => return Why::default(),
            Ruling::Deny { .. } => Vec::new(),
        };
        Why {
            reason: Some(ruling.reason().to_owned()),
            needs_approval,
            policies: ruling.because().iter().map(|policy| policy.id.clone()).collect(),
            policy_version: Some(self.version),
            error: None,
        }
    }
}

/// The maximum bytes of a recorded question: more could make the record larger than the request.
const MOST_KEPT: usize = 16 << 10;

/// Serializes the question so that it can be asked again.
fn kept(said: &Said) -> Option<Value> {
    let value = serde_json::to_value(said).ok()?;
    (value.to_string().len() <= MOST_KEPT).then_some(value)
}

fn properties(action: &Action) -> Option<&own::Properties> {
    action.properties.as_ref()
}

/// Reads the subject or resource of a question; the default is read once.
fn end(
    snapshot: &Snapshot,
    said: Option<&Entity>,
    default: Option<&Entity>,
    kept: &mut Option<Result<Arc<Thing>, Wrong>>,
) -> Result<Arc<Thing>, Wrong> {
    let read = |said| own::thing(snapshot, parts(said)?).map(Arc::new);
    match (said, default) {
        (Some(said), _) => read(said),
        (None, Some(default)) => kept.get_or_insert_with(|| read(default)).clone(),
        (None, None) => Err(Wrong::new("is required")),
    }
}
