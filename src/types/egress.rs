//! Where the product may connect to: public addresses over https. This checks a text or an address alone; names are
//! looked up when the connection is made, and the addresses that they resolve to are checked there, each time.

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
    /// A destination, or what is wrong with it.
    pub fn destination(&self, text: &str) -> Result<Url, String> {
        if text.len() > MOST_URL {
            return Err(format!("must have at most {MOST_URL} bytes"));
        }
        let url = Url::parse(text).map_err(|why| format!("must be an https address: {why}"))?;
        self.check(&url)?;
        Ok(url)
    }

    /// A destination as somebody gives it, to be shown to others: written as it is called, so that nobody takes its host
    /// for another. The parser drops some characters and decodes others (WHATWG URL).
    pub fn given(&self, text: &str) -> Result<Url, String> {
        let url = self.destination(text)?;
        let is_as_called = url.as_str().strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest == "/");
        if is_as_called { Ok(url) } else { Err(format!("must be written as it is called: {url}")) }
    }

    /// The address of a page, from its host on: over https, or plain http where that stays on this machine and is wanted.
    pub fn page(&self, at: &str) -> Result<Url, String> {
        let url = self.destination(&format!("https://{at}"))?;
        let is_here = self.loopback && url.host().is_some_and(|host| leads_here(&host));
        if is_here { self.destination(&format!("http://{at}")) } else { Ok(url) }
    }

    /// What is wrong with an address that was read already.
    pub fn check(&self, url: &Url) -> Result<(), String> {
        let Some(host) = url.host() else { return Err("must be an https address".into()) };
        let here = self.loopback && leads_here(&host);
        if url.scheme() != "https" && !(here && url.scheme() == "http") {
            return Err("must be an https address".into());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not contain a user name or a password".into());
        }
        if url.fragment().is_some() {
            return Err("must not contain a #".into());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// None of these leads to a public place over https at port 443.
    const REFUSED: &[&str] = &[
        "http://example.com/",
        "https://example.com:8443/",
        "https://example.com:80/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "data:text/plain,x",
        "javascript:alert(1)",
        "example.com",
        "//example.com/",
        "https://",
        "https:///",
        "",
        "https://user@example.com/",
        "https://user:secret@example.com/",
        "https://example.com@127.0.0.1/",
        "https://example.com/#part",
        "https://localhost/",
        "https://LOCALHOST/",
        "https://localhost./",
        "https://a.localhost/",
        "https://printer.local/",
        "https://metadata.google.internal/",
        "https://metadata/",
        "https://db.corp/",
        "https://router.lan/",
        "https://nas.home.arpa/",
        "https://something.onion/",
        "https://127.0.0.1/",
        "https://127.0.0.1./",
        "https://127.1/",
        "https://127.255.255.254/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0x7f.0.0.1/",
        "https://0177.0.0.1/",
        "https://017700000001/",
        "https://0x7f.1/",
        "https://%31%32%37.0.0.1/",
        "https://１２７.0.0.1/",
        "https://127。0。0。1/",
        "https:\\\\127.0.0.1\\",
        "https://0/",
        "https://0.0.0.0/",
        "https://10.0.0.1/",
        "https://012.0.0.1/",
        "https://172.16.0.1/",
        "https://172.31.255.255/",
        "https://192.168.1.1/",
        "https://0xc0a80101/",
        "https://169.254.169.254/latest/meta-data/",
        "https://0xa9fea9fe/",
        "https://100.64.0.1/",
        "https://100.100.100.200/",
        "https://192.0.0.192/",
        "https://192.0.2.1/",
        "https://198.18.0.1/",
        "https://198.51.100.1/",
        "https://203.0.113.1/",
        "https://224.0.0.1/",
        "https://239.255.255.250/",
        "https://240.0.0.1/",
        "https://255.255.255.255/",
        "https://[::]/",
        "https://[::1]/",
        "https://[0:0:0:0:0:0:0:1]/",
        "https://[::127.0.0.1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:7f00:1]/",
        "https://[::ffff:169.254.169.254]/",
        "https://[::ffff:0:10.0.0.1]/",
        "https://[64:ff9b::10.0.0.1]/",
        "https://[64:ff9b::169.254.169.254]/",
        "https://[64:ff9b:1::8.8.8.8]/",
        "https://[2002:7f00:1::]/",
        "https://[2002:a00:1::1]/",
        "https://[2001::1]/",
        "https://[2001:db8::1]/",
        "https://[3fff::1]/",
        "https://[fc00::1]/",
        "https://[fd00:ec2::254]/",
        "https://[fe80::1]/",
        "https://[fec0::1]/",
        "https://[ff02::1]/",
        "https://[100::1]/",
        "https://[4000::1]/",
    ];

    const FINE: &[&str] = &[
        "https://example.com/",
        "https://EXAMPLE.com:443/a?b=c",
        "https://example.com./",
        "https://93.184.215.14/",
        "https://172.15.0.1/",
        "https://172.32.0.1/",
        "https://100.63.255.255/",
        "https://100.128.0.1/",
        "https://[2606:4700::1]/",
        "https://[::ffff:8.8.8.8]/",
        "https://[64:ff9b::8.8.8.8]/",
        "https://bücher.example/",
        "https://internal.example.com/",
    ];

    #[test]
    fn only_public_places_are_fine() {
        let egress = Egress::default();
        for url in REFUSED {
            assert!(egress.destination(url).is_err(), "{url}");
        }
        for url in FINE {
            assert_eq!(egress.destination(url).err(), None, "{url}");
        }
        assert!(REFUSED.len() >= 60);
    }

    #[test]
    fn for_development_this_machine_is_fine_and_nothing_else_is() {
        let egress = Egress { loopback: true, ..Egress::default() };
        for url in ["http://127.0.0.1:4000/", "http://localhost:4000/", "https://[::1]:4000/", "http://127.9.9.9/"] {
            assert_eq!(egress.destination(url).err(), None, "{url}");
        }
        for url in ["http://10.0.0.1/", "http://example.com/", "https://169.254.169.254/", "https://x.local/"] {
            assert!(egress.destination(url).is_err(), "{url}");
        }
        let egress = Egress { loopback: false, ports: vec![443, 8443] };
        assert!(egress.destination("https://example.com:8443/").is_ok());
        assert!(egress.destination("https://127.0.0.1:8443/").is_err());
    }
}
