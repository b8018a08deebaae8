//! A scheduler that dies, or falls silent, while a client waits: a clear error within a stated time.

use crate::engines::{Computed, assert_same_state, compute, table};
use crate::nodes::Nodes;
use crate::rows::parts;
use dpp_nystrom_cluster::{Error, Session};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Some seconds of work for one thread.
const ROWS: usize = 120_000;

/// What the documentation states for a scheduler that falls silent is 30 s; with room for a machine at work.
const HANGS: Duration = Duration::from_secs(300);

struct Waiting {
    nodes: Nodes,
    session: Session,
    expected: Computed,
    /// The time that the query takes.
    undisturbed: Duration,
    _folder: TempDir,
}

impl Waiting {
    async fn prepare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let glob = parts(folder.path(), 12, ROWS);
        let expected = compute(Session::in_process(None).unwrap(), &table(&glob), 128).await;
        let nodes = Nodes::start(1);
        let mut session = nodes.session().await;
        session.add(&table(&glob)).await.unwrap();
        let begin = Instant::now();
        session.rows(None, None).await.unwrap().accumulate(&expected.spec).await.unwrap();
        Self { nodes, session, expected, undisturbed: begin.elapsed(), _folder: folder }
    }

    /// Do something to the scheduler during a query, which must end in the error of a scheduler that is lost.
    async fn during_a_query(&mut self, deed: impl FnOnce(&mut Nodes)) {
        let rows = self.session.rows(None, None).await.unwrap();
        // A query that is over before is repeated, with less time.
        let mut delay = self.undisturbed / 3;
        let query = loop {
            assert!(delay > Duration::from_millis(1), "every query was over before");
            let mut query = Box::pin(rows.accumulate(&self.expected.spec));
            if tokio::time::timeout(delay, &mut query).await.is_err() {
                break query;
            }
            delay /= 2;
        };
        deed(&mut self.nodes);
        let ended = tokio::time::timeout(HANGS, query).await.expect("the client hangs");
        let error = ended.unwrap_err();
        assert!(matches!(&error, Error::SchedulerLost(url) if *url == self.nodes.url()), "{error}");
    }
}

/// The executors find the scheduler again by themselves, and the same session goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_scheduler_killed_and_restarted_ends_the_query_and_works_again() {
    let mut waiting = Waiting::prepare().await;
    waiting
        .during_a_query(|nodes| {
            nodes.scheduler.kill();
            nodes.scheduler.restart();
        })
        .await;
    waiting.nodes.wait();
    let rows = waiting.session.rows(None, None).await.unwrap();
    let folds = tokio::time::timeout(HANGS, rows.accumulate(&waiting.expected.spec)).await;
    assert_same_state(&folds.expect("the client hangs").unwrap(), &waiting.expected.folds);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduler_that_falls_silent_ends_the_query() {
    let mut waiting = Waiting::prepare().await;
    waiting.during_a_query(|nodes| nodes.scheduler.freeze()).await;
}
