//! Budgets: a spender reserves the most that something can cost, and settles the reservation at what it did cost. Nothing is
//! spent without a reservation, and no cost goes unrecorded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DELEGATION;
use super::find;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::delegations::events::{BudgetReserved, BudgetSettled};
use types::delegation::{DelegationStatus, MOST_CENTS};
use types::id::{Id, Kind};
use types::refusal::{Code, Refusal, Stop};
use types::scope::Reach;
use types::visible::is_blank;

/// The maximum number of open reservations per delegation.
const MOST_OPEN: i64 = 1_000;

/// What is to be set aside.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewReservation {
    /// The delegation.
    #[arg(value_name = "DELEGATION")]
    pub id: String,
    /// The maximum to reserve.
    #[arg(value_name = "CENTS")]
    pub cents: i64,
    /// What for; 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    #[arg(long, value_name = "TEXT")]
    #[schemars(extend("x-erasable" = true))]
    pub purpose: String,
}

/// A part of a budget that is reserved.
#[derive(Serialize, JsonSchema)]
pub struct Reserved {
    pub id: Id,
    /// What is left of the budget; none where there is no budget.
    pub left_cents: Option<i64>,
}

/// Reserve a part of a budget.
pub enum Reserve {}

impl Change for Reserve {
    const SPEC: Spec = Spec {
        name: "delegation.reserve",
        doc: "Reserve a part of a delegation's budget before it is spent.",
        scope: Reach::Full,
        route: post("/delegations/{id}/reservations").created().denied_as(Code::NotOwner),
        about: &[&DELEGATION],
        events: &[BudgetReserved::KIND],
    };
    const SAYS: &'static str = "reserves {cents} cents of {id}";
    type Input = NewReservation;
    type Output = Reserved;

    fn target(input: &NewReservation, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.delegation_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: NewReservation, draft: &mut Draft<'_>) -> Result<Reserved, Stop> {
        let (read, NewReservation { id, cents, purpose }) = (draft.read(), input);
        let mut problems = Vec::new();
        if !(1..=MOST_CENTS).contains(&cents) {
            problems.push(format!("cents: must be 1 to {MOST_CENTS}"));
        }
        if is_blank(&purpose) || purpose.chars().count() > 200 {
            problems.push("purpose: must have 1 to 200 characters".to_owned());
        }
        if !problems.is_empty() {
            return Err(Refusal::invalid(problems).into());
        }
        let delegation = find(&id, read)?;
        if !delegation.terms.is_live(read.now()) {
            return Err(Refusal::conflict("the delegation has ended").into());
        }
        if let Some(left) = delegation.left_cents().filter(|left| cents > *left) {
            return Err(Refusal::conflict(format!("{left} cents are left of its budget")).into());
        }
        if read.open_reservations(&id)? >= MOST_OPEN {
            let message = format!("{MOST_OPEN} reservations are open; settle some first");
            return Err(Refusal::conflict(message).into());
        }
        let left_cents = delegation.left_cents().map(|left| left - cents);
        let (reservation, delegation, to) = (draft.new_id(Kind::Reservation), Id::stored(&id), delegation.terms.to);
        draft.record(BudgetReserved { id: reservation.clone(), delegation, to, cents, purpose, run: None })?;
        Ok(Reserved { id: reservation, left_cents })
    }
}

/// What something came to.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Cost {
    /// The delegation.
    #[arg(value_name = "DELEGATION")]
    pub id: String,
    /// The reservation's id.
    #[arg(value_name = "RESERVATION")]
    pub reservation: String,
    /// What was spent, even if more than was reserved.
    #[arg(value_name = "CENTS")]
    pub cents: i64,
}

/// A settled reservation.
#[derive(Serialize, JsonSchema)]
pub struct Settled {
    pub id: String,
    /// What was reserved for it.
    pub reserved_cents: i64,
    pub cents: i64,
    /// What was spent beyond that.
    pub over_cents: i64,
    /// What is left of the budget; none where there is no budget.
    pub left_cents: Option<i64>,
    /// `exhausted` once all of the budget is spent.
    pub status: DelegationStatus,
}

/// Settle a reservation.
pub enum Settle {}

impl Change for Settle {
    const SPEC: Spec = Spec {
        name: "delegation.settle",
        doc: "Settle a reservation: record what was spent of it, also after the delegation has ended.",
        scope: Reach::Full,
        route: post("/delegations/{id}/reservations/{reservation}/settle").denied_as(Code::NotOwner),
        about: &[&DELEGATION],
        events: &[BudgetSettled::KIND],
    };
    const SAYS: &'static str = "settles {reservation} of {id} at {cents} cents";
    type Input = Cost;
    type Output = Settled;

    fn target(input: &Cost, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.delegation_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Cost, draft: &mut Draft<'_>) -> Result<Settled, Stop> {
        let (read, Cost { id, reservation, cents }) = (draft.read(), input);
        if !(0..=MOST_CENTS).contains(&cents) {
            return Err(Refusal::field("cents", format!("must be 0 to {MOST_CENTS}")).into());
        }
        let mut delegation = find(&id, read)?;
        let found = read.reservation(&reservation)?.filter(|found| found.delegation == id);
        let found = found.ok_or_else(Refusal::not_found)?;
        if let Some(settled) = found.settled_cents {
            return Err(Refusal::conflict(format!("it was settled already, at {settled} cents")).into());
        }
        let (event, to) = (Id::stored(&reservation), delegation.terms.to.clone());
        draft.record(BudgetSettled { id: event, delegation: Id::stored(&id), to, cents })?;
        delegation.spent_cents += cents;
        delegation.reserved_cents -= found.cents;
        let spent = delegation.budget_cents.is_some_and(|budget| (budget.max(1)..).contains(&delegation.spent_cents));
        let live = delegation.terms.status.is_live();
        Ok(Settled {
            id: reservation,
            reserved_cents: found.cents,
            cents,
            over_cents: (cents - found.cents).max(0),
            left_cents: delegation.left_cents(),
            status: if live && spent { DelegationStatus::Exhausted } else { delegation.terms.status },
        })
    }
}
