//! A chain over a stream that stops and goes on, from its memory or from bytes: the same bits as without the
//! stop.

use dpp_nystrom_core::kernel::{Gaussian, Linear};
use dpp_nystrom_core::{
    Acceptance, BytesProblem, Error, Progress, Random, Scalar, StreamChain, Workspace, stream_state_bytes,
};
use dpp_nystrom_tests::ground::normal_points;
use dpp_nystrom_tests::snapshot::{FactorSnapshot, bits};

const C: usize = 6;
const D: usize = 3;
const N: usize = 300;

fn kernel<T: Scalar>() -> Gaussian<T> {
    Gaussian::new(T::from_f64(1.2)).unwrap()
}

/// How the chain stops.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stop {
    Never,
    /// The memory stays.
    InMemory(usize),
    /// Nothing stays but bytes.
    InBytes(usize),
}

fn run<T: Scalar>(stop: Stop, acceptance: Acceptance) -> (Vec<u64>, Vec<usize>, FactorSnapshot, u64) {
    let source: Vec<T> = normal_points(N, D, 3);
    let nan = T::from_f64(f64::NAN);
    let (mut rows, mut memory) = (vec![T::ZERO; C * D], Workspace::<T, C>::new());
    let (mut other_rows, mut other) = (vec![nan; C * D], Workspace::<T, C>::new());
    let mut random = Random::seeded(7);
    let mut chain = StreamChain::new(kernel::<T>(), C, D, &mut rows, memory.lend(), acceptance).unwrap();
    let (at, in_memory) = match stop {
        Stop::Never => (N, false),
        Stop::InMemory(at) => (at, true),
        Stop::InBytes(at) => (at, false),
    };
    for row in source.chunks(D).take(at) {
        chain.offer(row, &mut random).unwrap();
    }
    let (count, progress) = (chain.len(), chain.progress());
    let mut bytes = vec![0; stream_state_bytes::<T>(C, D)];
    let length = chain.write_state(random.state(), &mut bytes).unwrap();
    let mut chain = if in_memory {
        StreamChain::resume(kernel::<T>(), C, D, &mut rows, memory.lend(), acceptance, count, progress)
            .unwrap()
    } else {
        let mut chain =
            StreamChain::new(kernel::<T>(), C, D, &mut other_rows, other.lend(), acceptance).unwrap();
        random = Random::resume(chain.read_state(&bytes[..length]).unwrap());
        chain
    };
    for row in source.chunks(D).skip(at) {
        chain.offer(row, &mut random).unwrap();
    }
    let factor = FactorSnapshot::new(chain.factor());
    (bits(chain.rows()), chain.members().to_vec(), factor, chain.progress().accepted)
}

fn goes_on_bit_for_bit<T: Scalar>() {
    for acceptance in [Acceptance::Metropolis, Acceptance::Barker] {
        let whole = run::<T>(Stop::Never, acceptance);
        assert!(whole.3 > 20);
        for at in (0..N).step_by(7) {
            assert!(run::<T>(Stop::InMemory(at), acceptance) == whole, "{at}");
            assert!(run::<T>(Stop::InBytes(at), acceptance) == whole, "{at}");
        }
    }
}

#[test]
fn a_chain_goes_on_bit_for_bit_in_f32() {
    goes_on_bit_for_bit::<f32>();
}

#[test]
fn a_chain_goes_on_bit_for_bit_in_f64() {
    goes_on_bit_for_bit::<f64>();
}

#[test]
fn damaged_and_foreign_states_are_refused() {
    let rule = Acceptance::Metropolis;
    let source: Vec<f32> = normal_points(40, D, 3);
    let (mut rows, mut memory) = ([0.0; C * D], Workspace::<f32, C>::new());
    let mut chain = StreamChain::new(kernel::<f32>(), C, D, &mut rows, memory.lend(), rule).unwrap();
    let mut random = Random::seeded(7);
    source.chunks(D).for_each(|row| assert!(chain.offer(row, &mut random).is_ok()));
    let mut bytes = [0; stream_state_bytes::<f32>(C, D)];
    let needed = chain.write_state([9; 16], &mut bytes).unwrap();
    assert_eq!(
        (needed, chain.write_state([9; 16], &mut [0; 8])),
        (bytes.len(), Err(Error::Capacity { needed, have: 8 }))
    );
    let (count, progress) = (chain.len(), chain.progress());
    for at in 0..bytes.len() {
        let mut damaged = bytes;
        damaged[at] ^= 0x10;
        assert!(matches!(chain.read_state(&damaged), Err(Error::SavedBytes(_))), "{at}");
    }
    assert_eq!((chain.len(), chain.progress()), (count, progress));
    let foreign = |found: Result<[u8; 16], Error>, expected| assert_eq!(found, Err(expected));
    let malformed = Error::SavedBytes(BytesProblem::Malformed);
    let (mut rows, mut memory) = ([0.0; 7 * D], Workspace::<f32, 7>::new());
    foreign(
        StreamChain::new(kernel(), 7, D, &mut rows, memory.lend(), rule).unwrap().read_state(&bytes),
        malformed,
    );
    foreign(
        StreamChain::new(kernel(), C, 2, &mut rows, memory.lend(), rule).unwrap().read_state(&bytes),
        malformed,
    );
    let barker = Acceptance::Barker;
    foreign(
        StreamChain::new(kernel(), C, D, &mut rows, memory.lend(), barker).unwrap().read_state(&bytes),
        malformed,
    );
    let mut other = StreamChain::new(Linear, C, D, &mut rows, memory.lend(), rule).unwrap();
    foreign(other.read_state(&bytes), Error::ForeignState);
    assert!(other.is_empty());
    // The memory of another kernel.
    let resumed = StreamChain::resume(Linear, C, D, &mut rows, memory.lend(), rule, C, progress);
    assert_eq!(resumed.err(), Some(Error::ForeignState));
    let endless = Progress { steps: u64::MAX, ..progress };
    let resumed = StreamChain::resume(kernel(), C, D, &mut rows, memory.lend(), rule, 0, endless);
    assert_eq!(resumed.err(), Some(Error::ForeignState));
    let (mut rows, mut memory) = ([0.0_f64; C * D], Workspace::<f64, C>::new());
    let mut wide = StreamChain::new(kernel::<f64>(), C, D, &mut rows, memory.lend(), rule).unwrap();
    foreign(wide.read_state(&bytes), Error::SavedBytes(BytesProblem::Precision));
}
