//! What every journal promises. A new one is a [`Place`] more in `promises!`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ok::log::append::{self, Tail};
use ok::log::checkpoint::Signer;
use ok::log::head;
use ok::log::idem::KeptAnswer;
use ok::log::journal::{InFile, Journal, NotCommitted, Passage, Row, Since};
use ok::log::record::{Decision, Entry, PolicyStamp};
use ok::log::verify::{Ask, verify_sqlite};
use ok::store::open::{Mode, connect};
use ok::types::time::Time;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::harness::START;
use crate::harness::journal::Memory;

/// An empty log.
trait Place: Sync {
    fn journal(&self) -> Arc<dyn Journal>;
    /// The state file of one who continues the log.
    fn file(&self) -> Connection;
}

struct File(TempDir);

impl Place for File {
    fn journal(&self) -> Arc<dyn Journal> {
        Arc::new(InFile)
    }
    fn file(&self) -> Connection {
        let path = self.0.path().join("state.db");
        let is_new = !path.exists();
        let file = connect(&path, Mode::Write).unwrap();
        if is_new {
            file.execute_batch(append::SCHEMA).unwrap();
        }
        file
    }
}

struct Elsewhere(Arc<Memory>);

impl Place for Elsewhere {
    fn journal(&self) -> Arc<dyn Journal> {
        self.0.clone()
    }
    fn file(&self) -> Connection {
        let file = Connection::open_in_memory().unwrap();
        file.execute_batch(append::SCHEMA).unwrap();
        file
    }
}

macro_rules! promises {
    ($($promise:ident)*) => {
        mod in_the_state_file {
            $(#[test] fn $promise() { super::$promise(&super::File(tempfile::tempdir().unwrap())) })*
        }
        mod in_memory {
            $(#[test] fn $promise() { super::$promise(&super::Elsewhere(Default::default())) })*
        }
    };
}

promises! {
    what_was_committed_is_read_back_by_the_byte
    of_two_batches_that_continue_one_head_one_is_committed
    a_log_begins_once
    a_former_owner_is_fenced_off
    an_answer_is_kept_in_the_same_step
    what_is_erased_is_gone_and_its_leaf_is_not
    published_checkpoints_are_read_back
    many_writers_lose_nothing_and_leave_no_gap
}

/// How a gate came to let it happen.
const GATE: &str = r#"{"channel":"cli","operation":"note","policies":[]}"#;
const SECRET: [u8; 32] = [7; 32];

/// One who continues the log.
struct Pen {
    journal: Arc<dyn Journal>,
    file: Connection,
    tail: Tail,
}

fn signer() -> Signer {
    Signer::new("ok.local/01ARZ3NDEKTSV4RRFFQ69G5FAV/1".into(), &SECRET)
}

impl Pen {
    fn at(place: &dyn Place) -> Pen {
        let mut tail = Tail::create(signer(), Time(START));
        tail.take_over().unwrap();
        let mut pen = Pen { journal: place.journal(), file: place.file(), tail };
        pen.read_again();
        pen
    }

    /// Goes on from what is committed by now.
    fn read_again(&mut self) {
        self.file.execute_batch("BEGIN IMMEDIATE").unwrap();
        if head::head(&self.file).unwrap().is_some() {
            self.tail = Tail::resume(&self.file, signer()).unwrap();
        }
        self.tail.join(&*self.journal, &self.file).unwrap();
        while self.tail.catch_up(&*self.journal, &self.file, &mut |_| Ok(())).unwrap() {}
        self.file.execute_batch("COMMIT").unwrap();
    }

    /// Does something in a transaction and has it committed.
    fn commit(&mut self, stage: impl FnOnce(&mut Tail, &Connection)) -> Result<(), NotCommitted> {
        self.file.execute_batch("BEGIN IMMEDIATE").unwrap();
        let done = self.tail.fence(&self.file).and_then(|()| {
            stage(&mut self.tail, &self.file);
            self.tail.commit(&*self.journal, &self.file, Time(START)).map(drop)
        });
        self.file.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" }).unwrap();
        done
    }

    fn write(&mut self, texts: &[&str]) -> Result<(), NotCommitted> {
        self.commit(|tail, file| texts.iter().for_each(|text| append(tail, file, text, None)))
    }

    fn read(&self) -> Passage {
        self.journal.read(&self.file, Since::default(), usize::MAX >> 1).unwrap()
    }

    fn texts(&self) -> Vec<String> {
        let text = |row: Row| row.payload.map_or_else(|| "-".into(), |(_, body)| String::from_utf8(body).unwrap());
        self.read().rows.into_iter().map(text).collect()
    }

    /// What the verifier, which knows nothing of journals, says of the log as this one has it.
    fn assert_whole(&self) {
        let report = verify_sqlite(&self.file, &Ask::default()).unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
        let (own, committed) = (head::tip(&self.file).unwrap(), self.journal.tip(&self.file).unwrap());
        assert_eq!(own, committed);
    }
}

fn append(tail: &mut Tail, file: &Connection, text: &str, kept: Option<&KeptAnswer>) {
    static SALT: AtomicU64 = AtomicU64::new(0);
    let mut salt = [0; 32];
    salt[..8].copy_from_slice(&SALT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    if let Some(kept) = kept {
        tail.keep(file, kept, Time(START)).unwrap();
    }
    let entry = Entry {
        actor: "ana".parse().unwrap(),
        kind: "noted",
        refs: vec![format!("note:{text}")],
        payload: format!("{{\"event\":{{\"text\":\"{text}\",\"type\":\"noted\"}},\"gate\":{GATE}}}").into_bytes(),
        decision: Decision::Allow,
        policy: PolicyStamp { hash: hex::encode([1; 32]), seq: 1 },
        idem: kept.map(|kept| kept.key),
    };
    tail.append(file, &entry, Time(START), salt).unwrap();
}

fn is_conflict(done: &Result<(), NotCommitted>, size: u64) -> bool {
    matches!(done, Err(NotCommitted::Conflict(found)) if found.size == size)
}

fn what_was_committed_is_read_back_by_the_byte(place: &dyn Place) {
    let mut pen = Pen::at(place);
    assert!(pen.journal.tip(&pen.file).unwrap().is_none());
    assert_eq!(pen.read(), Passage::default());
    // Past the end of a tile.
    let many: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    pen.write(&many.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    pen.write(&["last"]).unwrap();
    let whole = pen.read().rows;
    assert_eq!(whole.len(), 301);
    let stored = "SELECT leaf, salt, body FROM log_entry WHERE seq = ?";
    for (row, seq) in whole.iter().zip(1_i64..) {
        let (leaf, salt, body): (Vec<u8>, [u8; 32], Vec<u8>) =
            pen.file.query_row(stored, [seq], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        assert_eq!((&row.leaf, &row.payload), (&leaf, &Some((salt, body))));
    }
    let part = |entries, most| pen.journal.read(&pen.file, Since { entries, published: 0 }, most).unwrap().rows;
    assert_eq!(part(299, 1), whole[299..300]);
    assert_eq!(part(299, 9), whole[299..]);
    assert_eq!(part(301, 9), []);
    let mut other = Pen::at(place);
    other.assert_whole();
    other.write(&["after"]).unwrap();
    other.assert_whole();
}

fn of_two_batches_that_continue_one_head_one_is_committed(place: &dyn Place) {
    let (mut one, kept) = (Pen::at(place), kept(1));
    one.write(&["first"]).unwrap();
    let mut other = Pen::at(place);
    one.write(&["quick"]).unwrap();
    let tip = one.journal.tip(&one.file).unwrap();
    let late = other.commit(|tail, file| {
        append(tail, file, "late", Some(&kept));
        tail.publish_newest();
    });
    assert!(is_conflict(&late, 2), "{late:?}");
    // Nothing to append is no way around it.
    other.read_again();
    one.write(&["quicker"]).unwrap();
    other.file.execute_batch("BEGIN IMMEDIATE").unwrap();
    other.tail.publish_newest();
    let late = other.tail.commit(&*other.journal, &other.file, Time(START)).map(drop);
    other.file.execute_batch("ROLLBACK").unwrap();
    assert!(is_conflict(&late, 3), "{late:?}");
    assert_ne!(one.journal.tip(&one.file).unwrap(), tip);
    let Passage { rows, published } = one.read();
    assert_eq!((rows.iter().filter(|row| row.kept.is_some()).count(), published.len()), (0, 0));
    assert_eq!(one.texts().len(), 3);
    // Whoever reads again goes on.
    other.read_again();
    other.write(&["late"]).unwrap();
    other.assert_whole();
    assert!(other.texts()[3].contains("late"));
}

fn a_log_begins_once(place: &dyn Place) {
    let (mut one, mut other) = (Pen::at(place), Pen::at(place));
    one.write(&["one"]).unwrap();
    let late = other.write(&["other"]);
    assert!(is_conflict(&late, 1), "{late:?}");
    assert_eq!(one.texts().len(), 1);
}

fn a_former_owner_is_fenced_off(place: &dyn Place) {
    let mut former = Pen::at(place);
    former.write(&["former"]).unwrap();
    let mut owner = Pen::at(place);
    owner.commit(|tail, _| tail.take_over().unwrap()).unwrap();
    let fenced = |done| matches!(done, Err(NotCommitted::Fenced));
    assert!(fenced(former.write(&["late"])));
    owner.write(&["later"]).unwrap();
    assert_eq!(owner.texts().len(), 2);
    assert_eq!(owner.journal.tip(&owner.file).unwrap().unwrap().epoch, 2);
    owner.assert_whole();
}

fn kept(number: u8) -> KeptAnswer {
    KeptAnswer { key: [number; 32], request: [9; 32], status: 201, body: vec![number; 3] }
}

fn an_answer_is_kept_in_the_same_step(place: &dyn Place) {
    let mut pen = Pen::at(place);
    pen.commit(|tail, file| {
        append(tail, file, "plain", None);
        append(tail, file, "kept", Some(&kept(1)));
    })
    .unwrap();
    let answers = |pen: &Pen| pen.read().rows.into_iter().map(|row| row.kept).collect::<Vec<_>>();
    assert_eq!(answers(&pen), [None, Some(kept(1))]);
    let mut other = Pen::at(place);
    pen.write(&["quick"]).unwrap();
    assert!(is_conflict(&other.commit(|tail, file| append(tail, file, "late", Some(&kept(2)))), 3));
    assert_eq!(answers(&pen), [None, Some(kept(1)), None]);
    // Whoever follows can give it again.
    let found = ok::log::idem::get(&other.file, &[1; 32], Time(START)).unwrap();
    assert_eq!(found, Some(kept(1)));
}

fn what_is_erased_is_gone_and_its_leaf_is_not(place: &dyn Place) {
    let mut pen = Pen::at(place);
    pen.commit(|tail, file| append(tail, file, "secret", Some(&kept(1)))).unwrap();
    let before = pen.read().rows;
    pen.commit(|tail, file| {
        append(tail, file, "forgotten", None);
        tail.erase(file, 1).unwrap();
    })
    .unwrap();
    let after = pen.read().rows;
    assert_eq!(after[0], Row { payload: None, kept: None, ..before[0].clone() });
    let other = Pen::at(place);
    assert_eq!(other.texts()[0], "-");
    // The answer is gone, and its key stays used.
    for file in [&pen.file, &other.file] {
        let found = ok::log::idem::get(file, &[1; 32], Time(START)).unwrap();
        assert!(found.is_some_and(|kept| kept.is_erased() && kept.body.is_empty()));
    }
}

fn published_checkpoints_are_read_back(place: &dyn Place) {
    let mut pen = Pen::at(place);
    pen.write(&["one", "two"]).unwrap();
    assert_eq!(pen.read().published, []);
    // With no entry of its own.
    pen.commit(|tail, _| tail.publish_newest()).unwrap();
    let head = head::head(&pen.file).unwrap().unwrap();
    let published = pen.read().published;
    assert_eq!(published.iter().map(|one| (one.size, &one.note)).collect::<Vec<_>>(), [(2, &head.note)]);
    let mut other = Pen::at(place);
    assert_eq!(other.read().published, published);
    other
        .commit(|tail, file| {
            append(tail, file, "three", None);
            tail.publish_newest();
        })
        .unwrap();
    let since = |published| other.journal.read(&other.file, Since { entries: 3, published }, 9).unwrap().published;
    assert_eq!(since(2).iter().map(|one| one.size).collect::<Vec<_>>(), [3]);
    assert_eq!(since(3), []);
    other.assert_whole();
}

fn many_writers_lose_nothing_and_leave_no_gap(place: &dyn Place) {
    const WRITERS: usize = 4;
    const BATCHES: usize = 12;
    Pen::at(place).write(&["begun"]).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let mut pen = Pen::at(place);
                for batch in 0..BATCHES {
                    let texts = [format!("<{writer}.{batch}.a>"), format!("<{writer}.{batch}.b>")];
                    while let Err(why) = pen.write(&[&texts[0], &texts[1]]) {
                        assert!(matches!(why, NotCommitted::Conflict(_)), "{why:?}");
                        pen.read_again();
                    }
                }
            });
        }
    });
    let pen = Pen::at(place);
    pen.assert_whole();
    let texts = pen.texts();
    assert_eq!(texts.len(), 1 + WRITERS * BATCHES * 2);
    let place_of = |text: String| texts.iter().position(|one| one.contains(&text)).unwrap();
    for (writer, batch) in (0..WRITERS).flat_map(|writer| (0..BATCHES).map(move |batch| (writer, batch))) {
        let (first, second) = (place_of(format!("<{writer}.{batch}.a>")), place_of(format!("<{writer}.{batch}.b>")));
        assert_eq!(second, first + 1, "a batch stands together");
        assert!(batch == 0 || place_of(format!("<{writer}.{}.a>", batch - 1)) < first, "in the order of its writer");
    }
}
