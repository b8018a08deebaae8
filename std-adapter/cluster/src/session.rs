//! Where queries run, and the rows that they return.

use crate::aggregate::Aggregate;
use crate::codec::{logical_codec, physical_codec};
use crate::contact::reach;
use crate::endpoints::connected;
use crate::error::Error;
use crate::failures::{is_result_lost, translated};
use crate::predict::{Predict, Predictions};
use crate::stores::runtime;
use crate::survey::{PartialSurvey, Survey, SurveySpec};
use crate::tables::TableSource;
use crate::tls::Tls;
use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::config::BALLISTA_ADAPTIVE_PLANNER_ENABLED;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::{AggregateUDF, Expr, cast, ident};
use datafusion::prelude::{SQLOptions, SessionConfig, SessionContext};
use dpp_nystrom::Model;
use dpp_nystrom::regression::{FitSpec, Folds};
use std::time::Duration;
use url::Url;

/// Rows of a batch: enough that factoring the landmarks once a batch costs little.
const BATCH: usize = 16_384;

/// Partitions of a cluster's stages: more than the threads of most clusters, so that all of them work.
const PARTITIONS: usize = 16;

/// The maximum size in bytes of a message between the parts of a cluster; a survey's sample is the largest.
pub(crate) const MESSAGE: usize = 256 << 20;

/// The port of a scheduler whose URL has none.
const PORT: u16 = 50_050;

/// How often a pass over all rows runs where an executor is lost with its result, which the scheduler takes
/// for done.
const ATTEMPTS: usize = 3;

/// Where queries run: this process or a cluster, with its tables.
pub struct Session {
    context: SessionContext,
    cluster: Option<String>,
    tables: Vec<String>,
}

impl Session {
    /// Run queries in this process on this number of threads; `None`: on all.
    ///
    /// # Errors
    /// The engine's.
    pub fn in_process(threads: Option<usize>) -> Result<Self, Error> {
        let config = SessionConfig::new().with_batch_size(BATCH);
        let config = match threads {
            Some(threads) => config.with_target_partitions(threads),
            None => config,
        };
        let context = SessionContext::new_with_config_rt(config, runtime(None)?);
        Ok(Self { context, cluster: None, tables: Vec::new() })
    }

    /// Run queries on the cluster whose scheduler is at `df://HOST:PORT`, with mutual TLS or in plain text.
    ///
    /// # Errors
    /// [`Error::Url`], [`Error::Tls`], [`Error::Scheduler`] where it is not reached or refuses.
    pub async fn on_cluster(url: &str, tls: Option<&Tls>) -> Result<Self, Error> {
        let refused = |reason: String| Error::Url { url: url.to_owned(), reason };
        if !url.starts_with("df://") {
            return Err(refused("it does not start with df://".into()));
        }
        let parsed = Url::parse(url).map_err(|error| refused(error.to_string()))?;
        let host = parsed.host_str().ok_or_else(|| refused("it has no host".into()))?;
        let credentials = tls.map(Tls::load).transpose()?;
        reach(host, parsed.port().unwrap_or(PORT), credentials.as_ref(), Duration::ZERO).await?;
        let config = SessionConfig::new_with_ballista()
            .with_batch_size(BATCH)
            .with_target_partitions(PARTITIONS)
            .with_ballista_grpc_client_max_message_size(MESSAGE)
            // With it, Ballista 55 runs a stage again whose results were lost, refuses the new ones and waits
            // forever.
            .set_bool(BALLISTA_ADAPTIVE_PLANNER_ENABLED, false)
            .with_ballista_logical_extension_codec(logical_codec())
            .with_ballista_physical_extension_codec(physical_codec());
        let state = SessionStateBuilder::new()
            .with_default_features()
            .with_config(connected(config, credentials.as_ref()))
            .with_runtime_env(runtime(None)?)
            .build();
        let context = SessionContext::remote_with_state(url, state)
            .await
            .map_err(|error| refused(error.strip_backtrace()))?;
        Ok(Self { context, cluster: Some(url.to_owned()), tables: Vec::new() })
    }

    /// Add a table. The executors of a cluster read it at the same path.
    ///
    /// # Errors
    /// [`Error::Format`], the engine's.
    pub async fn add(&mut self, table: &TableSource) -> Result<(), Error> {
        table.register(&self.context).await?;
        self.tables.push(table.name.clone());
        Ok(())
    }

    /// Return the rows of a query, by default all rows of the only table. The target is the column named, by
    /// default the last; all others are features.
    ///
    /// # Errors
    /// [`Error::Query`], [`Error::ReadOnly`] for SQL other than a query, [`Error::Column`], [`Error::Twice`],
    /// [`Error::Kind`], [`Error::NoFeatures`], the engine's.
    pub async fn rows(&self, sql: Option<&str>, target: Option<&str>) -> Result<Rows<'_>, Error> {
        let frame = self.query(sql).await?;
        let names = numeric(&frame)?;
        let target_name = match target {
            Some(target) if names.iter().any(|name| name == target) => target.to_owned(),
            Some(target) => return Err(Error::Column { name: target.to_owned(), there: names }),
            None => names.last().cloned().ok_or(Error::NoFeatures)?,
        };
        let feature_names: Vec<String> = names.into_iter().filter(|name| *name != target_name).collect();
        self.rows_of(frame, feature_names, Some(target_name))
    }

    /// Return the rows of a query with the features of a model, and its target if the query has it. Other
    /// columns may be of any type.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub async fn rows_for(&self, sql: Option<&str>, model: &Model) -> Result<Rows<'_>, Error> {
        let frame = self.query(sql).await?;
        let there: Vec<String> = frame.schema().fields().iter().map(|field| field.name().clone()).collect();
        if let Some(name) = model.feature_names.iter().find(|name| !there.contains(name)) {
            return Err(Error::Column { name: name.clone(), there });
        }
        let target = there.contains(&model.target_name).then(|| model.target_name.clone());
        self.rows_of(frame, model.feature_names.clone(), target)
    }

    async fn query(&self, sql: Option<&str>) -> Result<DataFrame, Error> {
        match (sql, self.tables.as_slice()) {
            (Some(sql), _) => {
                let plan = self.context.state().create_logical_plan(sql).await?;
                let reading = SQLOptions::new()
                    .with_allow_ddl(false)
                    .with_allow_dml(false)
                    .with_allow_statements(false);
                reading.verify_plan(&plan).map_err(|error| Error::ReadOnly(error.strip_backtrace()))?;
                Ok(self.context.execute_logical_plan(plan).await?)
            }
            (None, [table]) => Ok(self.context.table(table.as_str()).await?),
            (None, tables) => Err(Error::Query(tables.len())),
        }
    }

    fn rows_of(
        &self,
        frame: DataFrame,
        feature_names: Vec<String>,
        target_name: Option<String>,
    ) -> Result<Rows<'_>, Error> {
        if feature_names.is_empty() {
            return Err(Error::NoFeatures);
        }
        Ok(Rows { session: self, frame, feature_names, target_name })
    }
}

/// Return the names of all columns, which must be numeric and distinct.
fn numeric(frame: &DataFrame) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = Vec::new();
    for field in frame.schema().fields() {
        let name = field.name().clone();
        if !(field.data_type().is_numeric() || *field.data_type() == DataType::Boolean) {
            return Err(Error::Kind { name, kind: field.data_type().to_string() });
        }
        if names.contains(&name) {
            return Err(Error::Twice(name));
        }
        names.push(name);
    }
    Ok(names)
}

/// The rows of a query, as features and a target. They are read by its methods, once for each call.
pub struct Rows<'s> {
    session: &'s Session,
    frame: DataFrame,
    /// The names of the features, in the order of the query or of the model.
    pub feature_names: Vec<String>,
    /// The name of the target, if there is one.
    pub target_name: Option<String>,
}

impl Rows<'_> {
    /// Compute the statistics of all rows and draw a sample of at most `sample` of them: one pass.
    ///
    /// # Errors
    /// [`Error::NoRows`], [`Error::Null`] and [`Error::NotFinite`] with the column; the engine's.
    pub async fn survey(&self, sample: usize, seed: u64) -> Result<Survey, Error> {
        let names = self.names()?;
        let spec = SurveySpec { names, sample: sample as u64, seed };
        let bytes = self.aggregate(Aggregate::survey(&spec)?).await?.ok_or(Error::NoRows)?;
        let part: PartialSurvey = postcard::from_bytes(&bytes).map_err(|_| Error::Malformed)?;
        part.conclude(&spec)
    }

    /// Accumulate all rows: one pass, `O(c²)` numbers per partition.
    ///
    /// # Errors
    /// As [`survey`](Self::survey); [`Error::Adapter`] with those of [`FitSpec::accumulate`].
    pub async fn accumulate(&self, spec: &FitSpec) -> Result<Folds, Error> {
        let bytes = self.aggregate(Aggregate::fit(spec)?).await?.ok_or(Error::NoRows)?;
        Ok(spec.read(&bytes)?)
    }

    /// Return the rows with one more column, of predictions, in a stream.
    ///
    /// # Errors
    /// [`Error::Twice`] where the rows have a column of that name; [`Error::Adapter`] for a model of several
    /// outputs; the engine's.
    pub async fn predict(&self, model: &Model, name: &str) -> Result<Predictions, Error> {
        if self.frame.schema().fields().iter().any(|field| field.name() == name) {
            return Err(Error::Twice(name.to_owned()));
        }
        if model.outputs() > 1 {
            return Err(Error::SeveralTargets);
        }
        let function = Predict::function(model)?;
        let prediction = function.call(numbers(&self.feature_names)).alias(name);
        let frame = self.frame.clone().with_column(name, prediction)?;
        let cluster = self.session.cluster.clone();
        let stream = frame.execute_stream().await.map_err(|error| translated(error, cluster.as_deref()))?;
        Ok(Predictions { cluster, stream })
    }

    /// Return the name of the data set: those of the tables.
    pub fn name(&self) -> String {
        self.session.tables.join(", ")
    }

    fn names(&self) -> Result<Vec<String>, Error> {
        let target = self.target_name.clone().ok_or(Error::NoTarget)?;
        Ok(self.feature_names.iter().cloned().chain([target]).collect())
    }

    /// Aggregate all rows to one value; `None` where there are no rows.
    async fn aggregate(&self, function: AggregateUDF) -> Result<Option<Vec<u8>>, Error> {
        let value = function.call(numbers(&self.names()?)).alias("value");
        let frame = self.frame.clone().aggregate(Vec::new(), vec![value])?;
        let on_cluster = self.session.cluster.is_some();
        let mut attempt = 1;
        let batches = loop {
            match frame.clone().collect().await {
                Ok(batches) => break batches,
                Err(error) if on_cluster && attempt < ATTEMPTS && is_result_lost(&error.to_string()) => {
                    attempt += 1;
                }
                Err(error) => return Err(translated(error, self.session.cluster.as_deref())),
            }
        };
        let columns = batches.iter().filter_map(|batch| batch.columns().first()?.as_binary_opt::<i64>());
        let value = columns.flatten().next().ok_or(Error::Malformed)?;
        Ok(value.map(<[u8]>::to_vec))
    }
}

/// Return the columns as doubles.
fn numbers(names: &[String]) -> Vec<Expr> {
    names.iter().map(|name| cast(ident(name.clone()), DataType::Float64)).collect()
}
