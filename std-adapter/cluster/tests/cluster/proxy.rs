//! A TCP proxy that disturbs connections, and keeps what passes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What happens to connections.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// Nothing.
    None,
    /// So many connections get this response instead of the server's.
    Answer(usize, &'static str),
    /// So many connections are cut after this number of bytes from the server.
    Cut(usize, usize),
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    target: u16,
    trouble: Trouble,
    troubled: AtomicUsize,
    seen: Mutex<Vec<u8>>,
}

impl Proxy {
    /// Listen on a free port, before the port of a server.
    pub(crate) fn before(target: u16, trouble: Trouble) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared =
            Arc::new(Shared { target, trouble, troubled: AtomicUsize::new(0), seen: Mutex::new(Vec::new()) });
        let passing = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = passing.clone();
                // A connection that ends in an error has ended.
                std::thread::spawn(move || drop(shared.pass(client)));
            }
        });
        Self { port, shared }
    }

    /// The number of connections that were disturbed.
    pub(crate) fn troubled(&self) -> usize {
        self.shared.troubled.load(Ordering::SeqCst)
    }

    /// Whether these bytes went to the server.
    pub(crate) fn has_seen(&self, bytes: &[u8]) -> bool {
        self.shared.seen.lock().unwrap().windows(bytes.len()).any(|window| window == bytes)
    }
}

impl Shared {
    /// Count one more disturbed connection, if there are any left.
    fn disturbs(&self, most: usize) -> bool {
        self.troubled
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |done| (done < most).then_some(done + 1))
            .is_ok()
    }

    fn pass(self: Arc<Self>, mut client: TcpStream) -> std::io::Result<()> {
        if let Trouble::Answer(most, response) = self.trouble
            && self.disturbs(most)
        {
            // The end of the request's head: such requests have no body.
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && client.read(&mut byte)? > 0 {
                head.push(byte[0]);
            }
            client.write_all(response.as_bytes())?;
            return client.shutdown(Shutdown::Write);
        }
        let server = TcpStream::connect(("127.0.0.1", self.target))?;
        let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
        let shared = self.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                shared.seen.lock().unwrap().extend_from_slice(&buffer[..count]);
                if to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            to.shutdown(Shutdown::Write)
        });
        let (mut server, mut passed) = (server, 0);
        let mut buffer = [0; 1 << 10];
        loop {
            let count = server.read(&mut buffer)?;
            if count == 0 {
                return client.shutdown(Shutdown::Write);
            }
            passed += count;
            client.write_all(&buffer[..count])?;
            if let Trouble::Cut(most, after) = self.trouble
                && passed > after
                && self.disturbs(most)
            {
                client.shutdown(Shutdown::Both)?;
                return server.shutdown(Shutdown::Both);
            }
        }
    }
}
