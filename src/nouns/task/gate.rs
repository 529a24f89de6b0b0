//! Reads tasks for operations.

use super::Reader;
use crate::declare::target::{Target, Thing};
use store::search::{self, Words};
use store::tasks::{self, Task, TaskRef};
use types::id::ActorId;
use types::refusal::Fault;
use types::time::Time;

impl Reader<'_> {
    pub fn task(&self, id: &str) -> Result<Option<Task>, Fault> {
        Ok(tasks::get(self.conn()?, id)?)
    }

    /// Returns tasks past a deadline that have not been reported.
    pub fn late_tasks(&self, now: Time, limit: usize) -> Result<Vec<Task>, Fault> {
        Ok(tasks::late(self.conn()?, now, limit)?)
    }

    /// Returns tasks closed before a time and not archived.
    pub fn tasks_to_archive(&self, before: Time, limit: usize) -> Result<Vec<Task>, Fault> {
        Ok(tasks::to_archive(self.conn()?, before, limit)?)
    }

    /// Returns somebody's unfinished tasks.
    pub fn open_tasks_of(&self, owner: &ActorId) -> Result<Vec<Task>, Fault> {
        Ok(tasks::open_of(self.conn()?, owner)?)
    }

    pub fn task_refs(&self, task: &str) -> Result<Vec<TaskRef>, Fault> {
        Ok(tasks::refs(self.conn()?, task)?)
    }

    /// Returns the tasks that reference something, newest first.
    pub fn tasks_about(&self, place: &str, thing: &str, limit: usize) -> Result<Vec<Task>, Fault> {
        Ok(tasks::about(self.conn()?, place, thing, limit)?)
    }

    /// Returns the ids of tasks whose titles contain the words, best matches first.
    pub fn tasks_with(&self, words: &Words, limit: usize) -> Result<Vec<String>, Fault> {
        Ok(search::ids(self.conn()?, search::TASKS, words, limit)?)
    }

    /// Returns a task as a target of the gate.
    pub fn task_target(&self, task: &Task) -> Target {
        let thing = Thing::new("Task", &task.id).actor("creator", &task.creator).maybe("owner", task.owner.as_ref());
        self.complete(thing.text("status", task.status.name()))
    }
}
