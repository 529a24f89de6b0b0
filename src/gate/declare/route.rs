//! Where an operation is reached, and what is special about its route. A route declares only what differs from the
//! default: `post("/actors").created()`.

use serde_json::Value;
use types::knowledge::Origin;
use types::refusal::Code;
use types::run::{StepKind, ToolEffect};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// Where an operation is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// Below `/api`.
    Api,
    /// Elsewhere: the path is the whole address.
    Root,
    /// At an address that a standard names, and as it has it: what is malformed is 400 in the error shape, and unknown
    /// fields are passed over.
    Standard,
    /// Not over HTTP: for whoever holds the state file.
    Local,
}

/// Who may come to it; what they may do is for the policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Holders of a token.
    Token,
    /// Holders of a token, and the server itself, as `Ok::Server`.
    Server,
    /// Agents at work, at a step of a run.
    Run,
    /// Everybody: callers without a token are asked about as `Ok::Visitor`.
    Visitor,
}

/// What a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    Usual,
    /// May hold a whole bundle of policies.
    Large,
    /// None: the input's field `host` is the request's `Host`.
    Host,
}

/// What an answer is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Json,
    /// JSON that may be cut short where what is archived, kept elsewhere or old would go on: `x-ok-partial` says so.
    Partial,
    /// JSON with a field that is shown once and stored nowhere.
    Secret(&'static str),
    /// The output is a string, sent as it is.
    Text,
    /// The answer begins a stream of server-sent events.
    Events,
}

/// What an operation does besides what it records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impact {
    Usual,
    /// It stops or revokes something: accepted also where the disk is nearly full, and held up by no
    /// limit of the company's.
    Stops,
    /// It lets something out of the company: its action is in the group `outward`.
    LetsOut,
}

/// A tool from elsewhere, which does its work after it was decided here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct External {
    pub effect: ToolEffect,
    /// Of its answers: untrusted, unless nothing in them comes from outside.
    pub answers: Origin,
}

/// The field of the input that holds the version that the change was made from; `If-Match` fills it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// It takes no version.
    None,
    /// The version of the thing that the change is about: any other than the current one is a conflict.
    Current(&'static str),
    /// The version of another thing, which the operation itself checks.
    Checked(&'static str),
}

impl Precondition {
    pub const fn field(self) -> Option<&'static str> {
        match self {
            Precondition::None => None,
            Precondition::Current(field) | Precondition::Checked(field) => Some(field),
        }
    }
}

/// Among which other work something long waits for its place: none waits for that of another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Pages of lists.
    Lists,
    /// Decisions of approvals, which carry out what was approved.
    Approvals,
    /// Whatever compiles, compares or tests whole bundles of policies.
    Policies,
    /// Whatever else looks at much.
    Long,
    /// What waits for another system.
    Elsewhere,
}

impl Lane {
    /// Returns whether work in this lane can take so long that askers queue for it and other calls pass it in the
    /// writer.
    pub const fn is_long(self) -> bool {
        matches!(self, Lane::Policies | Lane::Long)
    }
}

/// Where an operation is found, and the shape of its answer.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub method: Method,
    /// `{name}` is a path parameter and a field of the input.
    pub path: &'static str,
    pub surface: Surface,
    pub auth: Auth,
    pub body: Body,
    pub answer: Answer,
    pub status: u16,
    /// Set if the operation may take long: a query then runs, and a change is prepared, where it delays nobody.
    /// `is_long` may tell which queries do.
    pub slow: Option<Lane>,
    pub impact: Impact,
    pub precondition: Precondition,
    pub external: Option<External>,
    /// What kind of step of a run a call of it is.
    pub step: StepKind,
    /// The code of a denial by policy.
    pub denied: Code,
}

const fn route(method: Method, path: &'static str) -> Route {
    Route {
        method,
        path,
        surface: Surface::Api,
        auth: Auth::Token,
        body: Body::Usual,
        answer: Answer::Json,
        status: 200,
        slow: None,
        impact: Impact::Usual,
        precondition: Precondition::None,
        external: None,
        step: StepKind::Tool,
        denied: Code::Denied,
    }
}

pub const fn get(path: &'static str) -> Route {
    route(Method::Get, path)
}
pub const fn post(path: &'static str) -> Route {
    route(Method::Post, path)
}
pub const fn put(path: &'static str) -> Route {
    route(Method::Put, path)
}
pub const fn patch(path: &'static str) -> Route {
    route(Method::Patch, path)
}
pub const fn delete(path: &'static str) -> Route {
    route(Method::Delete, path)
}

impl Route {
    pub const fn created(self) -> Route {
        Route { status: 201, ..self }
    }
    /// It begins something that goes on after the answer.
    pub const fn accepted(self) -> Route {
        Route { status: 202, ..self }
    }
    /// At an address that a standard names, from the root.
    pub const fn standard(self) -> Route {
        Route { surface: Surface::Standard, ..self }
    }
    /// Whether a field of the input stands in the path.
    pub fn has_in_path(&self, name: &str) -> bool {
        self.path.contains(&format!("{{{name}}}"))
    }
    pub const fn from_root(self) -> Route {
        Route { surface: Surface::Root, ..self }
    }
    pub const fn with_host(self) -> Route {
        Route { body: Body::Host, ..self }
    }
    /// The whole path.
    pub fn address(&self) -> String {
        if self.is_in_api() { format!("/api{}", self.path) } else { self.path.to_owned() }
    }
    /// Whether its path is below `/api`.
    pub fn is_in_api(&self) -> bool {
        matches!(self.surface, Surface::Api | Surface::Local)
    }
    /// Whether it is served over HTTP.
    pub fn is_served(&self) -> bool {
        self.surface != Surface::Local
    }
    /// Whether it is as a standard has it.
    pub fn is_standard(&self) -> bool {
        self.surface == Surface::Standard
    }
    /// Whether callers need no token.
    pub fn is_open(&self) -> bool {
        self.auth == Auth::Visitor
    }
    /// Whether only agents at work reach it, as a step of their run.
    pub fn is_in_run(&self) -> bool {
        self.auth == Auth::Run
    }
    /// The field of the answer that is shown once.
    pub const fn once(&self) -> Option<&'static str> {
        match self.answer {
            Answer::Secret(field) => Some(field),
            Answer::Json | Answer::Partial | Answer::Text | Answer::Events => None,
        }
    }
    pub const fn open(self) -> Route {
        Route { auth: Auth::Visitor, ..self }
    }
    pub const fn by_server(self) -> Route {
        Route { auth: Auth::Server, ..self }
    }
    pub const fn in_run(self) -> Route {
        Route { auth: Auth::Run, ..self }
    }
    pub const fn as_step(self, step: StepKind) -> Route {
        Route { step, ..self }
    }
    pub const fn outward(self) -> Route {
        Route { impact: Impact::LetsOut, ..self }
    }
    pub const fn stops(self) -> Route {
        Route { impact: Impact::Stops, ..self }
    }
    /// Whether it stops or revokes something.
    pub fn is_stop(&self) -> bool {
        self.impact == Impact::Stops
    }
    /// Whether a call of it is made outside, after it was decided.
    pub const fn is_external(&self) -> bool {
        self.external.is_some()
    }
    /// No address at all.
    pub const LOCAL: Route = Route { surface: Surface::Local, ..post("") };

    pub const fn slow(self) -> Route {
        self.slow_among(Lane::Long)
    }
    /// Whole bundles of policies are compiled, compared or tested for it.
    pub const fn compiles(self) -> Route {
        self.slow_among(Lane::Policies)
    }
    pub const fn slow_among(self, lane: Lane) -> Route {
        Route { slow: Some(lane), ..self }
    }
    /// A list of rows that are asked about one by one.
    pub const fn listed(self) -> Route {
        self.slow_among(Lane::Lists)
    }
    pub const fn large(self) -> Route {
        Route { body: Body::Large, ..self }
    }
    pub const fn text(self) -> Route {
        Route { answer: Answer::Text, ..self }
    }
    pub const fn partial(self) -> Route {
        Route { answer: Answer::Partial, ..self }
    }
    pub const fn stream(self) -> Route {
        Route { answer: Answer::Events, ..self }
    }
    pub const fn secret(self, field: &'static str) -> Route {
        Route { answer: Answer::Secret(field), ..self }
    }
    /// Declares the field that holds the version on which the change is based; any other current version is a conflict.
    pub const fn made_from(self, field: &'static str) -> Route {
        Route { precondition: Precondition::Current(field), ..self }
    }
    /// Declares the field that holds the version of another thing; the operation itself checks that version.
    pub const fn based_on(self, field: &'static str) -> Route {
        Route { precondition: Precondition::Checked(field), ..self }
    }
    /// Returns the version that a call with this input requires to be current, if it states one.
    pub fn current_version(&self, input: &Value) -> Option<i64> {
        let Precondition::Current(field) = self.precondition else { return None };
        input.get(field)?.as_i64()
    }
    pub const fn denied_as(self, denied: Code) -> Route {
        Route { denied, ..self }
    }
}

impl Method {
    pub const fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}
