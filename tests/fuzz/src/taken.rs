//! Tables that are taken as they are: every column is a feature or is said to be left out, the target stays,
//! and the recipe reads the file alike, also after it was in a model's file.

use crate::adapter_seeds::plain_model;
use crate::input::{Input, bits, written};
use crate::table::{consistent, rows};
use dpp_nystrom::data::Scaler;
use dpp_nystrom::data::table::{Labels, Limits, Missing, Options, Recipe, Target, Unknown};
use dpp_nystrom::model::{AnyCoefficients, Coefficients};
use dpp_nystrom::{Error, Model};

fn options(input: &mut Input<'_>) -> Options {
    let mut options = Options { as_it_is: true, missing: Missing::Indicator, ..Options::default() };
    options.labels = [Labels::Words, Labels::None, Labels::All][input.below(3)];
    options.unknown = [Unknown::Zero, Unknown::Error][input.below(2)];
    options.missing = [Missing::Indicator, Missing::Mean, Missing::Drop, Missing::Error][input.below(4)];
    options.target = [Target::Last, Target::Index(0), Target::None][input.below(3)].clone();
    options.day_first = [None, Some(true), Some(false)][input.below(3)];
    options.keep =
        [Vec::new(), vec!["c0".to_owned()], vec!["c1".to_owned(), "c2".to_owned()]][input.below(3)].clone();
    if input.flag() {
        options.limits = Limits { levels: 4, classes: 3, ..options.limits };
    }
    options
}

/// Return a field of a column of this kind.
fn field(kind: u8, row: usize, value: u8) -> String {
    let small = u32::from(value % 4);
    match kind % 12 {
        0 => format!("{}", f64::from(value) / 8.0 - 3.0),
        1 => format!("{row}"),
        2 => format!("id{row}x{value}"),
        3 => String::new(),
        4 => "same".to_owned(),
        5 => format!("w{small}"),
        6 if value < 64 => String::new(),
        6 | 7 => format!("20{:02}-{:02}-{:02}", 10 + value % 3, 1 + value % 12, 1 + value / 12),
        8 => format!("{}/{}/2014", 1 + value % 12, 1 + value / 12),
        9 => format!("\"{},{:03}\"", 1 + value / 2, u16::from(value) * 3),
        10 => format!("{value}%"),
        _ if small == 0 => "5more".to_owned(),
        _ => small.to_string(),
    }
}

/// Return a table of columns of these kinds, with values from the input.
fn table(input: &mut Input<'_>, columns: usize) -> String {
    let kinds: Vec<u8> = (0..columns).map(|_| input.byte()).collect();
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..40 {
        if row > 1 && input.is_empty() {
            break;
        }
        let fields: Vec<String> = kinds.iter().map(|&kind| field(kind, row, input.byte())).collect();
        text.push_str(&(fields.join(",") + "\n"));
    }
    text
}

/// Return the recipe that a model's file has for it.
fn through_a_model(recipe: &Recipe, target: &str) -> Result<Recipe, Error> {
    let plain = plain_model();
    let names = recipe.feature_names();
    let dim = names.len();
    let numbers = Coefficients { landmarks: vec![0.0; dim], weights: vec![1.0] };
    let model = Model {
        scaler: Scaler { means: vec![0.0; dim], deviations: vec![1.0; dim], ..plain.scaler.clone() },
        feature_names: names,
        target_name: target.to_owned(),
        coefficients: AnyCoefficients::F64(numbers),
        landmark_rows: vec![0],
        recipe: Some(recipe.clone()),
        confidence: None,
        ..plain
    };
    let read = Model::from_bytes(&model.to_bytes()?)?;
    Ok(read.recipe.expect("a recipe"))
}

/// Any text; or a table of columns that ask for a decision.
pub(crate) fn target(data: &[u8]) {
    let mut input = Input::new(data);
    let options = options(&mut input);
    let made = input.flag();
    let columns = 1 + input.below(6);
    let text = if made { table(&mut input, columns).into_bytes() } else { input.rest().to_vec() };
    let path = written("taken.csv", &text);
    let read = match options.read(&path) {
        Ok(read) => read,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    consistent(&read);
    let recipe = &read.recipe;
    assert!(recipe.as_it_is);
    // The target is never left out, and none that is to be kept.
    let left_out = || recipe.taken.iter().filter(|taken| taken.how.is_left_out()).map(|taken| &taken.column);
    for column in left_out() {
        assert!(!options.keep.contains(column), "{column:?} was to be kept");
        assert_ne!(Some(column), read.table.target_name.as_ref(), "the target was left out");
        assert!(recipe.ignored.contains(column), "{column:?} is left out, and is not");
    }
    if made {
        // Every column is the target, a feature, or said to be left out.
        let features = recipe.columns.len() + left_out().count() + usize::from(read.table.target.is_some());
        assert_eq!(features, columns, "{:?}", recipe.taken);
        assert_eq!(read.table.target.is_some(), options.target != Target::None);
    }
    // The file reads alike by the recipe, in blocks too, and by that of a model's file.
    if !read.remarks.dropped.is_empty() {
        return;
    }
    let plain = Options { as_it_is: false, keep: Vec::new(), ..options.clone() };
    let again = |recipe: &Recipe| plain.read_for(recipe, &path).map_err(|error| error.to_string());
    let found = again(recipe).map(|again| bits(&again.table.features));
    assert_eq!(found, Ok(rows(&read).0), "{recipe:?}");
    let mut features = Vec::new();
    plain
        .read_blocks_for(recipe, &path, |block| {
            features.extend(block.table.features);
            Ok::<(), Error>(())
        })
        .expect("a file that is read whole is read in blocks");
    assert_eq!(bits(&features), rows(&read).0);
    if let Some(target) = &read.table.target_name {
        let kept = through_a_model(recipe, target).map_err(|error| error.to_string());
        let mut kept = kept.expect("a model that is written is read");
        // A model has the classes apart.
        kept.classes.clone_from(&recipe.classes);
        assert_eq!((&kept.columns, &kept.taken), (&recipe.columns, &recipe.taken));
        assert_eq!(again(&kept).map(|again| bits(&again.table.features)), found);
    }
}
