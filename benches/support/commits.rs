//! What the disk gives at the most: rows of a size, group commits with an fsync each, one writer thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use ok::gate::write::writer::gather;
use ok::store::open::{Mode, connect};
use rusqlite::Connection;
use tokio::sync::oneshot;

/// A writer thread that inserts so many rows for each job; jobs a second.
pub async fn bare((leaf, body): (usize, usize), rows: usize, clients: usize, length: Duration) -> f64 {
    let dir = super::folder();
    let conn = connect(&dir.path().join("bare.db"), Mode::Write).unwrap();
    conn.execute_batch("CREATE TABLE entry (seq INTEGER PRIMARY KEY, leaf BLOB NOT NULL, body BLOB NOT NULL) STRICT")
        .unwrap();
    let (leaf, body) = (vec![7_u8; leaf], vec![9_u8; body]);
    let insert = move |conn: &Connection, count: usize| {
        for _ in 0..count * rows {
            let mut insert = conn.prepare_cached("INSERT INTO entry (leaf, body) VALUES (?, ?)").unwrap();
            insert.execute((&leaf, &body)).unwrap();
        }
    };
    group_commit(conn, clients, length, insert).await
}

pub async fn group_commit(
    conn: Connection,
    clients: usize,
    length: Duration,
    mut write: impl FnMut(&Connection, usize) + Send + 'static,
) -> f64 {
    let (sender, jobs) = sync_channel::<oneshot::Sender<()>>(1024);
    let writer = std::thread::spawn(move || {
        let mut expected = 1;
        while let Ok(first) = jobs.recv() {
            let batch = gather(&jobs, first, &mut expected);
            conn.execute_batch("BEGIN IMMEDIATE").unwrap();
            write(&conn, batch.len());
            conn.execute_batch("COMMIT").unwrap();
            batch.into_iter().for_each(|answer| {
                let _ = answer.send(());
            });
        }
    });
    let rate = load(clients, length, move || {
        let (answer, done) = oneshot::channel();
        sender.try_send(answer).unwrap();
        async move { done.await.unwrap() }
    })
    .await;
    writer.join().unwrap();
    rate
}

/// Calls of `clients` tasks a second.
pub async fn load<F: Future<Output = ()> + Send + 'static>(
    clients: usize,
    length: Duration,
    call: impl Fn() -> F + Send + Sync + 'static,
) -> f64 {
    let (call, done) = (Arc::new(call), Arc::new(AtomicU64::new(0)));
    let start = Instant::now();
    let tasks: Vec<_> = (0..clients)
        .map(|_| {
            let (call, done) = (Arc::clone(&call), Arc::clone(&done));
            tokio::spawn(async move {
                while start.elapsed() < length {
                    call().await;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}
