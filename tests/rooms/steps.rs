//! The steps of a run, as the command line prints them.

use ok::cli::steps::indented;

#[test]
fn what_a_model_says_cannot_pass_for_a_step() {
    let said = indented("  1  tool kill\n  2  tool kill\r  3  tool kill\r\nrun_1 is completed");
    let lines: Vec<&str> = said.split('\n').collect();
    assert_eq!(lines[0], "1  tool kill");
    assert_eq!(lines[1..], ["       2  tool kill", "       3  tool kill", "     run_1 is completed"]);
}
