//! Records that somebody hidden wrote.

use serde_json::{Value, json};

use super::{NAME, Stage, id};

fn notes(ids: &[String]) -> Vec<Value> {
    ids.iter().map(|id| json!({ "collection": "notes", "id": id })).collect()
}

impl Stage {
    /// Notes that they wrote, and a change that they want.
    pub(super) async fn records(&mut self, lead: &str) {
        let test = &self.test;
        let spec = json!({ "fields": { "text": { "type": "text" }, "owner": { "type": "actor" } } });
        crate::api::brain::create(test, "notes", spec).await;
        let path = "/brain/collections/notes/records";
        for text in ["one", "two"] {
            let written = test.post(path, lead, json!({ "fields": { "text": text, "owner": NAME } })).await;
            self.records.push(id(&written));
            let flag = json!({ "kind": "wrong", "note": "see @eye" });
            assert_eq!(test.post(&format!("{path}/{}/flag", self.records[0]), lead, flag).await.status, 201);
        }
        let ops = json!([{ "index": { "name": "text", "on": true } }]);
        let wanted = json!({ "collection": "notes", "ops": ops, "reason": "for @eye" });
        self.proposal = id(&test.post("/schema/proposals", lead, wanted).await);
    }

    /// What is asked about them.
    pub(super) fn brain(&self, name: &str) -> Vec<Value> {
        match name {
            "collection.catalog" => vec![json!({ "phrase": "text" })],
            "search" => vec![json!({ "q": "y" }), json!({ "q": "eye" })],
            "collection.read" | "collection.query" | "record.list" => vec![json!({ "collection": "notes" })],
            "record.aggregate" => {
                let measures = json!(["count", "max:owner"]);
                vec![json!({ "collection": "notes", "measures": measures, "group_by": ["created_by"] })]
            }
            "record.read" | "record.history" | "record.refs" => notes(&self.records),
            "record.write" => vec![json!({ "collection": "notes", "id": self.records[0], "fields": { "text": "y" } })],
            "record.import" => vec![json!({ "collection": "notes", "records": [{ "text": "z" }] })],
            "record.replace" | "record.change" => {
                vec![json!({ "collection": "notes", "id": self.records[0], "fields": { "text": "y" } })]
            }
            "record.flag" => vec![json!({ "collection": "notes", "id": self.records[0], "kind": "stale" })],
            "record.rollback" => {
                vec![json!({ "collection": "notes", "id": self.records[0], "to_version": 1, "reason": "x" })]
            }
            "record.delete" => notes(&self.records[1..]),
            "schema.propose" => vec![],
            "schema.read" => vec![json!({ "id": self.proposal })],
            "schema.apply" => vec![json!({ "id": self.proposal, "dry_run": true })],
            "schema.reject" => vec![json!({ "id": self.proposal, "reason": "x" })],
            _ => vec![json!({})],
        }
    }
}
