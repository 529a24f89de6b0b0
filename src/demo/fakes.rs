//! The demo's stand-ins for external systems: a webhook receiver, a mail server and a model, all on this machine.

use tokio_util::sync::CancellationToken;

use super::{Mailbox, Model, Receiver};

pub struct Fakes {
    pub receiver: Receiver,
    pub mailbox: Mailbox,
    /// `None` if real models are used.
    pub model: Option<Model>,
}

impl Fakes {
    pub async fn listen(with_model: bool) -> std::io::Result<Fakes> {
        let model = if with_model { Some(Model::listen().await?) } else { None };
        Ok(Fakes { receiver: Receiver::listen().await?, mailbox: Mailbox::listen().await?, model })
    }

    /// Returns the name and address of each.
    pub fn list(&self) -> Vec<(&'static str, String)> {
        let model = self.model.as_ref().map(|model| ("model", model.url()));
        let mail = Mailbox::url(Some(self.mailbox.address));
        [("webhook receiver", self.receiver.url()), ("mail box", mail)].into_iter().chain(model).collect()
    }

    /// Serves them until `stop`, and reports what arrives.
    pub fn serve(self, report: fn(&str), stop: &CancellationToken) {
        tokio::spawn(self.receiver.serve(report, stop.clone()));
        tokio::spawn(self.mailbox.serve(report, stop.clone()));
        if let Some(model) = self.model {
            tokio::spawn(model.serve(stop.clone()));
        }
    }
}
