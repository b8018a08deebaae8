//! The cluster's parts: a scheduler, and executors that do its work. Both know this program's functions.
//!
//! An executor without a heartbeat for [`LOST_AFTER`] seconds is lost; its tasks, and those whose results it
//! still held, run again elsewhere. Without [`Tls`] there is no encryption and no authentication: run such a
//! cluster on a private network. With it, executors ask the scheduler for tasks, which is their heartbeat
//! too.

use crate::codec::{logical_codec, physical_codec};
use crate::contact::reach;
use crate::endpoints::{connected, endpoints};
use crate::error::Error;
use crate::secure::{row_server, serve_scheduler};
use crate::session::MESSAGE;
use crate::stores::runtime;
use crate::tls::Tls;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::utils::{default_config_producer, default_session_builder};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::SessionStateBuilder;
use dpp_nystrom::Error as AdapterError;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Seconds between two heartbeats of an executor.
pub const HEARTBEAT: u64 = 2;

/// Seconds without a heartbeat after which an executor is lost.
pub const LOST_AFTER: u64 = 10;

/// [`LOST_AFTER`] with TLS: an executor whose threads are all at work asks for tasks every five seconds.
pub const LOST_AFTER_ASKING: u64 = 20;

/// Seconds that an executor tries to reach its scheduler.
pub const PATIENCE: u64 = 30;

/// Seconds that queries wait for an executor where there is none, before they fail.
pub const ALONE: u64 = 60;

/// Where a scheduler listens.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Scheduler {
    /// The address of this machine to listen at
    #[cfg_attr(feature = "cli", arg(long, value_name = "ADDRESS", default_value = "127.0.0.1"))]
    pub bind: String,
    /// The port to listen at
    #[cfg_attr(feature = "cli", arg(long, value_name = "PORT", default_value_t = 50050))]
    pub port: u16,
    /// The number of executors from which `http://HOST:PORT/readyz` reports that the cluster is ready
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    pub executors: usize,
    /// Mutual TLS with executors and clients.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub tls: Option<Tls>,
}

/// Where an executor listens, and its scheduler.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Executor {
    /// The scheduler
    #[cfg_attr(feature = "cli", arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050"))]
    pub scheduler: HostPort,
    /// The address of this machine to listen at
    #[cfg_attr(feature = "cli", arg(long, value_name = "ADDRESS", default_value = "127.0.0.1"))]
    pub bind: String,
    /// The name of this machine for the others [default: the address that they see]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub host: Option<String>,
    /// The port for rows
    #[cfg_attr(feature = "cli", arg(long, value_name = "PORT", default_value_t = 50051))]
    pub port: u16,
    /// The port for control
    #[cfg_attr(feature = "cli", arg(long, value_name = "PORT", default_value_t = 50052))]
    pub control_port: u16,
    /// Threads that compute [default: all]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..)))]
    pub threads: Option<u16>,
    /// The folder of intermediate results [default: a temporary one]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FOLDER"))]
    pub folder: Option<PathBuf>,
    /// Mutual TLS with the scheduler, other executors and clients.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub tls: Option<Tls>,
}

/// A host and a port, parsed from `HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// The host's name or address.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.rsplit_once(':')
            .and_then(|(host, port)| Some(Self { host: host.to_owned(), port: port.parse().ok()? }))
            .filter(|found| !found.host.is_empty())
            .ok_or_else(|| format!("invalid address {text:?}: expected HOST:PORT, as 10.0.0.1:50050"))
    }
}

fn address(host: &str, port: u16) -> Result<SocketAddr, Error> {
    let address = format!("{host}:{port}");
    address
        .parse()
        .map_err(|error: std::net::AddrParseError| Error::Address { reason: error.to_string(), address })
}

/// Ballista's own server for commands has no TLS, so executors ask for tasks where there is TLS.
fn policy(tls: Option<&Tls>) -> TaskSchedulingPolicy {
    match tls {
        Some(_) => TaskSchedulingPolicy::PullStaged,
        None => TaskSchedulingPolicy::PushStaged,
    }
}

impl Scheduler {
    /// Run until it is stopped.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Role`] where the port is taken, [`Error::Tls`].
    pub async fn run(&self) -> Result<(), Error> {
        let address = address(&self.bind, self.port)?;
        let credentials = self.tls.as_ref().map(Tls::load).transpose()?;
        let config = SchedulerConfig {
            bind_host: self.bind.clone(),
            bind_port: self.port,
            scheduling_policy: policy(self.tls.as_ref()),
            use_tls: self.tls.is_some(),
            override_create_grpc_client_endpoint: Some(endpoints(credentials.as_ref())),
            executor_timeout_seconds: if self.tls.is_some() { LOST_AFTER_ASKING } else { LOST_AFTER },
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
        match credentials {
            Some(credentials) => serve_scheduler(cluster, address, config, &credentials).await,
            None => Ok(start_server(cluster, address, Arc::new(config)).await?),
        }
    }
}

impl Executor {
    /// Run until it or the scheduler is stopped.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Tls`], [`Error::Scheduler`] where none is reached within [`PATIENCE`] or
    /// it refuses, [`Error::Role`] where a port is taken.
    pub async fn run(&self) -> Result<(), Error> {
        address(&self.bind, self.port)?;
        let credentials = self.tls.as_ref().map(Tls::load).transpose()?;
        let HostPort { host, port } = &self.scheduler;
        reach(host, *port, credentials.as_ref(), Duration::from_secs(PATIENCE)).await?;
        // Kept until the executor ends: dropping it removes the folder.
        let temporary;
        let folder = match &self.folder {
            Some(folder) => folder.as_path(),
            None => {
                temporary = tempfile::tempdir()
                    .map_err(|source| AdapterError::write(std::env::temp_dir(), source))?;
                temporary.path()
            }
        };
        let folder = folder.to_string_lossy().into_owned();
        let spill = folder.clone();
        let reader = credentials.clone();
        let config = ExecutorProcessConfig {
            bind_host: self.bind.clone(),
            external_host: self.host.clone(),
            port: self.port,
            grpc_port: self.control_port,
            scheduler_host: host.clone(),
            scheduler_port: *port,
            scheduler_connect_timeout_seconds: PATIENCE as u16,
            task_scheduling_policy: policy(self.tls.as_ref()),
            override_create_grpc_client_endpoint: Some(endpoints(credentials.as_ref())),
            override_arrow_flight_service: credentials.map(row_server),
            // For rows of other executors.
            override_config_producer: Some(Arc::new(move || {
                connected(default_config_producer(), reader.as_ref())
            })),
            vcores: self.threads.map_or(0, usize::from),
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
