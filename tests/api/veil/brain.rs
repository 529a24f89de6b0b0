//! Records that somebody hidden wrote, and what they know.

use serde_json::{Value, json};

use super::{NAME, Stage, id};

fn notes(ids: &[String]) -> Vec<Value> {
    ids.iter().map(|id| json!({ "collection": "notes", "id": id })).collect()
}

impl Stage {
    /// Notes that they wrote, and a change that they want.
    pub(super) async fn records(&mut self, lead: &str, admin: &str) {
        let test = &self.test;
        let fields = json!({ "text": { "type": "text" }, "keeper": { "type": "actor" } });
        let spec =
            json!({ "fields": fields, "semantics": { "metrics": { "last": { "agg": "max", "field": "keeper" } } } });
        crate::api::brain::create(test, "notes", spec).await;
        let query = json!({ "collection": "notes", "metrics": ["last"], "group_by": ["keeper"],
                            "filter": { "or": [{ "keeper": NAME }, { "created_by": NAME }, { "text": "one" }] } });
        let saved = crate::api::brain::views::saved(test, admin, "theirs", json!({ "query": query })).await;
        assert_eq!(saved.status, 200, "{}", saved.text());
        let path = "/brain/collections/notes/records";
        for text in ["one", "two"] {
            let written = test.post(path, lead, json!({ "fields": { "text": text, "keeper": NAME } })).await;
            self.records.push(id(&written));
            let flag = json!({ "kind": "wrong", "note": "see @eye" });
            assert_eq!(test.post(&format!("{path}/{}/flag", self.records[0]), lead, flag).await.status, 201);
        }
        let ops = json!([{ "index": { "name": "text", "on": true } }]);
        let wanted = json!({ "collection": "notes", "ops": ops, "reason": "for @eye" });
        self.others.push(id(&test.post("/schema/proposals", lead, wanted).await));
        for statement in ["all is well", "it rains", "trains are late", "tea is hot"] {
            let new = json!({ "statement": statement, "topics": ["veil"], "scope": "team:veil" });
            self.others.push(id(&test.post("/knowledge", lead, new).await));
        }
        let new = json!({ "name": "tea handbook", "content_type": "text/markdown", "text": "tea is for all" });
        self.others.push(id(&test.post("/knowledge/documents", lead, new).await));
        let accept = format!("/knowledge/{}/accept", self.others[1]);
        assert_eq!(test.post(&accept, admin, json!({ "note": "fine, @eye" })).await.status, 200);
    }

    /// What is asked about them.
    pub(super) fn brain(&self, name: &str) -> Vec<Value> {
        match name {
            "collection.catalog" => vec![json!({ "phrase": "text" })],
            "search" => vec![json!({ "q": "y" }), json!({ "q": "eye" })],
            "collection.read" | "collection.query" | "record.list" | "semantics.read" => {
                vec![json!({ "collection": "notes" })]
            }
            "record.aggregate" => {
                let measures = json!(["count", "max:keeper"]);
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
            "knowledge.propose" => vec![],
            "knowledge.upload" => vec![],
            "knowledge.recall" => vec![json!({}), json!({ "q": "handbook" })],
            "knowledge.text" => vec![json!({ "id": self.others[5] })],
            "knowledge.read" => self.others[1..].iter().map(|id| json!({ "id": id })).collect(),
            "knowledge.retract" => vec![json!({ "id": self.others[1] })],
            "knowledge.accept" => vec![json!({ "id": self.others[2] })],
            "knowledge.reject" => vec![json!({ "id": self.others[3] })],
            "view.read" => vec![json!({ "id": "theirs" })],
            "view.preview" => vec![json!({ "query": { "collection": "notes", "filter": { "keeper": NAME } } })],
            "schema.propose" | "semantics.propose" => vec![],
            "schema.read" => vec![json!({ "id": self.others[0] })],
            "schema.apply" => vec![json!({ "id": self.others[0], "dry_run": true })],
            "schema.reject" => vec![json!({ "id": self.others[0], "reason": "x" })],
            _ => vec![json!({})],
        }
    }
}
