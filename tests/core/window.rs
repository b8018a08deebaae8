//! Rows in the containers of `heapless` are selected from and learned where they lie.

use dpp_nystrom_core::kernel::Gaussian;
use dpp_nystrom_core::{Acceptance, Landmarks, Learner, Points, Random, SlotChain, Workspace, start};
use dpp_nystrom_golden::data::Sensor;
use dpp_nystrom_tests::determinant::determinant;
use heapless::{HistoryBuf, Vec};

/// A full ring of the last 48 of 60 readings, and the same rows in a vector.
fn window() -> (HistoryBuf<[f32; 4], 48>, Vec<[f32; 4], 48>) {
    let mut ring = HistoryBuf::new();
    Sensor::new(3).take(60).for_each(|reading| ring.write(reading.row));
    let rows = ring.oldest_ordered().copied().collect();
    (ring, rows)
}

/// Return the selected rows, and the log-determinant of their kernel matrix.
fn select(rows: &[[f32; 4]]) -> (std::vec::Vec<[f32; 4]>, f32) {
    let points = Points::new(rows.as_flattened(), 4, Gaussian::new(0.5).unwrap()).unwrap();
    let (mut memory, mut random) = (Workspace::<f32, 8>::new(), Random::seeded(7));
    let mut landmarks = Landmarks::new(&points, memory.lend()).unwrap();
    start::uniform(&mut landmarks, 8, &mut random).unwrap();
    let mut chain = SlotChain::new(landmarks, Acceptance::Metropolis);
    chain.run(512, &mut random).unwrap();
    let landmarks = chain.into_landmarks();
    (landmarks.members().iter().map(|&row| rows[row]).collect(), landmarks.log_det())
}

#[test]
fn a_window_is_a_ground_set_where_it_lies() {
    let (ring, rows) = window();
    // The ring begins with its newest rows.
    assert!(ring.as_slice() != rows.as_slice() && ring.as_slice()[12..] == rows[..36]);
    for held in [ring.as_slice(), rows.as_slice()] {
        let (selected, log_det) = select(held);
        assert!(selected.iter().all(|row| rows.contains(row)));
        let square = |x: &[f32; 4], y: &[f32; 4]| {
            x.iter().zip(y).map(|(x, y)| (f64::from(*x) - f64::from(*y)).powi(2)).sum::<f64>()
        };
        let log_det_of = |rows: &[[f32; 4]]| {
            let entries = rows.iter().flat_map(|x| rows.iter().map(move |y| (-2.0 * square(x, y)).exp()));
            determinant(&entries.collect::<std::vec::Vec<f64>>(), 8).ln()
        };
        let expected = log_det_of(&selected);
        assert!((f64::from(log_det) - expected).abs() < 1e-3, "{log_det} {expected}");
        // Far more diverse than the first eight rows.
        assert!(expected > 1.0 + log_det_of(&held[..8]), "{expected} {}", log_det_of(&held[..8]));
    }
}

#[test]
fn a_learner_selects_and_learns_from_a_window() {
    let (ring, rows) = window();
    let learned = |table: &[[f32; 4]]| {
        let mut learner = Learner::<8, 4>::new();
        learner.start(Gaussian::new(6.0).unwrap());
        table.iter().for_each(|row| learner.scale(row, row[0] + row[1]).unwrap());
        learner.freeze_scaling().unwrap();
        assert_eq!(learner.select(table, &mut Random::seeded(7)), Ok(8));
        table.iter().for_each(|row| learner.learn(row, row[0] + row[1]).unwrap());
        let gamma = learner.choose_gamma().unwrap();
        learner.solve(gamma).unwrap();
        rows.iter().map(|row| learner.predict(row).unwrap()).collect::<std::vec::Vec<f32>>()
    };
    let spread = |values: &[f32]| {
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / values.len() as f32).sqrt()
    };
    let targets: std::vec::Vec<f32> = rows.iter().map(|row| row[0] + row[1]).collect();
    for found in [learned(ring.as_slice()), learned(&rows)] {
        let errors: std::vec::Vec<f32> =
            found.iter().zip(&targets).map(|(found, target)| found - target).collect();
        assert!(spread(&errors) < 0.2 * spread(&targets), "{} {}", spread(&errors), spread(&targets));
    }
}
