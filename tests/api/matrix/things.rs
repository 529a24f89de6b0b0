//! What the matrix asks about.

use ok::policy::Bundle;
use serde_json::{Value, json};

use super::Of::{self, *};
use super::{Stage, Who};

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
        let token = self.new_token(&holder).await["token"].as_str().unwrap().to_owned();
        let opened = self.test.post("/policy/break-glass", &token, Stage::harmless()).await;
        opened.json()["id"].as_str().unwrap_or_else(|| panic!("{}", opened.text())).to_owned()
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
        json!({ "scope": ["tick"], "reason": "a matrix" })
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
        let new = json!({ "files": Stage::policies(), "reason": "a matrix" });
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
        let reserve = json!({ "cents": 5, "purpose": "a matrix" });
        let kept = self.test.post(&format!("/delegations/{id}/reservations"), &self.test.admin, reserve).await.json();
        (id, kept["id"].as_str().unwrap().to_owned())
    }
}
