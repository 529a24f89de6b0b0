//! The binary. Everything that it does is in the library.

fn main() -> std::process::ExitCode {
    ok::cli::main()
}
