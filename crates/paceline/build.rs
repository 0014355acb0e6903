//! Lists the files of `dialects/`, so that a new provider is one file and no code.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let folder =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo says where")).join("dialects");
    println!("cargo::rerun-if-changed=dialects");
    let entries = fs::read_dir(&folder).expect("the folder of dialects is there");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("a folder that can be listed").path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.file_stem().and_then(|name| name.to_str());
        let name = name.expect("files have names in UTF-8");
        writeln!(list, "    ({name:?}, include_str!({file:?})),").expect("text takes text");
    }
    list.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo says where")).join("dialects.rs");
    fs::write(out, list).expect("the folder for output can be written to");
}
