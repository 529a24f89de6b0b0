//! Policies as one text.

use ok::cli::policy::given::{Origin, parsed, printed};
use ok::policy::Bundle;

#[test]
fn what_is_printed_is_read_back_as_it_was() {
    let odd = "==> b.cedar <==\n\\ no line break at the end\n\\x\n\n==> version 3 <==";
    let files = [("a.cedar", odd), ("b.cedar", ""), ("c.cedar", "// One.\n"), ("d.cedar", "\n\n"), ("e.cedar", "x")];
    let bundle = Bundle::new(files);
    let whole = printed((7, "c0ffee"), &bundle);
    let origin = |hash: Option<&str>| Origin { version: 7, hash: hash.map(str::to_owned) };
    assert_eq!(parsed(&whole), Ok((Some(origin(Some("c0ffee"))), bundle.clone())));
    // An earlier version printed no hash.
    let without = whole.replacen("version 7 c0ffee", "version 7", 1);
    assert_eq!(parsed(&without), Ok((Some(origin(None)), bundle)));
    assert!(parsed("permit (principal, action, resource);").is_err());
    let cut = (1..whole.len() - 1).filter(|at| whole.is_char_boundary(*at)).filter_map(|at| whole.get(..at));
    assert!(cut.map(parsed).all(|read| read.is_err()), "what is cut off is no deletion");
}
