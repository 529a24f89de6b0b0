//! The demo's external system: the warehouse's own table of shipments, which `ok` reads and does not change.

use std::fs;
use std::path::Path;

use rusqlite::{OpenFlags, params};

use super::CannotTell;
use crate::adapters::connect_sqlite;
use crate::types::time::{DAY, Time};

/// The file that configures external systems, as in `OK_SYSTEMS_CONFIG`.
pub const SYSTEMS: &str = "systems.yaml";
/// The warehouse's database file.
pub const FILE: &str = "warehouse.db";

const CUSTOMERS: [&str; 4] = ["Café Nordlicht", "Lindner & Partner", "Kiosk am Park", "Yuki Tanaka"];
const CARRIERS: [&str; 3] = ["DHL", "GLS", "courier"];
const SHIPMENTS: usize = 60;

/// Writes both files into a folder.
pub fn make(folder: &Path, now: Time) -> Result<(), CannotTell> {
    let systems = folder.join(SYSTEMS);
    let text = format!(
        "# Which other systems keep collections: `ok demo serve` reads this, other commands with OK_SYSTEMS_CONFIG.\n\
         systems:\n  warehouse:\n    adapter: sqlite\n    file: {FILE}\n    tables: [shipments]\n"
    );
    fs::write(&systems, text).map_err(|error| CannotTell::Write(systems, error))?;
    let file = folder.join(FILE);
    fill(&file, now).map_err(|error| CannotTell::Write(file, std::io::Error::other(error)))
}

fn fill(file: &Path, now: Time) -> rusqlite::Result<()> {
    let mut conn = connect_sqlite(file, OpenFlags::default())?;
    let moment = conn.transaction()?;
    moment.execute_batch(
        "CREATE TABLE shipments (no TEXT PRIMARY KEY, customer TEXT, carrier TEXT, state TEXT, grams INTEGER, cost REAL, sent TEXT)",
    )?;
    for number in 0..SHIPMENTS {
        let days = SHIPMENTS - number;
        let sent: String = Time(now.0 - DAY * (days as i64 / 2)).to_string().chars().take(10).collect();
        let state = match days {
            0..=4 => "packed",
            5..=12 => "on_its_way",
            _ if number % 17 == 0 => "returned",
            _ => "delivered",
        };
        let pick = |of: &[&'static str], by: usize| of.get((number / by) % of.len()).copied().unwrap_or_default();
        let (customer, carrier) = (pick(&CUSTOMERS, 1), pick(&CARRIERS, 2));
        let (grams, cost) = (250 * (1 + number % 8), 3.9 + 0.5 * (number % 5) as f64);
        let name = format!("S-{}", 4_700 + number);
        let row = params![name, customer, carrier, state, grams as i64, cost, sent];
        moment.execute("INSERT INTO shipments VALUES (?, ?, ?, ?, ?, ?, ?)", row)?;
    }
    moment.commit()
}
