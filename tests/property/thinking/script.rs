//! What is drawn for a run: what its model answers, or the steps of its plan.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use ok::background::models::{Asking, Chat, Hear};
use ok::types::chat::{Answer, Failed, Prompt, Wanted};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::Notify;

#[derive(Clone, Debug)]
pub enum Said {
    Done,
    /// It wants these at once.
    Calls(Vec<Call>),
    Refuses,
    BreaksOff,
    /// The server dies while it answers.
    Dies,
}

#[derive(Clone, Copy, Debug)]
pub enum Call {
    Create,
    CreateWithApproval,
    /// The same as all others of its answer, to the letter.
    Alike,
    Delegate,
    Forbidden,
    Unheard,
    Crooked,
    Ask,
    /// What happens each time that it is called.
    Pay,
    /// What happens once for each key.
    Send,
}

pub fn said() -> impl Strategy<Value = Said> {
    use Call::{Alike, Ask, Create, CreateWithApproval, Crooked, Delegate, Forbidden, Pay, Send, Unheard};
    let all =
        vec![Create, Create, CreateWithApproval, Alike, Delegate, Forbidden, Unheard, Crooked, Ask, Pay, Pay, Send];
    let call = prop::sample::select(all);
    prop_oneof![
        1 => Just(Said::Done),
        6 => prop::collection::vec(call, 1..4).prop_map(Said::Calls),
        1 => Just(Said::Refuses),
        2 => Just(Said::BreaksOff),
        3 => Just(Said::Dies),
    ]
}

/// A model that says what was drawn for it, and at last that it is done.
#[derive(Default)]
pub struct Script {
    pub left: Mutex<VecDeque<Said>>,
    pub asked: Mutex<Vec<Prompt>>,
    pub answered: Mutex<usize>,
    pub dies: Arc<Notify>,
}

impl Script {
    /// What it answers; none where the server dies first.
    fn next(&self, prompt: &Prompt) -> Option<Result<Answer, Failed>> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(prompt.clone());
        let number = asked.len();
        let calls = match self.left.lock().unwrap().pop_front().unwrap_or(Said::Done) {
            Said::Done => Vec::new(),
            Said::Calls(calls) => calls.iter().enumerate().map(|(at, call)| wanted(*call, number, at)).collect(),
            Said::Refuses => return Some(Err(Failed::Refused("it refuses".into()))),
            Said::BreaksOff => return Some(Err(Failed::Unknown("it broke off".into()))),
            Said::Dies => return None,
        };
        *self.answered.lock().unwrap() += 1;
        let text = if calls.is_empty() { "done".to_owned() } else { String::new() };
        Some(Ok(Answer { text, calls, input_tokens: prompt.tokens(), output_tokens: prompt.most_output }))
    }
}

fn wanted(call: Call, number: usize, at: usize) -> Wanted {
    let (tool, arguments) = match call {
        Call::Create => ("task_create", json!({ "title": format!("{number}/{at}") })),
        Call::CreateWithApproval => ("task_create", json!({ "title": format!("{number}/{at}"), "priority": "urgent" })),
        Call::Alike => ("task_create", json!({ "title": format!("{number}/x"), "priority": "urgent" })),
        Call::Delegate => {
            let plan = json!({ "steps": [{ "call": { "tool": "task.create", "with": { "title": format!("{number}/{at}") } } }] });
            ("agent_ask", json!({ "agent": "aide", "text": format!("{number}/{at}"), "plan": plan }))
        }
        Call::Forbidden => ("tick", json!({})),
        Call::Unheard => ("no_such_tool", json!({})),
        Call::Crooked => ("task_create", json!("{\"title\": ")),
        Call::Pay => ("echo_once", json!({ "text": format!("{number}/{at}") })),
        Call::Send => ("echo_idempotent", json!({ "text": format!("{number}/{at}") })),
        Call::Ask => ("run_ask", json!({ "text": format!("{number}/{at}?") })),
    };
    Wanted { id: format!("call {number}/{at}"), tool: tool.into(), arguments, signatures: Vec::new() }
}

impl Chat for Script {
    fn ask<'a>(&'a self, prompt: &'a Prompt, _: &'a Hear<'a>) -> Asking<'a> {
        Box::pin(async move {
            match self.next(prompt) {
                Some(answer) => answer,
                None => {
                    self.dies.notify_one();
                    std::future::pending().await
                }
            }
        })
    }
}

/// The same as the steps of a plan, which are taken one after the other.
pub fn planned(answers: &[Said]) -> Value {
    let steps = answers.iter().enumerate().flat_map(|(number, said)| match said {
        Said::Done => vec![json!({ "say": "so far" })],
        Said::Calls(calls) => calls.iter().enumerate().map(|(at, call)| step(*call, number, at)).collect(),
        Said::Refuses => vec![json!({ "fail": "it refuses" })],
        Said::BreaksOff => vec![json!({ "wait": { "seconds": 60 } })],
        Said::Dies => {
            vec![json!({ "model": { "text": "hm", "input_tokens": 3, "output_tokens": 1, "cost_cents": 2 } })]
        }
    });
    json!({ "steps": steps.collect::<Vec<_>>() })
}

fn step(call: Call, number: usize, at: usize) -> Value {
    let Wanted { tool, arguments, .. } = wanted(call, number, at);
    match call {
        Call::Delegate => json!({ "delegate": arguments }),
        Call::Ask => json!({ "ask": arguments }),
        // A plan with either is not taken.
        Call::Unheard | Call::Crooked => json!({ "say": tool }),
        _ => json!({ "call": { "tool": tool.replace('_', "."), "with": arguments } }),
    }
}
