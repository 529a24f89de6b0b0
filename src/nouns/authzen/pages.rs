//! Pages of a search, as the standard has them: a token for the next page that is valid for the same search alone.
//!
//! Always true: a page costs a bounded number of decisions, so it may be short or empty without being the last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use gate::Reader;
use types::refusal::{Refusal, Stop};

/// The default and maximum number of results per page.
const MOST_RESULTS: usize = 1_000;
/// The maximum number of candidates evaluated per page.
const MOST_ASKED: usize = 5_000;
/// The number of candidates read at once.
const CHUNK: usize = 500;

/// Candidates, each with its sort key.
pub type Placed<C> = Result<Vec<(String, C)>, Stop>;

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct PageRequest {
    /// The previous page's `next_token`. Everything else must be unchanged; `limit` may be omitted.
    #[schemars(length(max = 65_536))]
    pub token: Option<String>,
    /// The maximum number of results; 1000 by default and at most.
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Results<T> {
    pub page: PageShown,
    pub results: Vec<T>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct PageShown {
    /// Empty on the last page.
    pub next_token: String,
    pub count: usize,
    /// Present only if all results are on this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
}

/// The requested page of a search.
pub struct Pages<'a> {
    read: &'a Reader<'a>,
    /// Identifies the search.
    what: String,
    limit: Option<u32>,
    /// The last candidate of the previous page.
    after: Option<String>,
}

impl<'a> Pages<'a> {
    pub fn of(asked: Option<&PageRequest>, what: String, read: &'a Reader<'a>) -> Result<Pages<'a>, Stop> {
        let limit = asked.and_then(|page| page.limit);
        if limit == Some(0) {
            return Err(Refusal::bad_request("page.limit: must be at least 1").into());
        }
        let token = asked.and_then(|page| page.token.as_deref()).filter(|token| !token.is_empty());
        let Some(token) = token else { return Ok(Pages { read, what, limit, after: None }) };
        let other = || Refusal::bad_request("page.token: does not belong to this search");
        let opened = read.opened(what.clone(), token).map_err(|_| other())?;
        let (before, after) = opened.split_once(' ').ok_or_else(other)?;
        let before = before.parse::<u32>().ok();
        if limit.is_some() && limit != before {
            return Err(Refusal::bad_request("page.limit: must be the same as on the previous page").into());
        }
        Ok(Pages { read, what, limit: before, after: Some(after.to_owned()) })
    }

    fn limit(&self) -> usize {
        self.limit.map_or(MOST_RESULTS, |limit| (limit as usize).min(MOST_RESULTS))
    }

    /// Evaluates candidates in order. `more` reads those after a sort key.
    pub fn walk<C, T>(
        &self,
        more: impl Fn(&str, usize) -> Placed<C>,
        mut may: impl FnMut(C) -> Result<Option<T>, Stop>,
    ) -> Result<Results<T>, Stop> {
        let (mut results, mut last, mut asked) = (Vec::new(), self.after.clone().unwrap_or_default(), 0);
        loop {
            let chunk = more(&last, CHUNK)?;
            let is_last = chunk.len() < CHUNK;
            for (place, candidate) in chunk {
                if asked == MOST_ASKED {
                    return Ok(self.page(results, Some(&last)));
                }
                asked += 1;
                let found = may(candidate)?;
                if found.is_some() && results.len() == self.limit() {
                    return Ok(self.page(results, Some(&last)));
                }
                results.extend(found);
                last = place;
            }
            if is_last {
                return Ok(self.page(results, None));
            }
        }
    }

    /// Returns a page that holds all results.
    pub fn all<T>(&self, results: Vec<T>) -> Results<T> {
        let from = self.after.as_deref().and_then(|after| after.parse::<usize>().ok()).unwrap_or(0);
        let (end, total) = (from.saturating_add(self.limit()), results.len());
        let shown = results.into_iter().skip(from).take(self.limit()).collect();
        self.page(shown, (end < total).then(|| end.to_string()).as_deref())
    }

    fn page<T>(&self, results: Vec<T>, last: Option<&str>) -> Results<T> {
        let limit = self.limit.map(|limit| limit.to_string()).unwrap_or_default();
        let next = last.and_then(|last| self.read.sealed(self.what.clone(), &format!("{limit} {last}")));
        let next_token = next.unwrap_or_default();
        let count = results.len();
        let is_all = self.after.is_none() && next_token.is_empty();
        Results { page: PageShown { next_token, count, total: is_all.then_some(count) }, results }
    }
}
