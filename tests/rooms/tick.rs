//! What ends by itself.

use ok::background::tick::all_due;
use ok::types::time::DAY;

use crate::harness::Test;

#[tokio::test]
async fn a_token_ends_by_itself_once() {
    let test = Test::new().await;
    let gate = &test.company.gate;
    let size = || *gate.grown().borrow();
    let before = size();
    all_due(gate).await.unwrap();
    assert_eq!(size(), before);
    test.clock.advance(31 * DAY);
    all_due(gate).await.unwrap();
    all_due(gate).await.unwrap();
    assert_eq!(size(), before + 1);
}
