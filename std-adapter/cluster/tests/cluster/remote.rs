//! Tables at a URL: the same result as from the disk.

use crate::engines::{assert_same, compute, table};
use crate::rows::{parquet, path};
use dpp_nystrom_cluster::Session;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// Serve one connection's requests for one file, whole or in ranges.
fn serve(stream: TcpStream, file: &[u8]) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    loop {
        let (mut line, mut first) = (String::new(), String::new());
        let (mut range, mut status) = (0..file.len(), "200 OK");
        while reader.read_line(&mut line)? > 0 && line != "\r\n" {
            if first.is_empty() {
                first.clone_from(&line);
            }
            if let Some(asked) = line.to_ascii_lowercase().trim().strip_prefix("range: bytes=") {
                let (begin, end) = asked.split_once('-').unwrap();
                status = "206 Partial Content";
                range = match (begin.parse::<usize>(), end.parse::<usize>()) {
                    (Ok(begin), Ok(end)) => begin..(end + 1).min(file.len()),
                    (Ok(begin), Err(_)) => begin..file.len(),
                    (Err(_), end) => file.len() - end.unwrap()..file.len(),
                };
            }
            line.clear();
        }
        if first.is_empty() {
            return Ok(());
        }
        write!(
            writer,
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nContent-Range: bytes {}-{}/{}\r\n\
             Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: \"one\"\r\n\r\n",
            range.len(),
            range.start,
            range.end.saturating_sub(1),
            file.len()
        )?;
        if first.starts_with("GET") {
            writer.write_all(&file[range])?;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_at_a_url_is_read_as_one_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "rows.parquet");
    parquet(&file, 0..6_000);
    let bytes = std::fs::read(&file).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let bytes = bytes.clone();
            std::thread::spawn(move || serve(stream, &bytes));
        }
    });
    let expected = compute(Session::in_process(None).unwrap(), &table(file.display()), 20).await;
    let url = format!("http://127.0.0.1:{port}/rows.parquet");
    let found = compute(Session::in_process(None).unwrap(), &table(url), 20).await;
    assert_same(&found, &expected);
}
