//! Generated rows, the same on every machine.

/// Rows of features, and a target that depends on them.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) names: Vec<String>,
    pub(crate) features: Vec<Vec<f64>>,
    pub(crate) target: Vec<f64>,
}

/// Pseudorandom numbers: SplitMix64.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Return a uniform variate in [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Return an approximately normal variate with mean 0 and variance 1.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

impl Sample {
    /// Generate features `a`, `b`, ... of different means and standard deviations, and the target `y`.
    pub(crate) fn new(rows: usize, dim: usize) -> Self {
        let mut noise = Noise(rows as u64 * 31 + dim as u64);
        let names = ('a'..).take(dim).map(String::from).collect();
        let features: Vec<Vec<f64>> = (0..rows)
            .map(|_| (0..dim).map(|column| column as f64 + (column + 1) as f64 * noise.normal()).collect())
            .collect();
        let target = features
            .iter()
            .map(|row| 5.0 + row[0].sin() + 0.3 * row.iter().product::<f64>().tanh() + 0.1 * noise.normal())
            .collect();
        Self { names, features, target }
    }

    /// Format the features and the target as CSV.
    pub(crate) fn csv(&self) -> String {
        let mut text = self.names.join(",") + ",y\n";
        for (row, target) in self.features.iter().zip(&self.target) {
            for value in row {
                text += &format!("{value},");
            }
            text += &format!("{target}\n");
        }
        text
    }

    /// Format the features alone as CSV.
    pub(crate) fn features_csv(&self) -> String {
        let mut text = self.names.join(",") + "\n";
        for row in &self.features {
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            text += &format!("{}\n", cells.join(","));
        }
        text
    }

    /// Format the features as NPY, optionally with the target as last column.
    pub(crate) fn npy(&self, with_target: bool) -> Vec<u8> {
        let mut rows = self.features.clone();
        if with_target {
            rows.iter_mut().zip(&self.target).for_each(|(row, &target)| row.push(target));
        }
        let data: Vec<u8> = rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        npy(&format!("({}, {})", rows.len(), rows[0].len()), &data)
    }
}

/// Build an NPY file of doubles of this shape.
pub(crate) fn npy(shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).expect("a short header").to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), header.as_bytes(), data].concat()
}

/// Format a column of row indices.
pub(crate) fn row_list(rows: &[usize]) -> String {
    rows.iter().fold("row\n".to_owned(), |text, row| text + &format!("{row}\n"))
}
