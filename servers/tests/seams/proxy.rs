//! A proxy between two services, by which what is behind it can be cut off, or made to hang, and come back.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

/// What the proxy does with connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It passes all bytes on.
    Passes,
    /// It closes every connection at once.
    Closes,
    /// It accepts connections, and passes nothing on.
    Hangs,
}

struct State {
    mode: Mode,
    /// The address that connections lead to.
    target: Option<String>,
    /// Both ends of each connection.
    open: Vec<TcpStream>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Waits while nothing is passed on.
    fn wait(&self) -> Mode {
        let hangs = |state: &mut State| state.mode == Mode::Hangs;
        let state = self.changed.wait_while(self.state(), hangs).unwrap();
        state.mode
    }
}

/// A running proxy; its port stays the same whatever is behind it.
pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

impl Proxy {
    /// Starts a proxy that leads nowhere yet.
    pub(crate) fn start() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                mode: Mode::Passes,
                target: None,
                open: Vec::new(),
            }),
            changed: Condvar::new(),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&accepting);
                thread::spawn(move || connect(&client, &shared));
            }
        });
        Proxy { port, shared }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address of the proxy.
    pub(crate) fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Leads further connections to the host and port of an address.
    pub(crate) fn lead_to(&self, base: &str) {
        let rest = base.trim_start_matches("http://");
        let host = rest.split('/').next().unwrap();
        self.shared.state().target = Some(host.to_owned());
    }

    pub(crate) fn set(&self, mode: Mode) {
        let mut state = self.shared.state();
        state.mode = mode;
        if mode == Mode::Closes {
            for stream in state.open.drain(..) {
                // The other end may have closed it.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.shared.changed.notify_all();
    }
}

/// Joins a client with what is behind the proxy, until either ends.
fn connect(client: &TcpStream, shared: &Arc<Shared>) {
    if shared.wait() == Mode::Closes {
        return;
    }
    let target = shared.state().target.clone();
    let Some(server) = target.and_then(|target| TcpStream::connect(target).ok()) else {
        return;
    };
    let clone = |stream: &TcpStream| stream.try_clone().unwrap();
    shared.state().open.extend([clone(client), clone(&server)]);
    let answers = (clone(&server), clone(client), Arc::clone(shared));
    thread::spawn(move || pass_on(answers.0, answers.1, &answers.2));
    pass_on(clone(client), server, shared);
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, shared: &Shared) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if shared.wait() == Mode::Closes || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
