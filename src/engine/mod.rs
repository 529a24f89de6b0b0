//! What happens by itself. It acts only through the gate, as the server, and is refused and recorded like everybody.

pub mod tick;
