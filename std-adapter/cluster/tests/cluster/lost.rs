//! The result after executors are killed, and the error of a scheduler of another program.

use crate::engines::{assert_same_state, compute, table};
use crate::nodes::{Nodes, free_port, wait_for};
use crate::rows::parts;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use dpp_nystrom_cluster::{Error, Session};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Some seconds of work for two threads.
const ROWS: usize = 120_000;

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_killed_during_a_query_does_not_change_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let glob = parts(folder.path(), 12, ROWS);
    let expected = compute(Session::in_process(None).unwrap(), &table(&glob), 128).await;

    let mut nodes = Nodes::start(2);
    let mut session = nodes.session().await;
    session.add(&table(&glob)).await.unwrap();
    let rows = session.rows(None, None).await.unwrap();
    let begin = Instant::now();
    assert_same_state(&rows.accumulate(&expected.spec).await.unwrap(), &expected.folds);
    let undisturbed = begin.elapsed();

    // A query may be faster the next time: one that is over before the kill is repeated, with an earlier kill.
    let mut delay = undisturbed / 2;
    let query = loop {
        assert!(delay > Duration::from_millis(1), "every query was over before the kill");
        let mut query = Box::pin(rows.accumulate(&expected.spec));
        // Polled meanwhile: a query begins with its first poll.
        if tokio::time::timeout(delay, &mut query).await.is_err() {
            break query;
        }
        delay /= 2;
    };
    nodes.executors[0].kill();
    let folds = tokio::time::timeout(Duration::from_secs(180), query).await;
    assert_same_state(&folds.expect("no result within three minutes").unwrap(), &expected.folds);
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
