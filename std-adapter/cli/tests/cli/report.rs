//! The page of a fit: well-formed, inert, and with the numbers of the fit.

use crate::command::{Folder, PROGRAM, Run, number};
use crate::sample::{Noise, Sample};
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;
use std::path::Path;

/// Elements of a page and of a picture; none of them runs or loads anything.
const ELEMENTS: &str = "html head meta title style body main footer section h1 h2 h3 p pre code ul li dl div dt dd figure \
    figcaption span br table caption thead tbody tr th td wbr svg g rect line text circle polygon polyline path";

/// Attributes of them.
const ATTRIBUTES: &str = "lang charset name content http-equiv id class style tabindex role scope aria-label aria-labelledby \
    viewBox width height x y x1 y1 x2 y2 dx dy cx cy r d points fill stroke stroke-width opacity text-anchor font-family \
    font-size font-style font-weight transform";

/// Parse a page or a picture, and return what is wrong with it: markup that is not well-formed or not the
/// program's own, or characters that a browser would obey.
pub(crate) fn well_formed(text: &str) -> Result<(), String> {
    let text = closed(text);
    let document = parsed(&text)?;
    for node in document.descendants().filter(Node::is_element) {
        let element = node.tag_name().name();
        if !ELEMENTS.split_whitespace().any(|known| known == element) {
            return Err(format!("an element {element}"));
        }
        let mut attributes = node.attributes().map(|attribute| attribute.name());
        let is_new = |name: &&str| !ATTRIBUTES.split_whitespace().any(|known| known == *name);
        if let Some(attribute) = attributes.find(is_new) {
            return Err(format!("an attribute {attribute}"));
        }
    }
    let is_obeyed = |c: char| {
        let turns = matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        turns || (c.is_control() && c != '\n')
    };
    text.chars().find(|&c| is_obeyed(c)).map_or(Ok(()), |c| Err(format!("the character {c:?}")))
}

/// Close the elements that HTML leaves open.
fn closed(text: &str) -> String {
    let (mut closed, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("<meta ") {
        let (tag, after) = after.split_once('>').unwrap();
        closed += &format!("{before}<meta {tag}/>");
        rest = after;
    }
    (closed + rest).replace("<br>", "<br/>").replace("<wbr>", "<wbr/>")
}

fn parsed(text: &str) -> Result<Document<'_>, String> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| error.to_string())
}

fn texts(node: Node<'_, '_>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|text| text.text()).collect()
}

/// Fit with a page, check its structure, and return its text, its headings and what the program printed.
fn page(folder: &Folder, arguments: &str) -> (String, Vec<String>, Value) {
    let run = folder.run(&format!("fit {arguments} --model m.dpp --report m.html --json")).good();
    let page = folder.text("m.html");
    assert_eq!(well_formed(&page), Ok(()), "{arguments}");
    assert!(!page.contains("NaN") && !page.contains(">inf<"), "{arguments}");
    let page = closed(&page);
    let document = parsed(&page).unwrap();
    let named = |name: &'static str| document.descendants().filter(move |node| node.has_tag_name(name));
    assert_eq!(document.root_element().attribute("lang"), Some("en"));
    assert_eq!((named("h1").count(), named("main").count()), (1, 1));
    for picture in named("svg") {
        let label = picture.attribute("aria-label").unwrap();
        assert!(label.len() > 20 && picture.attribute("role") == Some("img"), "{arguments}: {label}");
        assert_eq!(texts(picture.first_element_child().unwrap()), label);
    }
    for table in named("table") {
        let is_head = |node: Node<'_, '_>| node.has_tag_name("th") && node.attribute("scope").is_some();
        assert!(table.first_element_child().unwrap().has_tag_name("caption"));
        let mut rows = table.descendants().filter(|node| node.has_tag_name("tr"));
        assert!(rows.all(|row| row.descendants().any(is_head)), "{arguments}");
    }
    let json = run.json();
    assert_eq!(json["report"], "m.html");
    (texts(document.root_element()), named("h2").map(texts).collect(), json)
}

/// Return what follows a name in the text of a page.
fn after<'t>(text: &'t str, name: &str) -> &'t str {
    text.split_once(name).unwrap_or_else(|| panic!("{name}: {text}")).1
}

fn classes(rows: usize) -> String {
    let mut noise = Noise(5);
    let mut text = "a,b,where,kind\n".to_owned();
    for row in 0..rows {
        let (class, place) = (row % 3, ["wood", "shore"][usize::from(row % 3 == 2 && row % 5 > 0)]);
        let [a, b] = [class as f64 + 0.6 * noise.normal(), noise.normal()];
        text += &format!("{a},{b},{place},k{class}\n");
    }
    text
}

#[test]
fn a_page_has_the_errors_of_the_fit() {
    let folder = Folder::with("a.csv", Sample::new(500, 3).csv());
    let (text, headings, json) = page(&folder, "a.csv --landmarks 20 --metric one --seed 3");
    let expected = [
        "What was fitted",
        "Predictions of y",
        "Features",
        "Landmarks",
        "Novelty",
        "Choice of the ridge",
        "Warnings and notes",
        "How this page was made",
    ];
    assert_eq!(headings, expected);
    let error = format!("{:.3}", number(&json["test"], "nrmse"));
    assert!(after(&text, "error in standard deviations").starts_with(&error), "{error}: {text}");
    let parts =
        ["a.csv", "500 x 3", "gaussian", "seed3", "dpp-nystrom fit a.csv", "target: column \"y\"", "m.dpp"];
    parts.into_iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
    let first = json["landmarks"][0].as_u64().unwrap();
    assert!(after(&text, "rows counted from 0").contains(&first.to_string()));

    let (text, headings, json) = page(&folder, "a.csv --landmarks 20 --metric scales");
    assert_eq!((headings[2].as_str(), &json["metric"]), ("Features", &Value::from("scales")));
    assert!(after(&text, "Importances of the columns").matches(" %").count() >= 6, "{text}");
    let worst = after(after(&text, "Rows with the largest errors"), "distance to it");
    assert!(worst.contains("Features") && text.contains("Partial dependence"), "{text}");
    assert!(
        text.contains("Inverse length-scales of the metric") && text.contains("no choice has seen"),
        "{text}"
    );
}

#[test]
fn classes_and_several_targets_have_pages() {
    let folder = Folder::with("c.csv", classes(300));
    for metric in ["one", "scales"] {
        let (text, headings, json) = page(&folder, &format!("c.csv --landmarks 20 --metric {metric}"));
        assert!(headings.contains(&"Confusion".to_owned()), "{headings:?}");
        let accuracy = format!("{:.0} %", 100.0 * number(&json["classes"], "accuracy"));
        assert!(after(&text, "accuracy").starts_with(&accuracy), "{metric}: {text}");
        let sum = |counts: &Value| counts.as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>();
        let confusion = json["classes"]["confusion"].as_array().unwrap();
        assert!(
            after(after(&text, "Each class"), "k1").split_once('%').is_some_and(|(recall, rest)| {
                let share = confusion[1][1].as_f64().unwrap() / sum(&confusion[1]) as f64;
                recall.trim().parse() == Ok((100.0 * share).round())
                    && rest.contains(&sum(&confusion[1]).to_string())
            }),
            "{metric}: {text}"
        );
        // Of words a table, of numbers a curve.
        assert!(
            text.contains("where: mean probability")
                && text.contains("Curve: the mean probability over a: k0 from"),
            "{text}"
        );
        // The rows whose probabilities are shown are those of the confusion.
        let rows: u64 = confusion.iter().map(sum).sum();
        assert!(text.contains(&format!("of {rows} rows in")), "{metric} {rows}: {text}");
    }
    folder.write("s.csv", Sample::new(400, 8).csv());
    let (text, headings, _) = page(&folder, "s.csv --target c,d,e,f,g,h --landmarks 10 --metric one");
    let own = headings.iter().filter(|heading| heading.starts_with("Predictions of")).count();
    assert!(own == 4 && headings.contains(&"Targets".to_owned()), "{headings:?}");
    assert!(text.contains("The other 2 targets"), "{text}");
}

#[test]
fn every_kind_of_fit_has_a_page() {
    let folder = Folder::with("a.csv", Sample::new(300, 3).csv());
    folder.run("convert a.csv --out a.rows").good();
    folder.write("few.csv", "a,y\n1,2\n2,3\n3,5\n4,1\n5,2\n");
    for arguments in [
        "a.rows --landmarks 10 --metric one",
        "a.rows --landmarks 10 --precision f32 --rows 200",
        "a.csv --landmarks 10 --metric one --ridge 1e-3",
        "a.csv --landmarks 10 --metric one --ridge loo --rows 150",
        "a.csv --landmarks 2 --metric one --kernel linear --method uniform",
        "a.csv --landmarks 1 --metric one --method uniform",
        "a.csv --landmarks 8 --method kmeans --metric one",
        "a.csv --landmarks 8 --free-landmarks --metric scales",
        "a.csv --flash 2KiB",
        "a.csv --tolerance 0.2 --metric one --precision f32",
        "a.csv --group a --landmarks 10 --metric one",
        "a.csv --time --landmarks 10 --metric one",
        "few.csv --landmarks 2 --metric one",
    ] {
        let (_, headings, _) = page(&folder, arguments);
        assert!(headings.len() >= 5, "{arguments}: {headings:?}");
    }
}

#[test]
fn a_page_changes_nothing_and_overwrites_nothing() {
    let folder = Folder::with("a.csv", Sample::new(300, 2).csv());
    let fit = "fit a.csv --landmarks 10 --metric one";
    folder.run(&format!("{fit} --model one.dpp")).good();
    let told = folder.run(&format!("{fit} --model two.dpp --report a.html")).good();
    assert!(folder.bytes("one.dpp") == folder.bytes("two.dpp"));
    assert!(told.out.contains("test error"), "{}", told.out);
    folder.run(&format!("{fit} --model m.dpp --report m.dpp")).refused(&["two outputs", "m.dpp"]);
    folder.run(&format!("{fit} --model m.dpp --report a.csv")).refused(&["a.csv", "overwrite an input"]);
    folder.run(&format!("{fit} --model m.dpp --report none/a.html")).refused(&["none/a.html"]);
    assert_eq!(folder.names(), ["a.csv", "a.html", "one.dpp", "two.dpp"]);
}

/// The command on the page fits the same model again, whatever the file is called.
#[test]
fn the_command_on_the_page_repeats_the_fit() {
    let (folder, name) = (Folder::new(), "it's \u{202e}a\n<b>\\.csv");
    folder.write(name, Sample::new(200, 2).csv());
    let options = ["--landmarks", "10", "--metric", "one", "--model", "m.dpp", "--report", "m.html"];
    Run::of(&folder.command(&[&["fit", name], &options[..]].concat()).output().unwrap()).good();
    let text = closed(&folder.text("m.html"));
    let document = parsed(&text).unwrap();
    let command = texts(document.descendants().find(|node| node.has_tag_name("code")).unwrap());
    let model = folder.bytes("m.dpp");
    std::fs::remove_file(folder.path("m.dpp")).unwrap();
    let command = command.replacen("dpp-nystrom", PROGRAM, 1);
    let mut bash = folder.program(Path::new("bash"), &["-c", &command]);
    Run::of(&bash.env("LC_ALL", "C.UTF-8").output().unwrap()).good();
    assert!(folder.bytes("m.dpp") == model);
}
