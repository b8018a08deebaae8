//! Where queries run, and the rows that they give.

use crate::aggregate::Aggregate;
use crate::codec::{logical_codec, physical_codec};
use crate::predict::{Predict, Predictions};
use crate::stores::runtime;
use crate::survey::{Part, Question, Survey};
use crate::{Error, TableSource};
use ballista::prelude::{SessionConfigExt, SessionContextExt};
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::{AggregateUDF, Expr, cast, ident};
use datafusion::prelude::{SessionConfig, SessionContext};
use dpp_nystrom::model::Model;
use dpp_nystrom::regression::{FitSpec, Learned};

/// Rows to a batch: enough that factoring the landmarks for each of them does not count.
const BATCH: usize = 16_384;

/// Partitions of a cluster's stages: more than most clusters have threads, so that each has something to do.
const PARTITIONS: usize = 16;

/// The largest message between the parts of a cluster: a survey's sample is the largest of ours.
pub(crate) const MESSAGE: usize = 256 << 20;

/// A place where queries run, and the tables it knows.
pub struct Session {
    context: SessionContext,
    cluster: Option<String>,
    tables: Vec<String>,
}

impl Session {
    /// In this process, on so many threads, or on all.
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

    /// On the cluster whose scheduler is at `df://HOST:PORT`.
    ///
    /// # Errors
    /// [`Error::Url`].
    pub async fn on_cluster(url: &str) -> Result<Self, Error> {
        let refused = |reason: String| Error::Url { url: url.to_owned(), reason };
        if !url.starts_with("df://") {
            return Err(refused("it begins otherwise".into()));
        }
        let config = SessionConfig::new_with_ballista()
            .with_batch_size(BATCH)
            .with_target_partitions(PARTITIONS)
            .with_ballista_grpc_client_max_message_size(MESSAGE)
            .with_ballista_logical_extension_codec(logical_codec())
            .with_ballista_physical_extension_codec(physical_codec());
        let state = SessionStateBuilder::new()
            .with_default_features()
            .with_config(config)
            .with_runtime_env(runtime(None)?)
            .build();
        let context = SessionContext::remote_with_state(url, state)
            .await
            .map_err(|error| refused(error.strip_backtrace()))?;
        Ok(Self { context, cluster: Some(url.to_owned()), tables: Vec::new() })
    }

    /// Makes a table known. A cluster's executors read it at the same path.
    ///
    /// # Errors
    /// [`Error::Format`], the engine's.
    pub async fn add(&mut self, table: &TableSource) -> Result<(), Error> {
        table.register(&self.context).await?;
        self.tables.push(table.name.clone());
        Ok(())
    }

    /// The features and the target among the rows of a query: the target's column is named or the last, and all others are
    /// features. Without a query, all rows of the only table.
    ///
    /// # Errors
    /// [`Error::Query`], [`Error::Column`], [`Error::Twice`], [`Error::Kind`], [`Error::NoFeatures`], the engine's.
    pub async fn rows(&self, sql: Option<&str>, target: Option<&str>) -> Result<Rows<'_>, Error> {
        let frame = self.query(sql).await?;
        let names = numeric(&frame)?;
        let target_name = match target {
            Some(target) if names.iter().any(|name| name == target) => target.to_owned(),
            Some(target) => return Err(Error::Column { name: target.to_owned(), there: names }),
            None => names.last().cloned().ok_or(Error::NoFeatures)?,
        };
        let feature_names: Vec<String> = names.into_iter().filter(|name| *name != target_name).collect();
        self.of(frame, feature_names, Some(target_name))
    }

    /// The rows of a query with the features of a model, and its target where that is there too. Other columns may be there,
    /// of any kind.
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
        self.of(frame, model.feature_names.clone(), target)
    }

    async fn query(&self, sql: Option<&str>) -> Result<DataFrame, Error> {
        match (sql, self.tables.as_slice()) {
            (Some(sql), _) => Ok(self.context.sql(sql).await?),
            (None, [table]) => Ok(self.context.table(table.as_str()).await?),
            (None, tables) => Err(Error::Query { tables: tables.len() }),
        }
    }

    fn of(
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

/// The names of all columns, which must be numeric and distinct.
fn numeric(frame: &DataFrame) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = Vec::new();
    for field in frame.schema().fields() {
        let name = field.name().clone();
        if !(field.data_type().is_numeric() || *field.data_type() == DataType::Boolean) {
            return Err(Error::Kind { name, kind: field.data_type().to_string() });
        }
        if names.contains(&name) {
            return Err(Error::Twice { name });
        }
        names.push(name);
    }
    Ok(names)
}

/// The rows of a query, as features and a target. Nothing is read before it is asked for.
pub struct Rows<'s> {
    session: &'s Session,
    frame: DataFrame,
    /// The features, in the order of the query or of the model.
    pub feature_names: Vec<String>,
    /// The target, where there is one.
    pub target_name: Option<String>,
}

impl Rows<'_> {
    /// The statistics of all rows, and a sample of up to so many: one pass.
    ///
    /// # Errors
    /// [`Error::NoRows`], [`Error::Null`] and [`Error::NotFinite`] with the column; the engine's.
    pub async fn survey(&self, sample: usize, seed: u64) -> Result<Survey, Error> {
        let names = self.names()?;
        let question = Question { names, sample: sample as u64, seed };
        let bytes = self.ask(Aggregate::survey(&question)?).await?.ok_or(Error::NoRows)?;
        let part: Part = postcard::from_bytes(&bytes).map_err(|_| Error::Answer)?;
        part.answer(&question)
    }

    /// What all rows teach: one pass, `O(c²)` numbers a partition.
    ///
    /// # Errors
    /// As [`survey`](Self::survey); [`Error::Adapter`] with what the regression refuses.
    pub async fn learn(&self, lesson: &FitSpec) -> Result<Learned, Error> {
        let bytes = self.ask(Aggregate::learn(lesson)?).await?.ok_or(Error::NoRows)?;
        Ok(lesson.read(&bytes)?)
    }

    /// The rows with a further column of predictions, as they come.
    ///
    /// # Errors
    /// [`Error::Twice`] where the rows have a column of that name; the engine's.
    pub async fn predict(&self, model: &Model, name: &str) -> Result<Predictions, Error> {
        if self.frame.schema().fields().iter().any(|field| field.name() == name) {
            return Err(Error::Twice { name: name.to_owned() });
        }
        let function = Predict::of(model)?;
        let prediction = function.call(numbers(&self.feature_names)).alias(name);
        let frame = self.frame.clone().with_column(name, prediction)?;
        Ok(Predictions { stream: frame.execute_stream().await.map_err(|error| self.told(error))? })
    }

    fn names(&self) -> Result<Vec<String>, Error> {
        let target = self.target_name.clone().ok_or(dpp_nystrom::Error::NoTarget)?;
        Ok(self.feature_names.iter().cloned().chain([target]).collect())
    }

    /// One value over all rows; none where there are no rows.
    async fn ask(&self, aggregate: AggregateUDF) -> Result<Option<Vec<u8>>, Error> {
        let asked = aggregate.call(numbers(&self.names()?)).alias("answer");
        let frame = self.frame.clone().aggregate(Vec::new(), vec![asked])?;
        let batches = frame.collect().await.map_err(|error| self.told(error))?;
        let answers = batches.iter().filter_map(|batch| batch.columns().first());
        let mut values = answers.flat_map(|column| {
            column
                .as_binary_opt::<i64>()
                .into_iter()
                .flat_map(|column| column.iter().map(|value| value.map(<[u8]>::to_vec)))
        });
        values.next().ok_or(Error::Answer)
    }

    /// An error of the engine, in our words where we know it.
    fn told(&self, error: DataFusionError) -> Error {
        match &self.session.cluster {
            Some(url) if error.to_string().contains("ExtensionCodec is not provided") => {
                Error::StockScheduler { url: url.clone() }
            }
            _ => error.into(),
        }
    }
}

/// Columns as doubles.
fn numbers(names: &[String]) -> Vec<Expr> {
    names.iter().map(|name| cast(ident(name.clone()), DataType::Float64)).collect()
}
