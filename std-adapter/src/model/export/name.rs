//! Identifiers for exported files.

/// The stem of the identifiers in an exported file: ASCII letters, digits and underscores, beginning with a
/// letter.
///
/// ```
/// use dpp_nystrom::model::export::Name;
///
/// assert_eq!(Name::new("houses").as_str(), "houses");
/// assert_eq!(Name::new("cal.housing-2").as_str(), "cal_housing_2");
/// assert_eq!(Name::new("2nd floor").as_str(), "model_2nd_floor");
/// assert_eq!(Name::new("...").as_str(), "model");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// Return the nearest valid stem: other characters become underscores. Keywords need no special case,
    /// since every identifier in a file is this stem with a suffix, or in capitals.
    pub fn new(wish: &str) -> Self {
        let plain: String = wish
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
            .collect();
        let plain = plain.trim_matches('_');
        Self(match plain.chars().next() {
            None => "model".to_owned(),
            Some(first) if first.is_ascii_digit() => format!("model_{plain}"),
            Some(_) => plain.to_owned(),
        })
    }

    /// Return the stem in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Return the stem in upper case.
    pub fn capitals(&self) -> String {
        self.0.to_ascii_uppercase()
    }
}

/// Sanitise text from a file for a comment: nothing in it ends the comment or the line, or reverses the text.
pub(crate) fn remark(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || c == ' ' || (c.is_ascii_graphic() && !"*\\?".contains(c));
    text.chars().map(|c| if plain(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::{Name, remark};

    #[test]
    fn every_name_is_an_identifier() {
        for wish in ["", "_", "9", "while", "SELF", "a-b", "é", "π r²", "x*/", "__A", "a\nb", "fn main(){}"]
        {
            let name = Name::new(wish);
            let mut letters = name.as_str().chars();
            assert!(letters.next().is_some_and(|first| first.is_ascii_lowercase()), "{name:?}");
            assert!(letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name:?}");
        }
    }

    #[test]
    fn text_cannot_end_a_comment() {
        assert_eq!(remark("a*/b\nc\u{202e}d??/\\ é"), "a_/b_c_d__/_ é");
    }
}
