//! Tests of the program and its library: in one process, and as a cluster of processes on this machine.

mod command;
mod engines;
mod errors;
mod lost;
mod nodes;
mod proxy;
mod remote;
mod rows;
mod s3;
mod scheduler;
mod tls;
