//! Work on all cores.

use ok::policy::stack::each;

#[test]
fn each_result_stands_where_its_thing_does() {
    let slower_first = |number: &u64| {
        std::thread::sleep(std::time::Duration::from_micros(if number.is_multiple_of(7) { 300 } else { 0 }));
        number * 2
    };
    let things: Vec<u64> = (0..200).collect();
    let doubled: Vec<u64> = (0..200).map(|number| number * 2).collect();
    assert_eq!(each(&things, slower_first), doubled);
    assert!(each(&[], slower_first).is_empty());
}
