//! Prints 1,000 readings of the sensor as CSV, to train a model on.

use dpp_nystrom_golden::data::Sensor;
use dpp_nystrom_golden::predict::TRAINED_FROM;

fn main() {
    println!("a,b,c,d,target");
    let mut sensor = Sensor::new(TRAINED_FROM);
    for _ in 0..1_000 {
        let reading = sensor.read();
        let [a, b, c, d] = reading.row;
        println!("{a},{b},{c},{d},{}", reading.target);
    }
}
