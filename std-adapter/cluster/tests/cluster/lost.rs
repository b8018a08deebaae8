//! The result after executors are killed, and the error of a scheduler of another program.

use crate::engines::{Computed, assert_same_state, compute, table};
use crate::nodes::{Files, Nodes, free_port, wait_for};
use crate::rows::parts;
use crate::tls::certificates;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use dpp_nystrom_cluster::{Error, Rows, Session};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Some seconds of work for two threads.
const ROWS: usize = 120_000;

/// Kills of executors in one run, at least.
const KILLS: u64 = 10;

/// Kills that come in the middle of a query, at least.
const DURING: u64 = 5;

/// No result takes as long, whatever runs beside it: an executor is lost after 10 s, or 20 s with TLS.
const HANGS: Duration = Duration::from_secs(400);

async fn accumulate(rows: &Rows<'_>, expected: &Computed) {
    let folds = tokio::time::timeout(HANGS, rows.accumulate(&expected.spec)).await;
    assert_same_state(&folds.expect("no result in time").unwrap(), &expected.folds);
}

/// Kill an executor in the middle of a query, whose result is the same.
async fn kill_one(files: Option<Files>) {
    let folder = tempfile::tempdir().unwrap();
    let glob = parts(folder.path(), 12, ROWS);
    let expected = compute(Session::in_process(None).unwrap(), &table(&glob), 128).await;

    let mut nodes = Nodes::start_with(2, files);
    let mut session = nodes.session().await;
    session.add(&table(&glob)).await.unwrap();
    let rows = session.rows(None, None).await.unwrap();
    let begin = Instant::now();
    accumulate(&rows, &expected).await;
    let undisturbed = begin.elapsed();

    // A query may be faster the next time: one that is over before the kill is repeated, with an earlier
    // kill.
    let mut delay = undisturbed / 2;
    let query = loop {
        assert!(delay > Duration::from_millis(1), "every query was over before the kill");
        let mut query = Box::pin(accumulate(&rows, &expected));
        // Polled meanwhile: a query begins with its first poll.
        if tokio::time::timeout(delay, &mut query).await.is_err() {
            break query;
        }
        delay /= 2;
    };
    nodes.executors[0].kill();
    query.await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_killed_during_a_query_does_not_change_the_result() {
    kill_one(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_does_one_with_tls() {
    let folder = tempfile::tempdir().unwrap();
    kill_one(Some(certificates(folder.path()))).await;
}

/// Ten queries or more, in each of which an executor drawn at random is killed at a random time, and another
/// one is started. A kill may also come when the query is over: then the next one meets an executor that is
/// gone, and the next kill comes earlier.
#[tokio::test(flavor = "multi_thread")]
async fn random_kills_do_not_change_any_result() {
    let folder = tempfile::tempdir().unwrap();
    let glob = parts(folder.path(), 12, ROWS);
    let expected = compute(Session::in_process(None).unwrap(), &table(&glob), 64).await;

    let mut nodes = Nodes::start(2);
    let mut session = nodes.session().await;
    session.add(&table(&glob)).await.unwrap();
    let rows = session.rows(None, None).await.unwrap();
    let begin = Instant::now();
    accumulate(&rows, &expected).await;
    let mut undisturbed = begin.elapsed();

    let (mut kill, mut during) = (0, 0);
    while kill < KILLS || during < DURING {
        assert!(kill < 10 * KILLS, "{during} of {kill} kills were during a query");
        let begin = Instant::now();
        let (victim, share) = (draw(2 * kill) % 2, (draw(2 * kill + 1) % 1000) as f64 / 1000.0);
        let mut query = Box::pin(accumulate(&rows, &expected));
        let is_over = tokio::time::timeout(undisturbed.mul_f64(share), &mut query).await.is_ok();
        let elapsed = begin.elapsed();
        let replacement = nodes.executor();
        // Dropping it kills it.
        nodes.executors[victim as usize] = replacement;
        if is_over {
            undisturbed = undisturbed.min(elapsed);
        } else {
            during += 1;
            query.await;
        }
        kill += 1;
    }
    accumulate(&rows, &expected).await;
}

/// The number at this place of a fixed random sequence (SplitMix64).
fn draw(place: u64) -> u64 {
    let mut mixed = (place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) >> 8
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stock_scheduler_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let glob = parts(folder.path(), 2, 100);
    let port = free_port();
    let config = SchedulerConfig { bind_port: port, ..SchedulerConfig::default() };
    let cluster = BallistaCluster::new_from_config(&config).await.unwrap();
    let stock = tokio::spawn(async move {
        let address = format!("127.0.0.1:{port}").parse().unwrap();
        start_server(cluster, address, Arc::new(config)).await
    });
    wait_for("the stock scheduler listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());

    let mut session = Session::on_cluster(&format!("df://127.0.0.1:{port}"), None).await.unwrap();
    session.add(&table(&glob)).await.unwrap();
    let rows = session.rows(None, None).await.unwrap();
    let error = rows.survey(10, 0).await.unwrap_err();
    assert!(matches!(error, Error::StockScheduler(_)), "{error}");
    assert!(error.to_string().contains(&format!("df://127.0.0.1:{port}")), "{error}");
    stock.abort();
}
