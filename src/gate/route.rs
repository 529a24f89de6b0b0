//! Where an operation is found, and what is special about the way there. A route is built by saying what differs from the
//! usual: `post("/actors").created()`.

use crate::types::refusal::Code;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// What an answer is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    Json,
    /// The output is a string, sent as it is.
    Text,
    /// The answer begins a stream of server-sent events.
    Events,
}

/// Among which other work something long waits for its place: none waits for that of another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Pages of lists.
    Lists,
    /// Decisions of approvals, which carry out what was approved.
    Approvals,
    /// Whatever compiles, compares, tests or replays.
    Long,
}

/// Where an operation is found, and the shape of its answer.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub method: Method,
    /// Below `/api`, unless `root`; `{name}` is a path parameter and a field of the input.
    pub path: &'static str,
    /// Not below `/api`: the path is the whole address.
    pub root: bool,
    /// As a standard has it: what is malformed is 400 in the error shape, and unknown fields are passed over.
    pub standard: bool,
    /// The input's field `host` is the request's `Host`.
    pub host: bool,
    pub status: u16,
    pub media: Media,
    /// Callers without a token are asked about as `Ok::Visitor`.
    pub open: bool,
    /// The server itself may perform it, as `Ok::Server`.
    pub by_server: bool,
    /// Not served over HTTP: for whoever holds the state file.
    pub local: bool,
    /// May take long: a query runs, and a change is prepared, where it delays nobody. Which queries do, `is_long` may tell.
    pub slow: Option<Lane>,
    /// It stops or revokes something: accepted also where the disk is nearly full.
    pub stops: bool,
    /// Its body may hold a whole bundle of policies.
    pub large: bool,
    /// A field of the answer that is shown once and stored nowhere.
    pub secret: Option<&'static str>,
    /// The code of a denial by policy.
    pub denied: Code,
}

const fn route(method: Method, path: &'static str) -> Route {
    Route {
        method,
        path,
        root: false,
        standard: false,
        host: false,
        status: 200,
        media: Media::Json,
        open: false,
        by_server: false,
        local: false,
        slow: None,
        stops: false,
        large: false,
        secret: None,
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
    /// At an address that a standard names, from the root.
    pub const fn standard(self) -> Route {
        Route { standard: true, ..self.from_root() }
    }
    /// Whether a field of the input stands in the path.
    pub fn has_in_path(&self, name: &str) -> bool {
        self.path.contains(&format!("{{{name}}}"))
    }
    pub const fn from_root(self) -> Route {
        Route { root: true, ..self }
    }
    pub const fn with_host(self) -> Route {
        Route { host: true, ..self }
    }
    /// The whole path.
    pub fn address(&self) -> String {
        format!("{}{}", if self.root { "" } else { "/api" }, self.path)
    }
    pub const fn open(self) -> Route {
        Route { open: true, ..self }
    }
    pub const fn by_server(self) -> Route {
        Route { by_server: true, ..self }
    }
    pub const fn stops(self) -> Route {
        Route { stops: true, ..self }
    }
    /// No address at all.
    pub const LOCAL: Route = Route { local: true, ..post("") };

    pub const fn slow(self) -> Route {
        self.slow_among(Lane::Long)
    }
    pub const fn slow_among(self, lane: Lane) -> Route {
        Route { slow: Some(lane), ..self }
    }
    /// A list of rows that are asked about one by one.
    pub const fn listed(self) -> Route {
        self.slow_among(Lane::Lists)
    }
    pub const fn large(self) -> Route {
        Route { large: true, ..self }
    }
    pub const fn text(self) -> Route {
        Route { media: Media::Text, ..self }
    }
    pub const fn stream(self) -> Route {
        Route { media: Media::Events, ..self }
    }
    pub const fn denied_as(self, denied: Code) -> Route {
        Route { denied, ..self }
    }
    pub const fn secret(self, field: &'static str) -> Route {
        Route { secret: Some(field), ..self }
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
