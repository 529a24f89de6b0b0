//! Where the product may reach out to: public addresses over https. Judged here, from a text or an address alone; names
//! are looked up where the connection is made, and what they lead to is judged there, each time.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Longest address of a destination, in bytes.
pub const MOST_URL: usize = 2048;

/// Which destinations are fine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Egress {
    /// Loopback too, over plain http if wanted and at any port: for development.
    pub loopback: bool,
    /// The ports, ascending.
    pub ports: Vec<u16>,
}

impl Default for Egress {
    fn default() -> Egress {
        Egress { loopback: false, ports: vec![443] }
    }
}

impl Egress {
    /// A destination as everybody will read it, or what is wrong with it.
    pub fn destination(&self, text: &str) -> Result<Url, String> {
        if text.len() > MOST_URL {
            return Err(format!("must have at most {MOST_URL} bytes"));
        }
        let url = Url::parse(text).map_err(|why| format!("must be an https address: {why}"))?;
        self.check(&url)?;
        Ok(url)
    }

    /// What is wrong with an address that was read already.
    pub fn check(&self, url: &Url) -> Result<(), String> {
        let Some(host) = url.host() else { return Err("must be an https address".into()) };
        let here = self.loopback && leads_here(&host);
        if url.scheme() != "https" && !(here && url.scheme() == "http") {
            return Err("must be an https address".into());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not hold a user name or a password".into());
        }
        if url.fragment().is_some() {
            return Err("must not hold a #".into());
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if !here && !self.ports.contains(&port) {
            let ports: Vec<String> = self.ports.iter().map(u16::to_string).collect();
            return Err(format!("must use port {}, not {port}", ports.join(" or ")));
        }
        let fine = match &host {
            Host::Ipv4(ip) => self.admits(IpAddr::V4(*ip)),
            Host::Ipv6(ip) => self.admits(IpAddr::V6(*ip)),
            Host::Domain(name) => here || is_public_name(name),
        };
        if fine { Ok(()) } else { Err(format!("`{host}` is not a public address")) }
    }

    /// Whether an address may be connected to.
    pub fn admits(&self, ip: IpAddr) -> bool {
        is_public(ip) || (self.loopback && ip.to_canonical().is_loopback())
    }
}

fn leads_here(host: &Host<&str>) -> bool {
    match host {
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
        Host::Domain(name) => name.trim_end_matches('.') == "localhost",
    }
}

/// Names that never lead outside (RFC 6761, 6762, 8375, 9476, and what clouds call their own). What any other leads to
/// is judged when it is looked up.
fn is_public_name(name: &str) -> bool {
    const INSIDE: &[&str] =
        &["localhost", "local", "internal", "intranet", "lan", "corp", "home", "private", "arpa", "alt", "onion"];
    let name = name.trim_end_matches('.');
    let last = name.rsplit('.').next().unwrap_or_default();
    name.contains('.') && !INSIDE.contains(&last)
}

/// Whether an address belongs to the public internet. What stands inside an IPv6 address is judged too.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., ..)              // this network, private, loopback, multicast, reserved, broadcast
            | (100, 64..=127, _)                // shared by carriers
            | (169, 254, _)                     // link-local, where clouds keep their metadata
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)                   // protocol assignments, documentation
            | (192, 31, 196) | (192, 52, 193) | (192, 88, 99) | (192, 175, 48) // anycast of special use, 6to4 relays
            | (198, 18..=19, _)                 // benchmarks
            | (198, 51, 100) | (203, 0, 113) // documentation
    )
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let inner = || {
        let ([g1, g2], [h1, h2]) = (g.to_be_bytes(), h.to_be_bytes());
        is_public_v4(Ipv4Addr::new(g1, g2, h1, h2))
    };
    match (a, b) {
        // An IPv4 address written as an IPv6 one, and one behind the well-known NAT64.
        (0, 0) => (c, d, e, f) == (0, 0, 0, 0xffff) && inner(),
        (0x64, 0xff9b) => (c, d, e, f) == (0, 0, 0, 0) && inner(),
        // Protocol assignments with Teredo, documentation, 6to4.
        (0x2001, 0..=0x1ff | 0xdb8) | (0x2002, _) | (0x3fff, 0..=0xfff) => false,
        // Global unicast. All else is local, multicast, or nobody's.
        _ => (0x2000..=0x3fff).contains(&a),
    }
}
