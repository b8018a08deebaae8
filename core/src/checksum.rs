//! CRC-32 of ISO 3309 and zlib: polynomial `0xEDB88320`, reflected, inverted before and after.

/// The remainders of four bits. This table takes 64 bytes of flash; one of whole bytes takes 1,024, and
/// without a table the check of a model takes about three times as long.
const REMAINDERS: [u32; 16] = remainders();

const fn remainders() -> [u32; 16] {
    let mut table = [0; 16];
    let mut i = 0;
    while i < table.len() {
        let mut remainder = i as u32;
        let mut bit = 0;
        while bit < 4 {
            remainder = if remainder & 1 == 1 { (remainder >> 1) ^ 0xEDB8_8320 } else { remainder >> 1 };
            bit += 1;
        }
        table[i] = remainder;
        i += 1;
    }
    table
}

/// Return the CRC-32 of `bytes`.
pub(crate) const fn crc32(mut bytes: &[u8]) -> u32 {
    let mut crc = !0;
    while let [byte, rest @ ..] = bytes {
        crc = add(crc, *byte);
        bytes = rest;
    }
    !crc
}

#[inline(always)]
const fn add(crc: u32, byte: u8) -> u32 {
    shift(shift(crc ^ byte as u32))
}

/// Shift four bits out.
#[inline(always)]
const fn shift(crc: u32) -> u32 {
    (crc >> 4) ^ REMAINDERS[(crc & 15) as usize]
}

/// The CRC-32 of bytes that come one at a time.
#[cfg(feature = "embedded-storage")]
pub(crate) struct Crc32 {
    crc: u32,
}

#[cfg(feature = "embedded-storage")]
impl Crc32 {
    pub(crate) fn new() -> Self {
        Self { crc: !0 }
    }

    pub(crate) fn update(&mut self, byte: u8) {
        self.crc = add(self.crc, byte);
    }

    pub(crate) fn finish(self) -> u32 {
        !self.crc
    }
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn the_check_value_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(&[0]), 0xD202_EF8D);
    }
}
