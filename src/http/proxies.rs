//! From which address a request comes, where proxies that are trusted stand before the server.
//!
//! Always true: what an address that is not trusted says of others is believed by nobody; where the two headers that tell of
//! it disagree, neither is.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use axum::http::HeaderMap;

/// The proxies that are trusted to say whom they speak for.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Arc<[Net]>);

/// Addresses that begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Net {
    first: IpAddr,
    bits: u32,
}

impl FromStr for Proxies {
    type Err = String;

    /// `10.0.0.0/8, ::1`; `none` for none.
    fn from_str(text: &str) -> Result<Proxies, String> {
        if text.trim() == "none" {
            return Ok(Proxies::default());
        }
        text.split(',')
            .map(|one| net(one.trim()).ok_or_else(|| one.trim().to_owned()))
            .collect::<Result<_, _>>()
            .map(Proxies)
    }
}

fn net(text: &str) -> Option<Net> {
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let first: IpAddr = address.parse().ok()?;
    let most = if first.is_ipv4() { 32 } else { 128 };
    let bits = bits.map_or(Some(most), |bits| bits.parse().ok())?;
    (bits <= most).then_some(Net { first, bits })
}

impl Net {
    fn holds(&self, address: IpAddr) -> bool {
        let (here, there, most) = match (self.first, address) {
            (IpAddr::V4(here), IpAddr::V4(there)) => (u32::from(here).into(), u32::from(there).into(), 32),
            (IpAddr::V6(here), IpAddr::V6(there)) => (u128::from(here), u128::from(there), 128),
            _ => return false,
        };
        (here ^ there).checked_shr(most - self.bits).unwrap_or(0) == 0
    }
}

impl Proxies {
    /// Whether every address of a family is trusted.
    pub fn trust_all(&self) -> bool {
        self.0.iter().any(|net| net.bits == 0)
    }

    pub fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|net| net.holds(address))
    }

    /// The address that a request comes from: the last one that is no trusted proxy's.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.trusts(peer) {
            return peer;
        }
        let readers = [("forwarded", hop as fn(&str) -> Option<IpAddr>), ("x-forwarded-for", address)];
        let mut addresses = readers.into_iter().filter_map(|(name, read)| self.last(peer, headers, name, read));
        match (addresses.next(), addresses.next()) {
            (Some(one), None) => one,
            (Some(one), Some(other)) if one == other => one,
            _ => peer,
        }
    }

    /// The same by one header, if it is there. What cannot be read ends what is believed.
    fn last(&self, peer: IpAddr, headers: &HeaderMap, name: &str, read: fn(&str) -> Option<IpAddr>) -> Option<IpAddr> {
        let lines: Vec<&str> = headers.get_all(name).iter().map(|line| line.to_str().unwrap_or_default()).collect();
        let mut client = peer;
        for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
            match read(hop.trim()) {
                Some(before) if self.trusts(client) => client = before,
                _ => break,
            }
        }
        (!lines.is_empty()).then_some(client)
    }
}

/// `for=192.0.2.60;proto=http` (RFC 7239)
fn hop(text: &str) -> Option<IpAddr> {
    let said = text.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, name) = said.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    address(name.trim_matches('"'))
}

/// An address, alone or with its port.
fn address(text: &str) -> Option<IpAddr> {
    let alone = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    alone.parse().or_else(|_| text.parse().map(|with: SocketAddr| with.ip())).ok()
}

/// What is counted of an address: of IPv6 the network, of which one client has all addresses.
pub fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from(u128::from(address) >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
