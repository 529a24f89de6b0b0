//! Determines from which address a request comes if trusted proxies stand in front of the server.
//!
//! Always true: what an untrusted address says about other addresses is ignored; if the two headers that give the
//! address disagree, both are ignored.

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

/// Returns the address that limits count. For IPv6 it is the network, because one client has all addresses of it.
pub fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from(u128::from(address) >> 64 << 64).into(),
        address => address,
    }
}
