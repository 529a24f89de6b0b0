//! A complete question as another program asks it, so that it can be stored, asked again of other policies, or made up.

use serde::{Deserialize, Serialize};

use super::json::Properties;
use super::read::{Parts, Thing, circumstances, thing};
use super::{Wrong, action, gathered};
use crate::Snapshot;
use crate::testing::OwnedQuestion;

/// Who would do what to which thing, and what is the case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub subject: Described,
    pub action: String,
    pub resource: Described,
    #[serde(default)]
    pub context: Properties,
}

/// One end of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    #[serde(rename = "type")]
    pub kind: String,
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
}

impl Described {
    fn thing(&self, snapshot: &Snapshot, end: &str) -> Result<Thing, Wrong> {
        let parts = Parts { kind: &self.kind, id: &self.id, properties: self.properties.as_ref() };
        thing(snapshot, parts).map_err(|wrong| wrong.within(end))
    }

    /// `Docs::User::ann`
    pub fn name(&self) -> String {
        format!("{}::{}", self.kind, self.id)
    }
}

impl Said {
    /// The question as these policies' schema reads it, with approvals that were given.
    pub fn to_question(&self, snapshot: &Snapshot, granted: Vec<String>) -> Result<OwnedQuestion, Wrong> {
        let action = action(snapshot, &self.action).map_err(|wrong| wrong.within("action"))?;
        let subject = self.subject.thing(snapshot, "subject")?;
        let resource = self.resource.thing(snapshot, "resource")?;
        let circumstances = circumstances(snapshot, action, Some(&self.context), None)?;
        let (entities, facts) = gathered(snapshot, &subject, action, &resource, &circumstances)?;
        Ok(OwnedQuestion {
            principal: subject.uid,
            action: action.clone(),
            resource: resource.uid,
            entities: entities.into_vec(),
            facts,
            input: None,
            givers: Vec::new(),
            granted,
            sight: None,
            refused: None,
        })
    }
}
