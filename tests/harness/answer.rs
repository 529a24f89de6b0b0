//! What a request was answered.

use axum::http::{HeaderMap, StatusCode};
use serde_json::Value;

/// An answer.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
    /// The names of the answer's fields, sorted.
    pub fn fields(&self) -> Vec<String> {
        let mut names: Vec<String> = self.json().as_object().unwrap().keys().cloned().collect();
        names.sort_unstable();
        names
    }
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }
    /// Status, code and message of an error, which has no other fields.
    pub fn error(&self) -> String {
        let body = self.json();
        let mut named = vec!["error", "message"];
        match body["error"].as_str() {
            Some("invalid") => named.push("problems"),
            Some("needs_approval") => named.push("approval"),
            _ => {}
        }
        named.sort_unstable();
        assert_eq!(self.fields(), named, "{}", self.text());
        format!("{} {} {}", self.status.as_u16(), body["error"].as_str().unwrap(), body["message"].as_str().unwrap())
    }
}
