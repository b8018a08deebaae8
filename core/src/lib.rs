//! Landmark selection for kernel methods: one implementation for microcontrollers and servers.
//!
//! The Nyström method approximates the kernel matrix of `n` points from `c` landmarks, and its error depends
//! on their choice. A c-DPP selects diverse landmarks, `Pr(C) ∝ det K_CC`. A Markov chain of single swaps
//! samples it and reads only a few kernel entries a step: C. Li, S. Jegelka and S. Sra, *Fast DPP Sampling
//! for Nyström with Application to Kernel Methods*, ICML 2016. This crate implements that paper without an
//! allocator: every algorithm works on slices that the caller lends, from an array ([`Workspace`]) or from
//! the heap, in `f32` or `f64`. All four combinations run the same code.
//!
//! | step | where |
//! | --- | --- |
//! | points and a kernel, or a given matrix | [`GroundSet`], [`Points`], [`Matrix`], [`kernel`] |
//! | rows that may fail to be read | [`TryGroundSet`] |
//! | rows with a quality, or excluded | [`WithQuality`] |
//! | Cholesky factor of `K_YY`, and its members | [`Cholesky`], [`Landmarks`] |
//! | initial landmarks | [`start`] |
//! | the paper's chain (Algorithm 1) | [`Chain`], [`Rule`] |
//! | open-slot chain: Metropolis-within-Gibbs, same stationary law, faster | [`SlotChain`] |
//! | landmarks that must remain | [`SlotChain::keeping`], [`Chain::keeping`] |
//! | chain over a stream that is not stored | [`StreamChain`] |
//! | Nyström features, entries and residuals | [`Nystrom`] |
//! | kernel ridge regression, one row at a time | [`RidgeRegression`], [`Predictor`] |
//! | the state of a regression as bytes, to store, send and merge | [`RidgeRegression::write_state`] |
//! | scaling, selection, learning and prediction in one static | [`Learner`] |
//! | anomalies without a target, at a rate of false alarms that is asked for | [`Detector`] |
//! | a trained model in flash | [`Model`] |
//! | the same in integers, for processors without an FPU | [`QuantisedModel`] |
//! | memory needed, known at compile time | [`bytes()`] |
//!
//! # Example
//!
//! ```
//! use dpp_nystrom_core::{Chain, Landmarks, Points, Random, Rule, Workspace, kernel::Gaussian, start};
//!
//! const ROWS: [f32; 12] = [0.0, 0.1, 0.2, 0.9, 1.0, 1.1, 2.0, 2.1, 3.0, 3.2, 3.3, 5.0];
//!
//! # fn main() -> Result<(), dpp_nystrom_core::Error> {
//! let ground = Points::new(&ROWS, 1, Gaussian::new(0.7)?)?;
//! let mut memory = Workspace::<f32, 4>::new();
//! let mut random = Random::seeded(7);
//! let mut landmarks = Landmarks::new(&ground, memory.lend())?;
//! start::uniform(&mut landmarks, 4, &mut random)?;
//! let mut chain = Chain::new(landmarks, Rule::ALGORITHM_1);
//! chain.run(200, &mut random)?;
//! assert_eq!(chain.landmarks().len(), 4);
//! # Ok(())
//! # }
//! ```
//!
//! # Arithmetic
//!
//! Square roots, exponentials and logarithms are the same code on every target: the crate's own `exp` for
//! `f32` (error below 0.983 units in the last place) and `libm` for the others. The order of every sum is
//! fixed, and multiply-adds are not fused. So a test on a desktop exercises the firmware's arithmetic bit for
//! bit.
//!
//! # Modules
//!
//! A module imports only from those before it in this order:
//!
//! 1. `error`, `scalar`, `checksum`, `frame`, `sections`, `memory`, `random`: basic types;
//! 2. [`kernel`], `ground_set`: the points and the entries of their matrix;
//! 3. `swap`, `cholesky`, `digest`, `landmarks`: the factor of `K_YY` and its members;
//! 4. [`start`], `chain`, `slot`, `slot_chain`, `stream`: selection;
//! 5. `krr`, `nystrom`: the regression, and the approximation it is on;
//! 6. `predictor`, `model`, `quantised`: trained models;
//! 7. `learner`, `detector`, `footprint`, `storage`: all of it in one value, the memory it needs, and keeping
//!    it.
//!
//! # Features
//!
//! All are off by default, and none changes what another computes.
//!
//! - `serde`: save and restore a chain's [`Progress`] and the generator's state.
//! - `defmt`: `defmt::Format` for every public type and error whose parameters have it.
//! - `embedded-storage`: `Slots`, which keep a state in NOR flash over a loss of power.
//! - `hmac`: `sign_state` and `verify_state`, by HMAC-SHA-256.
//! - `micromath`: `Predictor::predict_micromath`, with coarser exponentials.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod chain;
mod checksum;
mod cholesky;
mod detector;
mod digest;
mod error;
mod footprint;
mod frame;
mod ground_set;
pub mod kernel;
mod krr;
mod landmarks;
mod learner;
mod memory;
mod model;
mod nystrom;
mod predictor;
mod quantised;
mod random;
mod scalar;
mod sections;
mod slot;
mod slot_chain;
pub mod start;
#[cfg(feature = "embedded-storage")]
mod storage;
mod stream;
mod swap;

pub use chain::{Chain, ChainState, Progress, Rule, Step};
pub use cholesky::Cholesky;
pub use detector::{Detector, Verdict};
pub use digest::digest;
pub use error::{BytesProblem, Error, Phase, ReadError};
pub use footprint::{Bytes, bytes};
pub use ground_set::{GroundSet, Matrix, Points, TryGroundSet, WithQuality};
pub use krr::{
    FeatureWeights, Origin, RidgeRegression, Solution, Solved, StateHeader, state_bytes,
    state_bytes_forgotten, state_bytes_of,
};
#[cfg(feature = "hmac")]
pub use krr::{sign_state, verify_state};
pub use landmarks::Landmarks;
pub use learner::{Exchange, Learner, Standard, TRIES_PER_LANDMARK};
pub use memory::{EarlierMemory, FactorMemory, Memory, RidgeMemory, RidgeWorkspace, Workspace};
pub use model::{
    Assessment, Assessor, Class, Further, Limits, Model, ModelBytes, Outputs, Parts, Rarity, Scaling,
    Uncertainty,
};
pub use nystrom::Nystrom;
pub use predictor::Predictor;
// For `dpp-nystrom` alone, which writes them into C.
#[doc(hidden)]
pub use quantised::{FALL, POWERS};
pub use quantised::{Level, QuantisedMap, QuantisedModel, QuantisedOutputs, QuantisedParts};
pub use random::Random;
pub use scalar::Scalar;
pub use slot::{Evaluate, OneByOne, OpenSlot, Proposal};
pub use slot_chain::{Scan, SlotChain, TRIES};
#[cfg(feature = "embedded-storage")]
pub use storage::{Slots, StorageError};
pub use stream::{Offer, StreamChain, stream_state_bytes};
pub use swap::{Acceptance, Swap};

/// The examples of `README.md`, which are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
