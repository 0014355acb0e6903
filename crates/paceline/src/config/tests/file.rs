//! Files on a disk, and those that cannot be read.

use std::path::PathBuf;

use super::*;

/// A file of the test's own that is gone when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let name = format!("paceline-config-{}-{name}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).expect("the temporary folder is writable");
        Self(path)
    }

    /// What loading it says, without its name.
    fn complaint(&self) -> String {
        let errors = Config::load(&self.0).expect_err("wrong").to_string();
        let name = self.0.display().to_string();
        errors
            .strip_prefix(&name)
            .expect("the file's name")
            .to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_file_is_loaded() {
    let file = Scratch::new("fine", with("").as_bytes());
    assert_eq!(Config::load(&file.0), Ok(parse(&with(""))));
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
    let gone = Config::load("no/such/paceline.toml")
        .expect_err("gone")
        .to_string();
    assert!(
        gone.starts_with("no/such/paceline.toml: it cannot be read: ")
            && gone.ends_with("; expected a TOML file of at most 1 MiB that this user may read"),
        "{gone}"
    );
    assert_eq!(
        Scratch::new("latin1", b"[upstream.a]\n# caf\xe9\n").complaint(),
        ":2:6: it is not UTF-8; expected UTF-8 text, as TOML is"
    );
    let long = vec![b'#'; LONGEST_FILE as usize + 1];
    assert_eq!(
        Scratch::new("long", &long).complaint(),
        ": it cannot be read: it is longer than 1 MiB; \
         expected a TOML file of at most 1 MiB that this user may read"
    );
}
