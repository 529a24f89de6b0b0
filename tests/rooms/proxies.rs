//! Which address a request counts for, behind proxies.

use axum::http::HeaderMap;
use ok::http::proxies::{Proxies, counted};

fn client(proxies: &str, peer: &str, headers: &[(&'static str, &str)]) -> String {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    let proxies: Proxies = proxies.parse().unwrap();
    counted(proxies.client(peer.parse().unwrap(), &map)).to_string()
}

#[test]
fn only_a_trusted_proxy_says_whom_it_speaks_for() {
    let far = ("x-forwarded-for", "203.0.113.7");
    for (proxies, peer, headers, expected) in [
        ("none", "10.0.0.1", vec![far], "10.0.0.1"),
        ("10.0.0.0/8", "11.0.0.1", vec![far], "11.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", vec![], "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", vec![far], "203.0.113.7"),
        ("10.0.0.0/8", "::ffff:10.0.0.1", vec![far], "203.0.113.7"),
        ("0.0.0.0/0", "10.0.0.1", vec![far], "203.0.113.7"),
        // What stands before the first that is not trusted, its sender wrote.
        ("10.0.0.0/8", "10.0.0.1", vec![("x-forwarded-for", "1.1.1.1, 203.0.113.7, 10.0.0.2")], "203.0.113.7"),
        ("10.0.0.0/8", "10.0.0.1", vec![("x-forwarded-for", "1.1.1.1"), far], "203.0.113.7"),
        ("10.0.0.0/8", "10.0.0.1", vec![("x-forwarded-for", "1.1.1.1, nobody, 10.0.0.2")], "10.0.0.2"),
        ("::1", "::1", vec![("forwarded", "for=\"[2001:db8:1:2:3::4]:80\";proto=https")], "2001:db8:1:2::"),
        ("::1", "::1", vec![("forwarded", "proto=https;For=192.0.2.43")], "192.0.2.43"),
        ("::1", "::1", vec![("forwarded", "for=192.0.2.43"), far], "::"),
        ("::1", "::1", vec![("forwarded", "for=203.0.113.7"), far], "203.0.113.7"),
    ] {
        assert_eq!(client(proxies, peer, &headers), expected, "{proxies} {peer} {headers:?}");
    }
    for wrong in ["", "10.0.0.0/33", "proxy", "10.0.0.1,"] {
        assert!(wrong.parse::<Proxies>().is_err(), "{wrong}");
    }
}
