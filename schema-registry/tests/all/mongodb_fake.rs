//! A server that speaks as much of the protocol of MongoDB as the store needs, and keeps what it is sent.
//!
//! See "OP_MSG" and "Handshake" in the specifications of drivers of MongoDB.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex, PoisonError};

use mongodb::bson::{Document, doc};
use schema_registry::{MongoSchemaOptions, MongoSchemaStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const OP_MSG: i32 = 2013;
/// The largest message that it reads, in bytes.
const LARGEST: usize = 1 << 20;
/// How many commands it keeps.
const MOST_KEPT: usize = 1_000;

/// What becomes of a command.
pub(crate) enum Answer {
    /// It is answered, with `ok: 1` unless the document has that.
    Document(Document),
    /// It is never answered.
    Silence,
    /// The connection ends.
    HangUp,
}

type Answering = dyn Fn(&Document) -> Answer + Send + Sync;

/// The server. It ends when it is dropped.
pub(crate) struct Fake {
    pub(crate) address: String,
    state: Arc<State>,
    _connections: JoinSet<()>,
}

struct State {
    answering: Box<Answering>,
    handshakes: Mutex<Vec<Document>>,
    commands: Mutex<Vec<Document>>,
}

impl Fake {
    /// Starts a server. `answering` sees handshakes, too; what it says of them is added to the usual answer.
    pub(crate) async fn start(
        answering: impl Fn(&Document) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new(State {
            answering: Box::new(answering),
            handshakes: Mutex::default(),
            commands: Mutex::default(),
        });
        let mut tasks = JoinSet::new();
        let served = Arc::clone(&state);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&served);
                connections.spawn(async move {
                    // It ends when the other side does.
                    let _ = serve(&state, stream).await;
                });
            }
        });
        Fake {
            address,
            state,
            _connections: tasks,
        }
    }

    /// Starts a server that answers as if each write changed a document, and there were none to read.
    pub(crate) async fn accepting() -> Self {
        Fake::start(|command| Answer::Document(accepted(command))).await
    }

    /// Returns options of a store at this server, with timeouts that no test waits for.
    pub(crate) fn options(&self) -> MongoSchemaOptions {
        let mut options = MongoSchemaOptions::new("shop");
        options.endpoint = format!("mongodb://{}", self.address);
        options.connection_timeout = crate::mongodb_wire::NEVER;
        options.read_timeout = crate::mongodb_wire::NEVER;
        options.server_selection_timeout = crate::mongodb_wire::NEVER;
        options
    }

    pub(crate) async fn store(&self) -> MongoSchemaStore {
        MongoSchemaStore::open(&self.options()).await.unwrap()
    }

    pub(crate) fn handshakes(&self) -> Vec<Document> {
        lock(&self.state.handshakes).clone()
    }

    /// Takes the commands of a name that were sent.
    pub(crate) fn take(&self, names: &[&str]) -> Vec<Document> {
        let commands = std::mem::take(&mut *lock(&self.state.commands));
        let is_named = |command: &Document| names.contains(&name(command));
        commands.into_iter().filter(is_named).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the name of a command.
pub(crate) fn name(command: &Document) -> &str {
    command.keys().next().map_or("", String::as_str)
}

pub(crate) fn accepted(command: &Document) -> Document {
    match name(command) {
        "find" => found(&[]),
        "insert" | "update" | "delete" => doc! { "n": 1 },
        _ => doc! {},
    }
}

/// Returns the answer of a `find`.
pub(crate) fn found(documents: &[Document]) -> Document {
    doc! { "cursor": { "id": 0_i64, "ns": "soaas.soml", "firstBatch": documents.to_vec() } }
}

async fn serve(state: &State, mut stream: TcpStream) -> std::io::Result<()> {
    loop {
        let (request, command) = read_message(&mut stream).await?;
        let is_handshake = matches!(name(&command), "hello" | "isMaster" | "ismaster");
        let kept = if is_handshake {
            &state.handshakes
        } else {
            &state.commands
        };
        let mut answer = if is_handshake {
            greeting()
        } else {
            doc! {}
        };
        {
            let mut kept = lock(kept);
            assert!(kept.len() < MOST_KEPT, "a test sends few commands");
            kept.push(command.clone());
        }
        match (state.answering)(&command) {
            Answer::Document(document) => answer.extend(document),
            Answer::Silence => std::future::pending().await,
            Answer::HangUp => return Ok(()),
        }
        if !answer.contains_key("ok") {
            answer.insert("ok", 1);
        }
        write_message(&mut stream, request, &answer).await?;
    }
}

fn greeting() -> Document {
    doc! {
        "helloOk": true,
        "ismaster": true,
        "isWritablePrimary": true,
        "maxBsonObjectSize": 16_777_216,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "logicalSessionTimeoutMinutes": 30,
        "minWireVersion": 0,
        "maxWireVersion": 17,
    }
}

/// Reads a command; documents of sequences become its arrays.
async fn read_message(stream: &mut TcpStream) -> std::io::Result<(i32, Document)> {
    let length = usize::try_from(stream.read_i32_le().await?).unwrap();
    assert!((16..=LARGEST).contains(&length), "{length}");
    let request = stream.read_i32_le().await?;
    let _response_to = stream.read_i32_le().await?;
    assert_eq!(stream.read_i32_le().await?, OP_MSG);
    let mut body = vec![0; length - 16];
    stream.read_exact(&mut body).await?;
    let flags = u32::from_le_bytes(body[..4].try_into().unwrap());
    assert_eq!(flags & 1, 0, "no checksum");
    let mut rest = &body[4..];
    let mut command = Document::new();
    while let Some((kind, section)) = rest.split_first() {
        rest = section;
        if *kind == 0 {
            command.extend(read_document(&mut rest));
            continue;
        }
        let size = size(rest);
        let (mut sequence, after) = rest.split_at(size);
        rest = after;
        sequence = &sequence[4..];
        let end = sequence.iter().position(|byte| *byte == 0).unwrap();
        let key = String::from_utf8(sequence[..end].to_vec()).unwrap();
        sequence = &sequence[end + 1..];
        let mut documents = Vec::new();
        while !sequence.is_empty() {
            documents.push(read_document(&mut sequence));
        }
        command.insert(key, documents);
    }
    Ok((request, command))
}

fn size(bytes: &[u8]) -> usize {
    usize::try_from(i32::from_le_bytes(bytes[..4].try_into().unwrap())).unwrap()
}

fn read_document(rest: &mut &[u8]) -> Document {
    let (document, after) = rest.split_at(size(rest));
    *rest = after;
    Document::from_reader(document).unwrap()
}

async fn write_message(
    stream: &mut TcpStream,
    request: i32,
    answer: &Document,
) -> std::io::Result<()> {
    let body = answer.to_vec().unwrap();
    let mut message = Vec::with_capacity(body.len() + 21);
    let length = i32::try_from(body.len() + 21).unwrap();
    for number in [length, 0, request, OP_MSG, 0] {
        message.extend(number.to_le_bytes());
    }
    message.push(0);
    message.extend(body);
    stream.write_all(&message).await
}
