//! A scripted HTTP/1.1 server on loopback: says what it is told, remembers what it was asked.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A request as it arrived; header names in lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

/// What to answer.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    /// A status, header lines (each with its CRLF), and a body.
    Whole(u16, String, String),
    /// Ten bytes: five at once, five when [`Upstream::go_on`] is called.
    Halting,
    /// Nothing: the connection is closed.
    HangUp,
    /// Nothing: the connection stays open.
    Silence,
}

pub(crate) fn say(status: u16) -> Say {
    Say::Whole(status, String::new(), format!("status {status}"))
}

impl Say {
    pub(crate) fn header(self, name: &str, value: impl std::fmt::Display) -> Self {
        match self {
            Self::Whole(status, headers, body) => {
                Self::Whole(status, format!("{headers}{name}: {value}\r\n"), body)
            }
            other => other,
        }
    }

    pub(crate) fn body(self, body: String) -> Self {
        match self {
            Self::Whole(status, headers, _) => Self::Whole(status, headers, body),
            other => other,
        }
    }
}

#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) authority: String,
    state: Arc<State>,
}

struct State {
    /// The next answers; after the last one, 200.
    script: Mutex<VecDeque<Say>>,
    asked: Mutex<Vec<Asked>>,
    go_on: Notify,
}

impl Upstream {
    pub(crate) async fn start(script: impl IntoIterator<Item = Say>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let state = Arc::new(State {
            script: Mutex::new(script.into_iter().collect()),
            asked: Mutex::default(),
            go_on: Notify::new(),
        });
        let upstream = Self { authority, state };
        let serving = upstream.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().converse(stream));
            }
        });
        upstream
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.authority)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().unwrap().clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }

    pub(crate) fn go_on(&self) {
        self.state.go_on.notify_one();
    }

    async fn converse(self, stream: TcpStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        while let Some(asked) = read(&mut stream).await? {
            self.state.asked.lock().unwrap().push(asked);
            let next = self.state.script.lock().unwrap().pop_front();
            match next.unwrap_or_else(|| say(200)) {
                Say::Whole(status, headers, body) => {
                    let length = body.len();
                    let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}");
                    let answer = format!("{head}\r\n\r\n{body}");
                    stream.write_all(answer.as_bytes()).await?;
                }
                Say::Halting => {
                    let begin = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfirst";
                    stream.write_all(begin).await?;
                    stream.flush().await?;
                    self.state.go_on.notified().await;
                    stream.write_all(b"later").await?;
                }
                Say::HangUp => return Ok(()),
                Say::Silence => std::future::pending().await,
            }
            stream.flush().await?;
        }
        Ok(())
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Asked>> {
    let mut asked = Asked::default();
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    asked.line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let name = name.to_ascii_lowercase();
        asked.headers.insert(name, value.trim().to_owned());
    }
    let length = asked.headers.get("content-length");
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await?;
    asked.body = String::from_utf8(body).unwrap();
    Ok(Some(asked))
}
