//! A device of a fleet: it holds a model that was exported as bytes, learns its own readings on the model's
//! landmarks, and sends the learned state, as lines of hexadecimal digits in its log. No reading is stored or
//! sent.
#![no_std]

use defmt::info;
use dpp_nystrom_core::kernel::ChosenKernel;
use dpp_nystrom_core::{
    Error, GroundSet, Landmarks, Memory, Model, Nystrom, Points, RidgeMemory, RidgeRegression,
    RidgeWorkspace, Workspace, include_model, state_bytes,
};
use dpp_nystrom_firmware::{Failure, board, stack};
use dpp_nystrom_golden::data::{Reading, Sensor};
use dpp_nystrom_golden::{DIM, LANDMARKS};
use static_cell::ConstStaticCell;

static MODEL: &[u8] = include_model!(concat!(env!("DPP_NYSTROM_FLEET"), "/model.bin"));

static MEMORY: ConstStaticCell<Workspace<f32, LANDMARKS>> = ConstStaticCell::new(Workspace::new());
static RIDGE: ConstStaticCell<RidgeWorkspace<f32, LANDMARKS>> = ConstStaticCell::new(RidgeWorkspace::new());
static STATE: ConstStaticCell<[u8; ROOM]> = ConstStaticCell::new([0; ROOM]);

const ROOM: usize = state_bytes::<f32>(LANDMARKS);

/// Readings that a device learns.
const READINGS: usize = 500;

/// The state of the sensor before the readings of the first device. Those of the second follow.
const SENSOR: u32 = 1;

/// Bytes of a line of the log.
const LINE: usize = 32;

/// Learn and send as the device of this number.
///
/// # Errors
/// Those of the core, and [`Failure::Wrong`] unless the model is in flash.
pub fn run(device: usize) -> Result<(), Failure> {
    info!("fleet, device {=usize}: {=str}", device, board::NAME);
    let (Some(memory), Some(ridge), Some(state)) = (MEMORY.try_take(), RIDGE.try_take(), STATE.try_take())
    else {
        return Err(Failure::Wrong("the statics are already in use"));
    };
    if !board::is_in_flash(MODEL) {
        return Err(Failure::Wrong("the model is not in flash"));
    }
    let model = Model::from_bytes(MODEL)?;
    let mut sensor = Sensor::new(SENSOR);
    for _ in 0..device * READINGS {
        sensor.read();
    }
    let lent = size_of_val(memory) + size_of_val(ridge) + size_of_val(state);
    let (written, stack) = stack::measured(|| learn(&model, &mut sensor, memory.lend(), ridge.lend(), state));
    let sent = state.get(..written?).unwrap_or(&[]);
    for line in sent.chunks(LINE) {
        info!("state: {=[u8]:02X}", line);
    }
    info!("{=usize} readings in {=usize} bytes", READINGS, sent.len());
    info!("{=usize} bytes for all, {=usize} of stack", lent, stack);
    Ok(())
}

/// Learn the sensor's next [`READINGS`] and write the state. Return its length.
fn learn(
    model: &Model<'_, f32, ChosenKernel<f32>>,
    sensor: &mut Sensor,
    memory: Memory<'_, f32>,
    ridge: RidgeMemory<'_, f32>,
    state: &mut [u8],
) -> Result<usize, Error> {
    let ground = Points::new(model.landmarks(), model.width(), model.kernel())?;
    let mut landmarks = Landmarks::new(&ground, memory)?;
    for landmark in 0..ground.len() {
        match landmarks.push(landmark) {
            // A landmark that depends on those before it is left out by every reader of the model.
            Ok(()) | Err(Error::NotPositive { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let nystrom = Nystrom::new(&landmarks);
    let mut ridge = RidgeRegression::new(nystrom.rank(), ridge)?;
    let (mut room, mut phi) = ([0.0; DIM], [0.0; LANDMARKS]);
    let phi = phi.get_mut(..nystrom.rank()).unwrap_or(&mut []);
    for reading in 0..READINGS {
        let Reading { row, target } = sensor.read();
        let row = model.standardise(&row, &mut room)?;
        ground.column_at(row, landmarks.members(), phi)?;
        nystrom.features_at(reading, phi)?;
        ridge.add(phi, model.standard_target(target))?;
    }
    ridge.write_state(model.digest(landmarks.factor()), state)
}
