//! Errors name the column that cannot be fitted, and what is expected instead.

use crate::engines::table;
use crate::nodes::Nodes;
use crate::rows::{csv, parquet, parquet_of, path};
use datafusion::arrow::array::{ArrayRef, BooleanArray, Float64Array, Int32Array, StringArray};
use dpp_nystrom_cluster::{Error, Session};
use std::sync::Arc;

async fn survey(columns: Vec<(&'static str, ArrayRef)>, sql: Option<&str>) -> Result<u64, Error> {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "rows.parquet");
    parquet_of(&file, columns);
    let mut session = Session::in_process(Some(2)).unwrap();
    session.add(&table(file.display())).await.unwrap();
    let rows = session.rows(sql, None).await?;
    Ok(rows.survey(10, 0).await?.rows)
}

fn doubles(values: &[Option<f64>]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_not_numbers_are_refused_by_column() {
    let y = || ("y", doubles(&[Some(1.0), Some(2.0), Some(3.0)]));
    let nulls = vec![("x", doubles(&[Some(1.0), None, Some(2.0)])), y()];
    let error = survey(nulls.clone(), None).await.unwrap_err();
    assert!(error.to_string().contains("the column \"x\" holds nulls"), "{error}");
    // The advice of the message.
    assert_eq!(survey(nulls, Some("select x, y from t where x is not null")).await.unwrap(), 2);

    for (value, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let rows = vec![("x", doubles(&[Some(1.0), Some(value), Some(2.0)])), y()];
        let error = survey(rows, None).await.unwrap_err();
        assert!(error.to_string().contains(&format!("the column \"x\" holds {text}")), "{error}");
    }

    let words: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let error = survey(vec![("x", y().1), ("word", words), y()], None).await.unwrap_err();
    assert!(matches!(&error, Error::Kind { name, .. } if name == "word"), "{error}");

    // Numbers of other types are cast.
    let whole: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 4]));
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
    assert_eq!(survey(vec![("whole", whole), ("flag", flags), y()], None).await.unwrap(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_queries_say_why() {
    let rows = || vec![("x", doubles(&[Some(1.0)])), ("y", doubles(&[Some(2.0)]))];
    let empty = survey(rows(), Some("select x, y from t where x > 5")).await.unwrap_err();
    assert!(matches!(empty, Error::NoRows), "{empty}");
    let alone = survey(rows(), Some("select y from t")).await.unwrap_err();
    assert!(matches!(alone, Error::NoFeatures), "{alone}");
    let unknown = survey(rows(), Some("select z from t")).await.unwrap_err();
    assert!(unknown.to_string().contains('z'), "{unknown}");

    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "rows.parquet");
    parquet(&file, 0..100);
    let mut session = Session::in_process(None).unwrap();
    let none = session.rows(None, None).await.err().unwrap();
    assert!(matches!(none, Error::Query(0)), "{none}");
    let format = session.add(&table("rows.xls")).await.unwrap_err();
    assert!(format.to_string().contains(".parquet"), "{format}");
    assert!(session.add(&table(path(&folder, "absent.parquet").display())).await.is_err());
    session.add(&table(file.display())).await.unwrap();
    let target = session.rows(None, Some("price")).await.err().unwrap();
    assert!(matches!(&target, Error::Column { there, .. } if there.len() == 4), "{target}");
    let url = Session::on_cluster("localhost:50050", None).await.err().unwrap();
    assert!(matches!(url, Error::Url { .. }), "{url}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_scheduler_is_an_error() {
    let address = format!("127.0.0.1:{}", crate::nodes::free_port());
    let error = Session::on_cluster(&format!("df://{address}"), None).await.err().unwrap();
    assert!(matches!(&error, Error::Scheduler { address: told, .. } if *told == address), "{error}");
    assert!(error.to_string().contains("cannot be reached"), "{error}");
}

/// Each statement that is not a query is refused by its name, and has done nothing.
async fn only_queries_are_taken(mut session: Session) {
    let folder = tempfile::tempdir().unwrap();
    let (known, secret) = (path(&folder, "rows.parquet"), path(&folder, "secret.csv"));
    parquet(&known, 0..100);
    csv(&secret, 0..10);
    session.add(&table(known.display())).await.unwrap();
    let out = path(&folder, "out.csv");
    let statements = [
        (
            format!("create external table u stored as csv location '{}'", secret.display()),
            "CreateExternalTable",
        ),
        ("create table u as select * from t".into(), "CreateMemoryTable"),
        ("create view u as select * from t".into(), "CreateView"),
        ("drop table t".into(), "DropTable"),
        (format!("copy t to '{}'", out.display()), "COPY"),
        ("insert into t select * from t".into(), "Insert"),
        ("set datafusion.execution.batch_size = 1".into(), "SetVariable"),
        ("explain analyze insert into t select * from t".into(), "Insert"),
        ("prepare p as select * from t".into(), "Prepare"),
    ];
    for (sql, name) in statements {
        let error = session.rows(Some(&sql), None).await.err().unwrap();
        assert!(matches!(error, Error::ReadOnly(_)), "{sql}: {error}");
        assert!(error.to_string().to_lowercase().contains(&name.to_lowercase()), "{sql}: {error}");
    }
    let several = session.rows(Some("select * from t; drop table t"), None).await.err().unwrap();
    assert!(several.to_string().contains("single SQL statement"), "{several}");
    let file =
        session.rows(Some(&format!("select * from '{}'", secret.display())), None).await.err().unwrap();
    assert!(file.to_string().contains("not found"), "{file}");
    assert!(!out.exists());
    assert!(session.rows(Some("select * from u"), None).await.is_err());
    let rows =
        session.rows(Some("with u as (select * from t) select * from u union all select * from t"), None);
    assert_eq!(rows.await.unwrap().survey(10, 0).await.unwrap().rows, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn sql_reads_only_in_one_process() {
    only_queries_are_taken(Session::in_process(Some(2)).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sql_reads_only_on_a_cluster() {
    let nodes = Nodes::start(1);
    only_queries_are_taken(nodes.session().await).await;
}
