//! The cluster's parts: a scheduler, and executors that do its work. Both know this program's functions.
//!
//! An executor that is heard nothing of for [`LOST_AFTER`] seconds is lost, and what it was doing, or had done and still
//! held, is done again elsewhere. Nothing here is encrypted or asks who calls: a cluster belongs on a network of its own.

use crate::Error;
use crate::codec::{logical_codec, physical_codec};
use crate::session::MESSAGE;
use crate::stores::runtime;
use ballista_core::utils::{default_config_producer, default_session_builder};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::SessionStateBuilder;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// Seconds between two signs of life of an executor.
pub const HEARTBEAT: u64 = 2;

/// Seconds without one until it is given up.
pub const LOST_AFTER: u64 = 10;

/// Seconds that a cluster without executors waits for one before its queries fail.
pub const ALONE: u64 = 60;

/// Where a scheduler listens.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// The address of this machine that it listens at.
    pub bind: String,
    /// The port.
    pub port: u16,
    /// Executors that it waits for before `http://HOST:PORT/readyz` says that it is ready.
    pub executors: usize,
}

/// Where an executor listens, and whom it serves.
#[derive(Clone, Debug)]
pub struct Executor {
    /// The scheduler's host.
    pub scheduler_host: String,
    /// The scheduler's port.
    pub scheduler_port: u16,
    /// The address of this machine that it listens at.
    pub bind: String,
    /// What others call this machine.
    pub host: Option<String>,
    /// Its port for rows, and the one for orders.
    pub ports: [u16; 2],
    /// Threads that compute; all for none.
    pub threads: Option<usize>,
    /// Where intermediate results lie; a temporary folder for none.
    pub folder: Option<PathBuf>,
}

fn address(host: &str, port: u16) -> Result<SocketAddr, Error> {
    format!("{host}:{port}").parse().map_err(|error: std::net::AddrParseError| Error::Address {
        host: host.to_owned(),
        port,
        reason: error.to_string(),
    })
}

impl Scheduler {
    /// Runs until it is stopped.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Role`] where the port is taken.
    pub async fn run(&self) -> Result<(), Error> {
        let address = address(&self.bind, self.port)?;
        let config = SchedulerConfig {
            bind_host: self.bind.clone(),
            bind_port: self.port,
            executor_timeout_seconds: LOST_AFTER,
            expire_dead_executor_interval_seconds: HEARTBEAT,
            no_executors_grace_period_seconds: ALONE,
            min_ready_executors: self.executors,
            grpc_server_max_decoding_message_size: MESSAGE as u32,
            grpc_server_max_encoding_message_size: MESSAGE as u32,
            grpc_client_max_message_size: MESSAGE as u32,
            override_logical_codec: Some(logical_codec()),
            override_physical_codec: Some(physical_codec()),
            override_session_builder: Some(Arc::new(|config| {
                let state = default_session_builder(config)?;
                Ok(SessionStateBuilder::new_from_existing(state).with_runtime_env(runtime(None)?).build())
            })),
            override_config_producer: Some(Arc::new(default_config_producer)),
            ..SchedulerConfig::default()
        };
        let cluster = BallistaCluster::new_from_config(&config).await?;
        Ok(start_server(cluster, address, Arc::new(config)).await?)
    }
}

impl Executor {
    /// Runs until it is stopped, or the scheduler stops it.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Role`] where no scheduler answers within half a minute or a port is taken.
    pub async fn run(&self) -> Result<(), Error> {
        address(&self.bind, self.ports[0])?;
        // Held until the executor ends: it would be removed otherwise.
        let temporary;
        let folder = match &self.folder {
            Some(folder) => folder.as_path(),
            None => {
                temporary = tempfile::tempdir()
                    .map_err(|source| Error::Write { path: std::env::temp_dir(), source })?;
                temporary.path()
            }
        };
        let folder = folder.to_string_lossy().into_owned();
        let spill = folder.clone();
        let config = ExecutorProcessConfig {
            bind_host: self.bind.clone(),
            external_host: self.host.clone(),
            port: self.ports[0],
            grpc_port: self.ports[1],
            scheduler_host: self.scheduler_host.clone(),
            scheduler_port: self.scheduler_port,
            scheduler_connect_timeout_seconds: 30,
            vcores: self.threads.unwrap_or(0),
            work_dir: Some(folder),
            grpc_max_decoding_message_size: MESSAGE as u32,
            grpc_max_encoding_message_size: MESSAGE as u32,
            executor_heartbeat_interval_seconds: HEARTBEAT,
            override_logical_codec: Some(logical_codec()),
            override_physical_codec: Some(physical_codec()),
            override_runtime_producer: Some(Arc::new(move |_| runtime(Some(&spill)))),
            ..ExecutorProcessConfig::default()
        };
        Ok(start_executor_process(Arc::new(config)).await?)
    }
}
