//! What is wrong with a definition, all of it at once.

/// What a definition says that cannot be; each names the key.
#[derive(Default)]
pub struct Problems(pub Vec<String>);

impl Problems {
    pub fn check(&mut self, fine: bool, problem: impl Into<String>) {
        if !fine {
            self.0.push(problem.into());
        }
    }

    /// A list of words.
    pub(super) fn words(&mut self, key: &str, words: &[String]) {
        let word = |word: &String| (1..=128).contains(&word.chars().count()) && !word.contains(char::is_control);
        self.check(
            words.len() <= 100 && words.iter().all(word),
            format!("{key}: at most 100, of 1 to 128 characters each"),
        );
    }
}
