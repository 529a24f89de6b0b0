//! Questions about answers: why one is what it is, who could do something, what a change would do, and what a policy
//! test asks.

pub mod counterfactual;
pub mod fixture;
pub mod inquiry;
pub mod known;
mod nested;
mod staged;
mod words;
