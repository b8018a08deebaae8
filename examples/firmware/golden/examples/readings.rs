//! Prints readings of the sensor as CSV, to train a model on: `readings [STATE [COUNT]]`, from the sensor in
//! that state. Without arguments, the 1,000 readings that the model of `predict` was trained on.

use dpp_nystrom_golden::data::Sensor;
use dpp_nystrom_golden::predict::TRAINED_FROM;
use std::num::ParseIntError;

fn main() -> Result<(), ParseIntError> {
    let mut arguments = std::env::args().skip(1);
    let mut sensor = Sensor::new(arguments.next().map_or(Ok(TRAINED_FROM), |state| state.parse())?);
    let count = arguments.next().map_or(Ok(1_000), |count| count.parse())?;
    println!("a,b,c,d,target");
    for _ in 0..count {
        let reading = sensor.read();
        let [a, b, c, d] = reading.row;
        println!("{a},{b},{c},{d},{}", reading.target);
    }
    Ok(())
}
