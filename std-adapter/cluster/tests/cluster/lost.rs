//! Executors die; the answer stays. And a scheduler that is not of this program says so.

use crate::engines::{answer, assert_same_state, table};
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
async fn an_executor_killed_in_mid_query_does_not_change_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let glob = parts(folder.path(), 12, ROWS);
    let expected = answer(Session::in_process(None).unwrap(), &table(&glob), 128).await;

    let mut nodes = Nodes::start(2);
    let mut session = nodes.session().await;
    session.add(&table(&glob)).await.unwrap();
    let rows = session.rows(None, None).await.unwrap();
    let begin = Instant::now();
    assert_same_state(&rows.learn(&expected.choice.lesson).await.unwrap(), &expected.learned);
    let undisturbed = begin.elapsed();

    // Another time it may go faster: whatever is over before the blow is begun anew, and struck earlier.
    let mut delay = undisturbed / 2;
    let learning = loop {
        assert!(delay > Duration::from_millis(1), "always over before: nothing was left to disturb");
        let mut learning = Box::pin(rows.learn(&expected.choice.lesson));
        // Polled meanwhile: a query only begins when somebody waits for it.
        if tokio::time::timeout(delay, &mut learning).await.is_err() {
            break learning;
        }
        delay /= 2;
    };
    nodes.executors[0].kill();
    let learned = tokio::time::timeout(Duration::from_secs(180), learning).await;
    assert_same_state(&learned.expect("no answer within three minutes").unwrap(), &expected.learned);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stock_scheduler_is_told_from_ours() {
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

    let mut session = Session::on_cluster(&format!("df://127.0.0.1:{port}")).await.unwrap();
    session.add(&table(&glob)).await.unwrap();
    let rows = session.rows(None, None).await.unwrap();
    let error = rows.survey(10, 0).await.unwrap_err();
    assert!(matches!(error, Error::StockScheduler { .. }), "{error}");
    assert!(error.to_string().contains(&format!("df://127.0.0.1:{port}")), "{error}");
    stock.abort();
}
