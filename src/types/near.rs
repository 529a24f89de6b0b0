//! Finds the name that was meant by one that does not exist.
//!
//! Always true: a name is suggested only if a typing error or a forgotten namespace explains the difference, and the
//! same input always gets the same suggestion.

/// What has more bytes than this is compared with no name: how long that takes grows with both.
const LONGEST: usize = 128;

/// The nearest of these names, if it may have been meant.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fits = |name: &str| name.len() <= LONGEST && written.len() <= LONGEST;
    let near = names.into_iter().filter(|name| fits(name)).filter_map(|name| far(written, name).map(|far| (far, name)));
    near.min().map(|(_, name)| name)
}

/// How far a name is from another that may have been meant by it.
pub fn far(written: &str, name: &str) -> Option<usize> {
    let (own, last) = (last(written), last(name));
    let (far, most) = (strsim::osa_distance(written, name), own.chars().count().div_ceil(3));
    // Of one letter, another one is none of a slip.
    let is_near = far <= most && far < own.chars().count();
    (is_near || own.eq_ignore_ascii_case(last)).then_some(far)
}

/// A name without its namespace and its quotes.
fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name).trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_proposed_only_where_it_is_near() {
        let near = |written| nearest(written, ["Docs::Doc", "Ok::Actor", "Ok::Team", "Ok::Token"]);
        assert_eq!(near("Ok::Actr"), Some("Ok::Actor"));
        assert_eq!(near("Actor"), Some("Ok::Actor"));
        assert_eq!(near("Ok::actor"), Some("Ok::Actor"));
        assert_eq!(near("Ok::Tame"), Some("Ok::Team"));
        assert_eq!(nearest("z", ["a", "b"]), None);
        for written in ["Ok::Invoice", "Ok::Person", "Acme::Thing", "x"] {
            assert_eq!(near(written), None, "{written}");
        }
        assert_eq!(nearest("Ok::Action::\"zebra\"", ["Ok::Action::\"web.*\""]), None);
        assert_eq!(nearest(&"é".repeat(500_000), ["é".repeat(499_999).as_str()]), None);
    }
}
