//! The servers of a cluster with mutual TLS: the scheduler's, and that of an executor for rows.
//!
//! They hold Ballista's own services. An executor has no server for commands then: Ballista builds that one
//! itself, without TLS. Executors ask the scheduler for tasks instead (pull scheduling), over connections
//! that they open.

use crate::error::Error;
use crate::session::MESSAGE;
use crate::tls::Credentials;
use arrow_flight::flight_service_server::FlightServiceServer;
use axum::extract::ConnectInfo;
use axum::http::StatusCode;
use axum::routing::get;
use ballista_core::error::BallistaError;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_core::utils::{GrpcServerConfig, create_grpc_server, create_grpc_server_incoming};
use ballista_executor::ArrowFlightServerProvider;
use ballista_executor::flight_service::BallistaFlightService;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::create_scheduler;
use ballista_scheduler::scheduler_server::SchedulerServer;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::net::SocketAddr;
use std::sync::Arc;
use tonic::codegen::InterceptedService;
use tonic::service::{AxumRouter, Routes};
use tonic::transport::Server;
use tonic::{Request, Status};

type Planner = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// Serve the scheduler at an address until it is stopped.
///
/// # Errors
/// [`Error::Role`] where the port is taken.
pub(crate) async fn serve_scheduler(
    cluster: BallistaCluster,
    address: SocketAddr,
    config: SchedulerConfig,
    credentials: &Credentials,
) -> Result<(), Error> {
    config.validate()?;
    let incoming = create_grpc_server_incoming(address, &GrpcServerConfig::default())?;
    let scheduler: Planner = create_scheduler(cluster, Arc::new(config)).await?;
    let service = SchedulerGrpcServer::new(scheduler.clone())
        .max_decoding_message_size(MESSAGE)
        .max_encoding_message_size(MESSAGE);
    let routes =
        Routes::new(InterceptedService::new(service, peer)).into_axum_router().merge(health(scheduler));
    let server = credentials.server(Server::builder()).map_err(BallistaError::TonicError)?;
    let served =
        server.accept_http1(true).add_routes(Routes::from(routes)).serve_with_incoming(incoming).await;
    Ok(served.map_err(BallistaError::TonicError)?)
}

/// Tell the service the address of its peer in the way that it reads it: an executor without `--host` is
/// reached there.
fn peer(mut request: Request<()>) -> Result<Request<()>, Status> {
    let address = request.remote_addr().ok_or_else(|| Status::internal("a connection without an address"))?;
    request.extensions_mut().insert(ConnectInfo(address));
    Ok(request)
}

/// Whether the scheduler runs, and has its executors.
fn health(scheduler: Planner) -> AxumRouter {
    let ready = move || {
        let is_ready = scheduler.is_ready();
        async move {
            match is_ready {
                true => (StatusCode::OK, "ready\n"),
                false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
            }
        }
    };
    AxumRouter::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(ready))
}

/// Return what serves an executor's rows.
pub(crate) fn row_server(credentials: Credentials) -> Arc<ArrowFlightServerProvider> {
    Arc::new(move |folder, address, mut shutdown, config| {
        let credentials = credentials.clone();
        tokio::spawn(async move {
            let incoming = create_grpc_server_incoming(address, &config)?;
            let service = FlightServiceServer::new(BallistaFlightService::new(folder))
                .max_decoding_message_size(MESSAGE)
                .max_encoding_message_size(MESSAGE);
            let mut server =
                credentials.server(create_grpc_server(&config)).map_err(BallistaError::TonicError)?;
            let served =
                server.add_service(service).serve_with_incoming_shutdown(incoming, shutdown.recv()).await;
            served.map_err(BallistaError::TonicError)
        })
    })
}
