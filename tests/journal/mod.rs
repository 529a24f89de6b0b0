//! Where the log is kept: what every journal promises, and servers that continue one log together.

mod servers;
mod suite;
