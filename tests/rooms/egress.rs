//! What leaves this machine: names that lead nowhere, and how long a server asks to be left alone.

use ok::background::egress::{Vetted, retry_after};
use ok::types::egress::Egress;
use reqwest::dns::Resolve as _;
use reqwest::header::RETRY_AFTER;

#[tokio::test]
async fn a_name_that_leads_here_leads_nowhere() {
    let found = Vetted(Egress::default()).resolve("localhost".parse().unwrap()).await;
    assert_eq!(found.err().unwrap().to_string(), "`localhost` leads to no public address");
    let here = Egress { loopback: true, ..Egress::default() };
    assert!(Vetted(here).resolve("localhost".parse().unwrap()).await.is_ok());
}

#[test]
fn how_long_nothing_is_wanted_is_said_in_seconds_or_as_a_time() {
    let said = |text: &str| retry_after(&[(RETRY_AFTER, text.parse().unwrap())].into_iter().collect(), 1_445_412_400);
    assert_eq!(said("120"), Some(120));
    assert_eq!(said("Wed, 21 Oct 2015 07:28:00 GMT"), Some(80));
    assert_eq!((said("Wed, 21 Oct 2015 07:00:00 GMT"), said("soon")), (None, None));
}
