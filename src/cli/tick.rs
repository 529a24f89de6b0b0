//! `ok tick`: what time brings about, once.

use super::column::columns;
use super::command::Commands;
use super::operation::change;
use crate::operations::tick::{Tick, Ticked};

pub const COMMANDS: Commands = &[&change::<Tick>()
    .command("tick")
    .help("Advance the clock once: end the tokens and approvals whose time is over, remind and escalate")
    .fields(columns!(Ticked; now, expired, reminded, escalated, more))];
