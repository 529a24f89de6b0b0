//! Failed credentials, by address.

use super::{Line, Wire, status};

async fn with(line: &mut Line, credential: &str) -> String {
    line.ask(&format!("GET /api/company HTTP/1.1\r\nhost: ok\r\n{credential}\r\n")).await
}

#[tokio::test]
async fn from_the_61st_failed_credential_in_a_minute_its_address_alone_is_refused() {
    let wire = Wire::new(|_| {}).await;
    let (bad, good) = ("authorization: Bearer nonsense\r\n", format!("authorization: Bearer {}\r\n", wire.test.admin));
    let mut line = wire.connect().await;
    for number in 1..=60 {
        assert_eq!(status(&with(&mut line, bad).await), "401", "number {number}");
        assert_eq!(status(&with(&mut line, "").await), "401", "without a token nothing is counted");
        assert_eq!(status(&with(&mut line, &good).await), "200");
    }
    wire.test.clock.advance(20_000);
    let refused = with(&mut line, bad).await;
    assert_eq!(status(&refused), "429");
    assert!(refused.contains("\r\nretry-after: 40\r\n"), "for the rest of the minute: {refused}");
    assert!(
        refused.ends_with(r#"{"error":"rate_limited","message":"too many failed authentications from this address"}"#),
        "{refused}"
    );
    assert_eq!(status(&with(&mut line, &good).await), "200", "a valid token still works");
    assert_eq!(status(&with(&mut line, "").await), "401", "a request with no token gets 401");
    let mut again = wire.connect().await;
    assert_eq!(status(&with(&mut again, bad).await), "429", "it is the address, not the connection");
    let mut other = wire.connect_from([127, 0, 0, 2]).await;
    assert_eq!(status(&with(&mut other, bad).await), "401", "another address is not affected");
    wire.test.clock.advance(39_999);
    assert_eq!(status(&with(&mut line, bad).await), "429");
    wire.test.clock.advance(1);
    assert_eq!(status(&with(&mut line, bad).await), "401", "the minute is over");
}

#[tokio::test]
async fn a_revoked_token_and_a_foreign_scheme_count_as_failed() {
    let wire = Wire::new(|_| {}).await;
    let mut line = wire.connect().await;
    for number in 1..=60 {
        let credential = if number % 2 == 0 { "authorization: Basic YTpi\r\n" } else { "authorization: Bearer x\r\n" };
        assert_eq!(status(&with(&mut line, credential).await), "401");
    }
    assert_eq!(status(&with(&mut line, "authorization: Basic YTpi\r\n").await), "429");
    let stream = line.ask("GET /api/events/stream?token=nonsense HTTP/1.1\r\nhost: ok\r\n\r\n").await;
    assert_eq!(status(&stream), "429", "a token in the stream's address is a credential too");
}

#[tokio::test]
async fn behind_a_trusted_proxy_it_is_the_clients_address_that_counts() {
    let wire = Wire::behind("127.0.0.1", |_| {}).await;
    let bad = |from: &str| format!("authorization: Bearer nonsense\r\nx-forwarded-for: {from}\r\n");
    let (mut proxy, mut stranger) = (wire.connect().await, wire.connect_from([127, 0, 0, 2]).await);
    for number in 0..60 {
        let network = format!("9.9.9.9, 2001:db8::{number}");
        assert_eq!(status(&with(&mut proxy, &bad(&network)).await), "401");
        assert_eq!(status(&with(&mut stranger, &bad(&format!("192.0.2.{number}"))).await), "401");
    }
    assert_eq!(status(&with(&mut proxy, &bad("2001:db8::ffff")).await), "429", "one network of IPv6 is one client");
    assert_eq!(status(&with(&mut proxy, &bad("2001:db8:0:1::1")).await), "401", "another client is not affected");
    assert_eq!(status(&with(&mut stranger, &bad("192.0.2.200")).await), "429", "nobody believes a stranger");
}
