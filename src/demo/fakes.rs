//! What the demo has in place of the world outside: a webhook receiver, a mail box and a model, each on this machine.

use tokio_util::sync::CancellationToken;

use super::{Mailbox, Model, Receiver};

pub struct Fakes {
    pub receiver: Receiver,
    pub mailbox: Mailbox,
    /// None where real models are asked.
    pub model: Option<Model>,
}

impl Fakes {
    pub async fn listen(with_model: bool) -> std::io::Result<Fakes> {
        let model = if with_model { Some(Model::listen().await?) } else { None };
        Ok(Fakes { receiver: Receiver::listen().await?, mailbox: Mailbox::listen().await?, model })
    }

    /// What each is, and where.
    pub fn list(&self) -> Vec<(&'static str, String)> {
        let model = self.model.as_ref().map(|model| ("model", model.url()));
        let mail = Mailbox::url(Some(self.mailbox.address));
        [("webhook receiver", self.receiver.url()), ("mail box", mail)].into_iter().chain(model).collect()
    }

    /// Takes what arrives until `stop`, and tells of it.
    pub fn serve(self, report: fn(&str), stop: &CancellationToken) {
        tokio::spawn(self.receiver.serve(report, stop.clone()));
        tokio::spawn(self.mailbox.serve(report, stop.clone()));
        if let Some(model) = self.model {
            tokio::spawn(model.serve(stop.clone()));
        }
    }
}
