//! The encoding of a text, which readers take as UTF-8.
//!
//! | text | taken for |
//! | --- | --- |
//! | a byte order mark | what it says |
//! | zeros in every other byte | UTF-16 of that byte order |
//! | the first byte that is not ASCII does not begin UTF-8, and no other does | Windows-1252, of which Latin-1 is a part |
//! | anything else | UTF-8, as it is: readers refuse a line that is none |
//!
//! A NUL in the text is an error.

use crate::error::table::TableProblem;
use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Large enough that call overhead does not matter.
pub(crate) const BUFFER: usize = 1 << 17;

/// Bytes by which it is decided whether a text that is not ASCII is UTF-8.
const SAMPLE: usize = 1 << 16;

/// Why a text cannot be read, and the line, counted from 1.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(crate) enum Undecodable {
    #[error("a NUL")]
    Nul(u64),
    #[error("not {0}")]
    Not(&'static str, u64),
}

impl From<Undecodable> for TableProblem {
    fn from(problem: Undecodable) -> Self {
        match problem {
            Undecodable::Nul(line) => Self::Nul { line },
            Undecodable::Not(encoding, line) => Self::Encoding { encoding, line },
        }
    }
}

/// How bytes become UTF-8.
enum Form {
    /// As they are: all were ASCII so far.
    Ascii,
    /// As they are.
    Utf8,
    Decoded(&'static Encoding, Box<Decoder>),
}

/// Passes text on as UTF-8, without a byte order mark.
pub(crate) struct Text<R> {
    input: R,
    form: Form,
    raw: Vec<u8>,
    text: Vec<u8>,
    /// Bytes of the text that were passed on.
    passed: usize,
    /// Line ends passed on.
    lines: u64,
    found: Rc<Cell<Option<&'static str>>>,
}

/// Return the byte order of UTF-16 without a mark: in a table most characters are ASCII.
fn utf_16(head: &[u8]) -> Option<&'static Encoding> {
    let zeros = |at: usize| head.chunks_exact(2).filter(|pair| pair[at] == 0).count();
    let (first, second, few) = (zeros(0), zeros(1), head.len() / 8);
    match (first > few && second <= first / 10, second > few && first <= second / 10) {
        (true, _) => Some(UTF_16BE),
        (_, true) => Some(UTF_16LE),
        _ => None,
    }
}

impl<R: Read> Text<R> {
    /// Create a reader of a text that begins with `head`. `found` becomes the encoding, if it is not UTF-8.
    pub(crate) fn new(head: &[u8], input: R, found: Rc<Cell<Option<&'static str>>>) -> Self {
        let encoding = Encoding::for_bom(head).map(|(encoding, _)| encoding).or_else(|| utf_16(head));
        let mut text =
            Self { input, form: Form::Ascii, raw: Vec::new(), text: Vec::new(), passed: 0, lines: 0, found };
        if let Some(encoding) = encoding {
            text.decode_as(encoding);
        }
        text
    }

    fn decode_as(&mut self, encoding: &'static Encoding) {
        self.found.set(Some(encoding.name()).filter(|_| encoding != UTF_8));
        self.form = Form::Decoded(encoding, Box::new(encoding.new_decoder_with_bom_removal()));
    }

    /// Read more bytes; false at the end.
    fn more(&mut self) -> io::Result<bool> {
        let begin = self.raw.len();
        self.raw.resize(begin + BUFFER, 0);
        let read = loop {
            match self.input.read(&mut self.raw[begin..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.raw.truncate(begin + read.as_ref().map_or(0, |read| *read));
        Ok(read? > 0)
    }

    /// Replace the text by the next part, which may be empty; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.raw.clear();
        let mut more = self.more()?;
        if let Form::Ascii = self.form {
            let ascii = Encoding::ascii_valid_up_to(&self.raw);
            if ascii < self.raw.len() {
                while more && self.raw.len() < ascii + SAMPLE {
                    more = self.more()?;
                }
                if is_windows_1252(&self.raw[ascii..]) {
                    self.decode_as(WINDOWS_1252);
                } else {
                    self.form = Form::Utf8;
                }
            }
        }
        self.passed = 0;
        match &mut self.form {
            Form::Ascii | Form::Utf8 => std::mem::swap(&mut self.raw, &mut self.text),
            Form::Decoded(encoding, decoder) => {
                let usual = *encoding != WINDOWS_1252 || is_windows_1252(&self.raw);
                let decoded = usual && decode(decoder, &self.raw, !more, &mut self.text);
                if !decoded {
                    let line = self.lines + 1 + ends(&self.text);
                    return Err(io::Error::other(Undecodable::Not(encoding.name(), line)));
                }
                if !more {
                    // A decoder has one end.
                    self.form = Form::Utf8;
                }
            }
        }
        if let Some(at) = self.text.iter().position(|&byte| byte == 0) {
            let line = self.lines + 1 + ends(&self.text[..at]);
            return Err(io::Error::other(Undecodable::Nul(line)));
        }
        self.lines += ends(&self.text);
        Ok(more)
    }
}

fn ends(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Whether bytes that are not all ASCII are Windows-1252: no sequence of them is UTF-8, and each stands for a
/// character.
fn is_windows_1252(bytes: &[u8]) -> bool {
    const UNUSED: [u8; 5] = [0x81, 0x8D, 0x8F, 0x90, 0x9D];
    bytes.utf8_chunks().all(|chunk| chunk.valid().is_ascii())
        && !bytes.iter().any(|byte| UNUSED.contains(byte))
}

/// Decode bytes; false if they are malformed, and then as far as they are not.
fn decode(decoder: &mut Decoder, mut bytes: &[u8], last: bool, text: &mut Vec<u8>) -> bool {
    text.clear();
    loop {
        let begin = text.len();
        text.resize(begin + BUFFER, 0);
        let (result, read, written) =
            decoder.decode_to_utf8_without_replacement(bytes, &mut text[begin..], last);
        text.truncate(begin + written);
        bytes = &bytes[read..];
        match result {
            DecoderResult::InputEmpty => return true,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => return false,
        }
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.passed == self.text.len() {
            // One byte of UTF-16 is not a character yet.
            if !self.fill()? && self.text.is_empty() {
                return Ok(0);
            }
        }
        let read = (&self.text[self.passed..]).read(buffer)?;
        self.passed += read;
        Ok(read)
    }
}
