//! What the matrix asks about.

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::targets::Of::{self, *};
use super::{Stage, Who};
use crate::harness::Test;

/// The caller, or somebody else; whoever writes nothing has nothing of their own.
fn author(of: Of, who: &Who) -> &'static str {
    if of == Own && !matches!(who.id, "" | "ext" | "aud") { who.id } else { "fay" }
}

impl Stage {
    /// A break-glass grant: of oneself, if one may have any, or of somebody else.
    pub(super) async fn grant(&mut self, of: Of, who: &Who) -> String {
        let holder = match of {
            Absent => return "bgl_00000000000000000000000000".into(),
            Own if matches!(who.id, "ada" | "lea") => who.id.to_owned(),
            _ => {
                let id = self.fresh("breaker");
                self.test.add(&id, "person", json!({ "role": "lead" })).await;
                id
            }
        };
        self.review_grants_of(&holder).await;
        let token = self.test.token(&holder, json!({})).await;
        let opened = self.test.post("/policy/break-glass", &token, Stage::harmless()).await;
        opened.json()["id"].as_str().unwrap_or_else(|| panic!("{}", opened.text())).to_owned()
    }

    /// A task that an admin gave to an agent of the caller, or of another, and a run that works on it.
    pub(super) async fn task(&mut self, of: Of, who: &Who, runs: bool) -> (String, String) {
        if of == Absent {
            return ("tsk_00000000000000000000000000".into(), "run_00000000000000000000000000".into());
        }
        let agent = if of.agent(who) == "ext" { "bot" } else { of.agent(who) };
        let new = json!({ "title": self.fresh("task"), "owner": agent });
        let task = self.test.post("/tasks", &self.test.admin, new).await.json()["id"].as_str().unwrap().to_owned();
        if !runs {
            return (task, String::new());
        }
        let plan = json!({ "plan": { "steps": [{ "say": "tidying up" }] } });
        let run = self.test.post(&format!("/tasks/{task}/run"), &self.test.admin, plan).await.json();
        (task, run["run"].as_str().unwrap().to_owned())
    }

    /// What the caller proposed, or somebody else.
    pub(super) async fn knowledge(&mut self, of: Of, who: &Who, is_accepted: bool) -> String {
        if of == Absent {
            return "kno_00000000000000000000000000".into();
        }
        let by = author(of, who);
        let token = self.test.token(by, json!({})).await;
        let new = json!({ "statement": self.fresh("known"), "topics": ["matrix"] });
        let id = self.test.post("/knowledge", &token, new).await.json()["id"].as_str().unwrap().to_owned();
        if is_accepted {
            let steward = self.test.token(if by == "sam" { "ana" } else { "sam" }, json!({})).await;
            let accepted = self.test.post(&format!("/knowledge/{id}/accept"), &steward, json!({})).await;
            assert_eq!(accepted.status, 200, "{}", accepted.text());
        }
        id
    }

    pub(super) fn new_document(&mut self) -> Value {
        json!({ "name": self.fresh("document"), "content_type": "text/plain", "text": "tidying up" })
    }

    /// A document that the caller uploaded, or somebody else.
    pub(super) async fn document(&mut self, of: Of, who: &Who) -> String {
        if of == Absent {
            return "kno_00000000000000000000000000".into();
        }
        let by = author(of, who);
        let token = self.test.token(by, json!({})).await;
        let new = self.new_document();
        self.test.post("/knowledge/documents", &token, new).await.json()["id"].as_str().unwrap().to_owned()
    }

    /// A note, and the id of one that the caller wrote, or somebody else.
    pub(super) async fn record(&mut self, of: Of, who: &Who) -> Value {
        let notes = "/brain/collections/notes";
        if of == Absent {
            return json!({ "collection": "notes", "id": "rec_00000000000000000000000000" });
        }
        let by = author(of, who);
        let token = self.test.token(by, json!({})).await;
        let written = json!({ "fields": { "text": "tidying up" } });
        let record = self.test.post(&format!("{notes}/records"), &token, written).await.json();
        json!({ "collection": "notes", "id": record["id"] })
    }

    /// What is asked about the company's own data.
    pub(super) async fn of_the_brain(&mut self, name: &str, of: Of, who: &Who) -> Value {
        match name {
            "collection.catalog" => json!({ "phrase": "note" }),
            "search" => json!({ "q": "note" }),
            "collection.read" | "collection.query" | "record.aggregate" | "record.list" | "record.import"
            | "semantics.read" | "semantics.propose" => {
                let mut asked = json!({ "collection": if of == Absent { "none" } else { "notes" } });
                match name {
                    "record.import" => asked["records"] = json!([{ "text": "tidying up" }]),
                    "record.aggregate" => asked["measures"] = json!(["count"]),
                    "semantics.propose" => asked["reason"] = json!("tidying up"),
                    _ => {}
                }
                asked
            }
            "record.rollback" => {
                let mut record = self.record(of, who).await;
                record["to_version"] = json!(1);
                record["reason"] = json!("tidying up");
                record
            }
            "record.flag" => {
                let mut record = self.record(of, who).await;
                record["kind"] = json!("stale");
                record
            }
            name if name.starts_with("record.") => {
                let mut record = self.record(of, who).await;
                record["fields"] = json!({ "text": "another" });
                if name == "record.replace" {
                    record["version"] = json!(1);
                }
                record
            }
            "view.read" => json!({ "id": self.view(of, who) }),
            "view.preview" => json!({ "query": { "collection": if of == Absent { "none" } else { "notes" } } }),
            "schema.propose" => {
                json!({ "collection": "x", "ops": [{ "create": { "spec": { "fields": { "a": { "type": "text" } } } } }], "reason": "tidying up" })
            }
            "schema.read" => json!({ "id": self.proposal(of, who).await }),
            "schema.apply" => json!({ "id": self.proposal(of, who).await, "dry_run": true }),
            "schema.reject" => json!({ "id": self.proposal(of, who).await, "reason": "tidying up" }),
            _ => json!({}),
        }
    }

    /// A view for everybody, and one for somebody else.
    pub(super) async fn views(test: &Test) {
        let steward = test.token("sam", json!({})).await;
        for (name, visibility) in [("open", json!(null)), ("hidden", json!("farbot"))] {
            let spec = json!({ "query": { "collection": "notes" }, "visibility": visibility });
            let saved = crate::api::brain::views::saved(test, &steward, name, spec).await;
            assert_eq!(saved.status, 200, "{}", saved.text());
        }
    }

    /// A view for the caller, or for another: whom it is not for does not see it.
    fn view(&self, of: Of, who: &Who) -> String {
        match of {
            Absent => "none".into(),
            Own if !matches!(who.id, "" | "ext") => "open".into(),
            _ => "hidden".into(),
        }
    }

    /// A proposal to make a collection, of the caller or of somebody else.
    pub(super) async fn proposal(&mut self, of: Of, who: &Who) -> String {
        if of == Absent {
            return "scp_00000000000000000000000000".into();
        }
        let by = author(of, who);
        let token = self.test.token(by, json!({})).await;
        let ops = json!([{ "create": { "spec": { "fields": { "text": { "type": "text" } } } } }]);
        let new = json!({ "collection": self.fresh("made").replace('-', "_"), "ops": ops, "reason": "tidying up" });
        let proposed = self.test.post("/schema/proposals", &token, new).await;
        let id = proposed.json()["id"].as_str().unwrap_or_else(|| panic!("{}", proposed.text())).to_owned();
        self.proposals.push(id.clone());
        id
    }

    /// Takes back what was proposed, so that there is room for more.
    pub(super) async fn take_back_proposals(&mut self) {
        for id in std::mem::take(&mut self.proposals) {
            let path = format!("/schema/proposals/{id}/reject");
            self.test.post(&path, &self.test.admin, json!({ "reason": "tidying up" })).await;
        }
    }

    /// So that they may have another.
    pub(super) async fn review_grants_of(&self, holder: &str) {
        let grants = self.test.get("/policy/break-glass", &self.test.admin).await.json();
        let open = |grant: &&Value| grant["holder"] == holder && grant["review"].is_null();
        for grant in grants.as_array().unwrap().iter().filter(open) {
            let path = format!("/policy/break-glass/{}/review", grant["id"].as_str().unwrap());
            self.test.post(&path, &self.test.admin, json!({ "verdict": "justified" })).await;
        }
    }

    /// A grant that changes no other answer.
    pub(super) fn harmless() -> Value {
        json!({ "scope": ["tick"], "reason": "tidying up" })
    }

    /// Policies that could come into force: always the same, so that they are compiled once.
    pub(super) fn policies() -> Value {
        json!(
            Bundle::new(
                [("note.cedar", "// One more file.\n")].into_iter().chain(
                    Bundle::built_in()
                        .files
                        .iter()
                        .filter(|(path, _)| !path.starts_with("tests/"))
                        .map(|(path, text)| (path.as_str(), text.as_str()))
                )
            )
            .files
        )
    }

    /// A change by whoever may propose, or else by another admin.
    pub(super) async fn change(&self, of: Of, who: &Who) -> String {
        if of == Absent {
            return "chg_00000000000000000000000000".into();
        }
        let author = if of == Own && matches!(who.id, "ada" | "sam") { who.id } else { "ana" };
        let token = self.new_token(author).await["token"].as_str().unwrap().to_owned();
        let new = json!({ "files": Stage::policies(), "reason": "tidying up" });
        let proposed = self.test.post("/policy/proposals", &token, new).await;
        proposed.json()["id"].as_str().unwrap_or_else(|| panic!("{}", proposed.text())).to_owned()
    }

    /// A delegation to the caller, or between others, with a reservation.
    pub(super) async fn delegation(&self, of: Of, who: &Who) -> (String, String) {
        let taker = match of {
            Absent => return ("dlg_00000000000000000000000000".into(), "rsv_00000000000000000000000000".into()),
            Own if !who.id.is_empty() => who.id,
            _ => "oz",
        };
        let giver = self.new_token("fay").await["token"].as_str().unwrap().to_owned();
        let new = json!({ "to": taker, "authority": "act" });
        let id = self.test.post("/delegations", &giver, new).await.json()["id"].as_str().unwrap().to_owned();
        let reserve = json!({ "cents": 5, "purpose": "tidying up" });
        let kept = self.test.post(&format!("/delegations/{id}/reservations"), &self.test.admin, reserve).await.json();
        (id, kept["id"].as_str().unwrap().to_owned())
    }

    /// A webhook of the caller, if it can have one, or of ana; and a message that was to be sent to it.
    pub(super) async fn webhook(&mut self, name: &str, of: Of, who: &Who) -> Value {
        let new = json!({ "url": "https://hooks.example.com/ok", "events": ["agent.gate.pending"] });
        let machine = ["bot", "ext", ""].contains(&who.id);
        let about = |id: &Value, message: &Value| match name {
            "webhook.redeliver" => json!({ "id": id, "message": message }),
            "webhook.update" => json!({ "id": id, "description": "tidying up" }),
            _ => json!({ "id": id }),
        };
        let id = match of {
            Absent => return about(&json!("whk_00000000000000000000000000"), &json!("msg_00000000000000000000000000")),
            Own if !machine => {
                // Nobody but admins names one; others get it from an admin who leaves.
                let admin = self.fresh("giver");
                let token = self.test.add(&admin, "person", json!({ "role": "admin" })).await;
                let id = self.test.post("/v1/webhooks", &token, new).await.json()["id"].clone();
                let leaving = json!({ "reason": "tidying up", "successor": who.id });
                let left = self.test.post(&format!("/actors/{admin}/offboard"), &self.test.admin, leaving).await;
                assert_eq!(left.json()["webhooks_handed_on"][0], id, "{}", left.text());
                id
            }
            _ => self.test.post("/v1/webhooks", &self.test.admin, new).await.json()["id"].clone(),
        };
        let path = format!("/v1/webhooks/{}", id.as_str().unwrap());
        self.test.post(&format!("{path}/test"), &self.test.admin, json!({})).await;
        let sent = self.test.get(&format!("{path}/deliveries"), &self.test.admin).await.json();
        about(&id, &sent["data"][0]["id"])
    }

    /// So that there are never too many.
    pub(super) async fn remove_webhook(&self, id: &Value) {
        if let Some(id) = id.as_str() {
            self.test.call("DELETE", &format!("/v1/webhooks/{id}"), &self.test.admin, None).await;
        }
    }
}
