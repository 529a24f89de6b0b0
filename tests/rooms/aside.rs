//! What a program says about itself waits for nobody.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

use ok::cli::show::aside::{Aside, WAITING};

/// A pipe: nothing goes in until it may.
struct Pipe {
    asked: Sender<()>,
    may: Receiver<()>,
    got: Sender<String>,
}

impl Write for Pipe {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let _ = self.asked.send(());
        let _ = self.may.recv();
        let _ = self.got.send(String::from_utf8_lossy(text).into_owned());
        Ok(text.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_nobody_reads_is_dropped_and_counted() {
    let ((asked, begun), (open, may), (got, read)) = (channel(), channel(), channel());
    let aside = Aside::to(Pipe { asked, may, got }).unwrap();
    aside.say(b"first\n");
    begun.recv().unwrap();
    // The thread holds one that it cannot write; so many wait.
    for _ in 0..WAITING + 7 {
        aside.say(b"more\n");
    }
    drop(open);
    aside.finish();
    let written: Vec<String> = read.try_iter().collect();
    assert_eq!((written[0].as_str(), written.iter().filter(|text| *text == "more\n").count()), ("first\n", WAITING));
    assert!(written.concat().contains("7 lines were dropped"), "{}", written.len());
}
