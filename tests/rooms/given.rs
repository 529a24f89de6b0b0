//! Policies as one text.

use ok::cli::policy::given::{parsed, printed};
use ok::policy::Bundle;

#[test]
fn what_is_printed_is_read_back_as_it_was() {
    let odd = "==> b.cedar <==\n\\ no line break at the end\n\\x\n\n==> version 3 <==";
    let files = [("a.cedar", odd), ("b.cedar", ""), ("c.cedar", "// One.\n"), ("d.cedar", "\n\n"), ("e.cedar", "x")];
    let bundle = Bundle::new(files);
    let (version, read) = parsed(&printed(7, &bundle)).unwrap();
    assert_eq!((version, read), (Some(7), bundle.clone()));
    assert!(parsed("permit (principal, action, resource);").is_err());
    let whole = printed(7, &bundle);
    let cut = (1..whole.len() - 1).filter(|at| whole.is_char_boundary(*at)).filter_map(|at| whole.get(..at));
    assert!(cut.map(parsed).all(|read| read.is_err()), "what is cut off is no deletion");
}
