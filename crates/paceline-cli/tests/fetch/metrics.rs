//! `--metrics` while it runs.

use super::*;

#[test]
fn metrics_are_served_while_it_runs() {
    let (folder, server) = (Folder::new(), echo());
    let mut command = fetch(&folder, &["--input", "-", "--metrics", "127.0.0.1:0"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    writeln!(stdin, "{}/token=secret", server.url).unwrap();
    let (mut said, mut result) = (String::new(), String::new());
    stdout.read_line(&mut result).unwrap();
    stderr.read_line(&mut said).unwrap();
    let url = said.trim().strip_prefix("metrics: ").unwrap();
    let out = run(fetch(&folder, &[url, "--out", "out"]));
    assert_eq!(out.code, Some(0), "{out:?}");
    let text = folder.read(&format!("out/{}", folder.names("out")[0]));
    assert!(
        text.contains("paceline_requests_total{gate=\"origin\",class=\"ok\"} 1"),
        "{text}"
    );
    assert!(
        !text.contains("secret") && !text.contains("127.0.0.1"),
        "{text}"
    );
    drop(stdin);
    assert_eq!(end(child).code, Some(0));
}
