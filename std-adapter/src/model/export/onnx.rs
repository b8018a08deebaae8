//! A model as an ONNX graph, for servers and other languages: gaps, scaling, metric, kernel and head.
//!
//! The operators are those of the model's own formulas: a kernel's [`Formula`] is applied to symbols, which
//! write down what is done with them. Distances are sums over differences, a row at a time in a `Scan`, so
//! that none of their digits cancel and the largest array has `N c` numbers or `c d`.

use crate::error::{Error, export::ExportProblem};
use crate::model::export::onnx_format::{
    Attribute, AttributeKind, Element, Entry, File, Graph, Kind, KindOfTensor, Length, Node, OperatorSet,
    Port, Shape, Tensor,
};
use crate::model::export::{bundle::Bundle, bundle::With, name::Name};
use crate::model::{
    classes::Classifier,
    trained::{AnyCoefficients, Model},
};
use dpp_nystrom_core::kernel::{Argument, Formula, Real, Visit};
use prost::Message;
use std::cell::{Cell, RefCell};
use std::ops::{Add, Mul, Neg};

/// The version of the format, and of the operators: those of 2022.
const FORMAT: i64 = 8;
const OPERATORS: i64 = 17;

/// Where features are clipped, in their bounds, they are cut off here: squares of larger numbers overflow.
const FAR: f64 = 1e100;

/// The name of the number of rows.
const ROWS: &str = "N";

impl Model {
    /// Return the model as an ONNX graph in its own precision, with operators of version 17.
    ///
    /// The input `rows` has N rows, at least one, of the model's features after reading, as
    /// [`predict`](Model::predict) takes them, in `f64` or `f32` as the model was fitted. NaN is a gap in a
    /// feature that the model has a value for. The output `predictions` has a column for each target, in its
    /// units; of classes there are `label`, N strings, and `probabilities`, N × classes. Rows that are not
    /// finite give NaN, where `predict` gives an error. Sums have another order than in `predict`, and
    /// predictions differ by rounding: by about 1e-14 standard deviations of the target in `f64`, and 1e-7 to
    /// 1e-4 in `f32`, the more the larger the weights. A call takes the memory of `N c + c d` numbers.
    ///
    /// # Errors
    /// `ErrorKind::Export` for 2 GiB or more, which the format cannot hold.
    ///
    /// ```
    /// use dpp_nystrom::model::export::Name;
    /// use dpp_nystrom::{Dataset, KernelRidge, Nystroem};
    ///
    /// let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    /// let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    /// let data = Dataset::from_rows(&x, 1)?.with_target(&y)?;
    /// let model = KernelRidge::params(&Nystroem::params(8).fit(&data)?).fit(&data)?;
    /// let graph = model.to_onnx(&Name::new("waves"))?; // for onnxruntime.InferenceSession(graph)
    /// assert!(graph.len() > 8 * model.landmarks() * 2);
    /// # Ok::<(), dpp_nystrom::Error>(())
    /// ```
    pub fn to_onnx(&self, name: &Name) -> Result<Vec<u8>, Error> {
        let file = File {
            ir_version: FORMAT,
            producer_name: "dpp-nystrom".to_owned(),
            producer_version: env!("CARGO_PKG_VERSION").to_owned(),
            graph: Some(self.graph(name)?),
            operators: vec![OperatorSet { domain: String::new(), version: OPERATORS }],
            metadata: self.metadata(),
        };
        if i32::try_from(file.encoded_len()).is_err() {
            return Err(ExportProblem::GraphSize.into());
        }
        Ok(file.encode_to_vec())
    }

    fn graph(&self, name: &Name) -> Result<Graph, Error> {
        let element = match &self.coefficients {
            AnyCoefficients::F32(_) => Element::Single,
            AnyCoefficients::F64(_) => Element::Double,
        };
        let builder = Builder::default();
        let scaled = self.scaled(builder.input("rows", element));
        let predictions = self.weighted(self.kernel_values(scaled.cast(element))?);
        let features = length(Some(self.feature_names.len()));
        let about = format!(
            "Rows of the features below, in order, in the units of the table that the model was trained on.\n{}",
            self.lines()
        );
        Ok(Graph {
            name: name.as_str().to_owned(),
            inputs: vec![port("rows", element, &[length(None), features], about)],
            outputs: self.outputs_of(predictions, element),
            nodes: builder.nodes.take(),
            constants: builder.constants.take(),
        })
    }

    /// Fill gaps, standardise and map, in double precision.
    fn scaled<'b>(&self, rows: Value<'b>) -> Value<'b> {
        let (builder, scaler, features) = (rows.builder, &self.scaler, self.feature_names.len());
        let mut rows = rows.cast(Element::Double);
        let gaps = self.recipe().gaps();
        if gaps.iter().any(Option::is_some) {
            let values: Vec<f64> = gaps.iter().map(|gap| gap.unwrap_or(f64::NAN)).collect();
            let values = builder.double(&[features], &values);
            rows = builder.node("Where", &[rows.alone("IsNaN"), values, rows], &[]);
        }
        // A constant feature is 0 after standardisation.
        let divisor = |&deviation: &f64| if deviation > 0.0 { deviation } else { f64::INFINITY };
        let divisors: Vec<f64> = scaler.deviations.iter().map(divisor).collect();
        rows = rows.with("Sub", builder.double(&[features], &scaler.means));
        rows = rows.with("Div", builder.double(&[features], &divisors));
        if let Some(bounds) = &scaler.bounds {
            let divisors: Vec<f64> = bounds.iter().map(divisor).collect();
            let share = rows.with("Div", builder.double(&[features], &divisors));
            // Beyond, a square would overflow.
            let share =
                share.with("Min", builder.double(&[], &[FAR])).with("Max", builder.double(&[], &[-FAR]));
            let root = (share * share + builder.double(&[], &[1.0])).alone("Sqrt");
            rows = share.with("Div", root) * builder.double(&[features], bounds);
        }
        scaler.map.as_ref().map_or(rows, |map| {
            rows.with("MatMul", builder.double(&[features, map.rank], &transposed(&map.values, features)))
        })
    }

    /// Evaluate the kernel between scaled rows and landmarks.
    fn kernel_values<'b>(&self, rows: Value<'b>) -> Result<Value<'b>, Error> {
        let (builder, element) = (rows.builder, rows.element);
        let (count, width) = (self.landmarks(), self.scaler.width());
        let landmarks = self.coefficients.to_f64().landmarks;
        let argument = match self.kernel.kind.about().argument {
            Argument::InnerProduct => {
                let landmarks = transposed(&landmarks, width);
                rows.with("MatMul", builder.numbers(element, &[width, count], &landmarks))
            }
            distance => {
                let landmarks = builder.numbers(element, &[count, width], &landmarks);
                let before = builder.nodes.borrow().len();
                let difference = builder.input("row", element).with("Sub", landmarks);
                let sizes = match distance {
                    Argument::L1Distance => difference.alone("Abs"),
                    _ => difference * difference,
                };
                let features = builder.numbers(Element::Integer, &[1], &[1.0]);
                let sum = builder.node("ReduceSum", &[sizes, features], &[integer("keepdims", 0)]);
                let one = |name: &str, of| port(name, element, &[length(Some(of))], String::new());
                let body = Graph {
                    name: "distances".to_owned(),
                    inputs: vec![one("row", width)],
                    outputs: vec![one(&sum.name(), count)],
                    nodes: builder.nodes.borrow_mut().split_off(before),
                    constants: Vec::new(),
                };
                let kind = AttributeKind::Graph.into();
                let body = Attribute { name: "body".to_owned(), graph: Some(body), kind, integer: None };
                builder.node("Scan", &[rows], &[body, integer("num_scan_inputs", 1)])
            }
        };
        Ok(self.kernel.build::<f64>()?.visit(Symbolic(argument)))
    }

    /// Weigh the kernel's values, in the units of the targets, in double precision.
    fn weighted<'b>(&self, kernel: Value<'b>) -> Value<'b> {
        let (builder, landmarks, outputs) = (kernel.builder, self.landmarks(), self.outputs());
        let mut weights = self.coefficients.to_f64().weights;
        weights.extend(self.further.iter().flat_map(|output| &output.weights));
        let weights = transposed(&weights, landmarks);
        let weights = builder.numbers(kernel.element, &[landmarks, outputs], &weights);
        let deviations: Vec<f64> = self.targets().map(|target| target.deviation).collect();
        let means: Vec<f64> = self.targets().map(|target| target.mean).collect();
        kernel.with("MatMul", weights).cast(Element::Double) * builder.double(&[outputs], &deviations)
            + builder.double(&[outputs], &means)
    }

    fn outputs_of(&self, predictions: Value<'_>, element: Element) -> Vec<Port> {
        let builder = predictions.builder;
        let shape = [length(None), length(Some(self.outputs()))];
        let Some(Classifier { classes, temperature }) = &self.classifier else {
            return vec![predictions.cast(element).publish("predictions", element, &shape)];
        };
        let along = [integer("axis", 1), integer("keepdims", 0)];
        let class = builder.node("ArgMax", &[predictions], &along);
        let label = builder.texts(&classes.labels).with("Gather", class);
        let logits = predictions.with("Div", builder.double(&[], &[*temperature]));
        vec![
            label.publish("label", Element::Text, &shape[..1]),
            logits.alone("Softmax").cast(element).publish("probabilities", element, &shape),
        ]
    }

    /// The features, one a line, with what stands for a gap.
    fn lines(&self) -> String {
        let gaps = self.recipe().gaps();
        let line = |(at, name): (usize, &String)| match gaps.get(at).copied().flatten() {
            Some(value) => format!("{at}  {}, {value} where it is NaN\n", on_one_line(name)),
            None => format!("{at}  {}\n", on_one_line(name)),
        };
        self.feature_names.iter().enumerate().map(line).collect()
    }

    fn metadata(&self) -> Vec<Entry> {
        let outputs = self.each_output();
        let digest = Bundle::of(&outputs, None, With::default()).ok().and_then(|bundle| bundle.digest());
        let names =
            |names: &[String]| names.iter().map(|name| on_one_line(name)).collect::<Vec<_>>().join("\n");
        let targets: Vec<String> = self.targets().map(|target| target.name).collect();
        let entries = [
            ("digest", digest.map(|digest| format!("{digest:08x}"))),
            ("kernel", Some(self.kernel.kind.to_string())),
            ("trained_on", Some(format!("{} rows of {}", self.trained_rows, on_one_line(&self.trained_on)))),
            ("features", Some(names(&self.feature_names))),
            ("targets", self.classifier.is_none().then(|| names(&targets))),
            ("classes", self.classifier.as_ref().map(|classifier| names(&classifier.classes.labels))),
        ];
        let entry = |(key, value): (&str, Option<String>)| Some(Entry { key: key.to_owned(), value: value? });
        entries.into_iter().filter_map(entry).collect()
    }
}

fn on_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Transpose rows of `width` numbers.
fn transposed(rows: &[f64], width: usize) -> Vec<f64> {
    (0..width).flat_map(|column| rows.iter().skip(column).step_by(width.max(1)).copied()).collect()
}

fn length(known: Option<usize>) -> Length {
    Length { known: known.map(|known| known as i64), name: known.is_none().then(|| ROWS.to_owned()) }
}

fn port(name: &str, element: Element, lengths: &[Length], about: String) -> Port {
    let tensor = KindOfTensor { element: element.into(), shape: Some(Shape { lengths: lengths.to_vec() }) };
    Port { name: name.to_owned(), kind: Some(Kind { tensor: Some(tensor) }), about }
}

fn integer(name: &str, value: i64) -> Attribute {
    let kind = AttributeKind::Integer.into();
    Attribute { name: name.to_owned(), integer: Some(value), kind, graph: None }
}

/// A graph in the making. Names are unique, also within the body of a loop.
#[derive(Default)]
struct Builder {
    nodes: RefCell<Vec<Node>>,
    constants: RefCell<Vec<Tensor>>,
    /// Values so far.
    count: Cell<usize>,
}

/// A value of the graph: an input, or with a number the result of an operator or a constant.
#[derive(Clone, Copy)]
struct Value<'b> {
    builder: &'b Builder,
    name: &'static str,
    number: Option<usize>,
    element: Element,
}

impl Builder {
    fn input(&self, name: &'static str, element: Element) -> Value<'_> {
        Value { builder: self, name, number: None, element }
    }

    fn next(&self, name: &'static str, element: Element) -> Value<'_> {
        self.count.set(self.count.get() + 1);
        Value { number: Some(self.count.get()), ..self.input(name, element) }
    }

    /// Apply an operator, whose result has the elements of the last input.
    fn node<'b>(
        &'b self,
        operator: &'static str,
        inputs: &[Value<'b>],
        attributes: &[Attribute],
    ) -> Value<'b> {
        let element = inputs.last().map_or(Element::Undefined, |input| input.element);
        let value = self.next(operator, element);
        self.nodes.borrow_mut().push(Node {
            inputs: inputs.iter().map(|input| input.name()).collect(),
            outputs: vec![value.name()],
            operator: operator.to_owned(),
            attributes: attributes.to_vec(),
        });
        value
    }

    fn constant(&self, shape: &[usize], tensor: Tensor) -> Value<'_> {
        let value = self.next("constant", tensor.element());
        let shape = shape.iter().map(|&length| length as i64).collect();
        self.constants.borrow_mut().push(Tensor { shape, name: value.name(), ..tensor });
        value
    }

    fn numbers(&self, element: Element, shape: &[usize], values: &[f64]) -> Value<'_> {
        let bytes = match element {
            Element::Single => values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect(),
            Element::Integer => values.iter().flat_map(|&value| (value as i64).to_le_bytes()).collect(),
            _ => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        self.constant(shape, Tensor { element: element.into(), bytes: Some(bytes), ..Tensor::default() })
    }

    fn double(&self, shape: &[usize], values: &[f64]) -> Value<'_> {
        self.numbers(Element::Double, shape, values)
    }

    fn texts(&self, texts: &[String]) -> Value<'_> {
        let strings = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        let element = Element::Text.into();
        self.constant(&[texts.len()], Tensor { element, strings, ..Tensor::default() })
    }
}

impl Value<'_> {
    fn name(self) -> String {
        match self.number {
            Some(number) => format!("{}_{number}", self.name.to_ascii_lowercase()),
            None => self.name.to_owned(),
        }
    }

    fn alone(self, operator: &'static str) -> Self {
        self.builder.node(operator, &[self], &[])
    }

    fn with(self, operator: &'static str, other: Self) -> Self {
        self.builder.node(operator, &[self, other], &[])
    }

    fn cast(self, element: Element) -> Self {
        if self.element == element {
            return self;
        }
        let to = integer("to", i32::from(element).into());
        Self { element, ..self.builder.node("Cast", &[self], &[to]) }
    }

    /// Make an output of the result of an operator, which must be the input of none.
    fn publish(self, name: &str, element: Element, lengths: &[Length]) -> Port {
        let mut nodes = self.builder.nodes.borrow_mut();
        let outputs = nodes.iter_mut().flat_map(|node| &mut node.outputs);
        outputs.filter(|output| **output == self.name()).for_each(|output| *output = name.to_owned());
        port(name, element, lengths, String::new())
    }
}

impl Add for Value<'_> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.with("Add", other)
    }
}

impl Mul for Value<'_> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.with("Mul", other)
    }
}

impl Neg for Value<'_> {
    type Output = Self;

    fn neg(self) -> Self {
        self.alone("Neg")
    }
}

impl Real<f64> for Value<'_> {
    fn of(self, value: f64) -> Self {
        self.builder.numbers(self.element, &[], &[value])
    }

    fn sqrt(self) -> Self {
        self.alone("Sqrt")
    }

    fn recip(self) -> Self {
        self.alone("Reciprocal")
    }

    fn exp(self) -> Self {
        self.alone("Exp")
    }

    fn times_decay(self, polynomial: impl FnOnce(Self) -> Self) -> Self {
        let decay = (-self).exp();
        // Zero times infinity is NaN.
        let positive = decay.with("Greater", self.of(0.0));
        self.builder.node("Where", &[positive, polynomial(self) * decay, decay], &[])
    }

    fn quadratic(self, divisor: f64) -> Self {
        self.plus(1.0) + (self * self).with("Div", self.of(divisor))
    }
}

/// Applies a kernel to its argument.
struct Symbolic<'b>(Value<'b>);

impl<'b> Visit<f64> for Symbolic<'b> {
    type Output = Value<'b>;

    fn visit<K: Formula<f64>>(self, kernel: K) -> Value<'b> {
        kernel.value_of(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Argument, Element, File, Graph, Message, Name, Tensor};
    use crate::data::{columns::Classes, map::Map, table::options::Missing, table::recipe::Recipe};
    use crate::kernel::kind::KernelKind;
    use crate::model::classes::Classifier;
    use crate::model::trained::{AnyCoefficients, Coefficients, Model};
    use crate::{Dataset, KernelRidge, Nystroem};
    use std::collections::HashSet;

    fn model(kind: KernelKind) -> Model {
        let x: Vec<f64> = (0..120).map(|i| f64::from(i * 7 % 41) / 10.0).collect();
        let y: Vec<f64> = x.chunks(3).flat_map(|row| [row[0].sin(), row[1], row[2]]).collect();
        let data = Dataset::from_rows(&x, 3).unwrap().with_targets(&y, &["u", "v", "w"]).unwrap();
        let features = Nystroem::params(3).kernel(kind).fit(&data).unwrap();
        KernelRidge::params(&features).fit(&data).unwrap()
    }

    fn decoded(model: &Model) -> (Graph, File) {
        let file = File::decode(&*model.to_onnx(&Name::new("m")).unwrap()).unwrap();
        (file.graph.clone().unwrap(), file)
    }

    /// Check that each value is defined once and before its use; a body sees what is around it.
    fn check(graph: &Graph, around: &HashSet<String>, operators: &mut Vec<String>) {
        let mut known = around.clone();
        let own =
            graph.inputs.iter().map(|port| &port.name).chain(graph.constants.iter().map(|one| &one.name));
        own.for_each(|name| assert!(known.insert(name.clone()), "{name} twice"));
        for node in &graph.nodes {
            node.inputs.iter().for_each(|name| assert!(known.contains(name), "{name} in {node:?}"));
            operators.push(node.operator.clone());
            node.attributes
                .iter()
                .filter_map(|one| one.graph.as_ref())
                .for_each(|body| check(body, &known, operators));
            node.outputs.iter().for_each(|name| assert!(known.insert(name.clone()), "{name} twice"));
        }
        graph.outputs.iter().for_each(|port| assert!(known.contains(&port.name), "{port:?}"));
    }

    fn values(tensor: &Tensor) -> Vec<f64> {
        let bytes = tensor.bytes.as_ref().unwrap();
        match tensor.element() {
            Element::Single => bytes.as_chunks().0.iter().map(|&of| f32::from_le_bytes(of).into()).collect(),
            Element::Integer => bytes.as_chunks().0.iter().map(|&of| i64::from_le_bytes(of) as f64).collect(),
            _ => bytes.as_chunks().0.iter().map(|&of| f64::from_le_bytes(of)).collect(),
        }
    }

    #[test]
    fn each_kernel_is_a_graph_of_its_operators() {
        for &kind in KernelKind::ALL {
            let mut model = model(kind);
            let map = Some(Map { rank: 3, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0] });
            for (map, bounds) in [(None, None), (map.clone(), None), (map, Some(vec![3.0; 3]))] {
                (model.scaler.map, model.scaler.bounds) = (map, bounds);
                let (graph, file) = decoded(&model);
                let mut operators = Vec::new();
                check(&graph, &HashSet::new(), &mut operators);
                let has = |operator: &str| operators.iter().any(|one| one == operator);
                let argument = kind.about().argument;
                assert_eq!(has("Max"), model.scaler.bounds.is_some(), "{kind}");
                assert_eq!(has("Scan"), argument != Argument::InnerProduct, "{kind}");
                assert_eq!(has("Abs"), argument == Argument::L1Distance, "{kind}");
                let products = operators.iter().filter(|one| *one == "MatMul").count();
                let expected = 1
                    + usize::from(argument == Argument::InnerProduct)
                    + usize::from(model.scaler.map.is_some());
                assert_eq!(products, expected, "{kind}");
                // Transposed, so that rows come first.
                let of_map = graph
                    .constants
                    .iter()
                    .any(|one| values(one) == [1.0, 4.0, 7.0, 2.0, 5.0, 8.0, 3.0, 6.0, 9.0]);
                assert_eq!(of_map, model.scaler.map.is_some());
                for constant in &graph.constants {
                    assert_eq!(
                        values(constant).len() as i64,
                        constant.shape.iter().product::<i64>(),
                        "{constant:?}"
                    );
                }
                assert_eq!((file.ir_version, file.operators[0].version), (8, 17));
                let targets = file.metadata.iter().find(|one| one.key == "targets").unwrap();
                assert_eq!(targets.value, "u\nv\nw");
            }
        }
    }

    #[test]
    fn gaps_constants_classes_and_precision_are_in_the_graph() {
        let mut model = model(KernelKind::Gaussian);
        let fitted = decoded(&model).0;
        assert!(!fitted.nodes.iter().any(|node| node.operator == "Where" || node.operator == "Cast"));
        model.scaler.deviations[1] = 0.0;
        let mut recipe = Recipe::of_names(&model.feature_names, Some("u"));
        recipe.missing = Missing::Mean;
        recipe.columns.iter_mut().for_each(|column| column.fill = vec![2.5]);
        model.recipe = Some(recipe);
        let labels = ["elm", "oak\n", "ash"].map(str::to_owned).to_vec();
        let classes = Classes { column: "tree".to_owned(), labels };
        model.classifier = Some(Classifier { classes, temperature: 0.375 });
        let AnyCoefficients::F64(Coefficients { landmarks, weights }) = &model.coefficients else {
            panic!("doubles")
        };
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
        let numbers = Coefficients { landmarks: single(landmarks), weights: single(weights) };
        model.coefficients = AnyCoefficients::F32(numbers);
        let (graph, file) = decoded(&model);
        check(&graph, &HashSet::new(), &mut Vec::new());
        let constant =
            |wanted: &[f64]| graph.constants.iter().any(|one| one.bytes.is_some() && values(one) == wanted);
        let [a, _, c] = model.scaler.deviations[..] else { panic!("three features") };
        assert!(constant(&[2.5; 3]) && constant(&[a, f64::INFINITY, c]) && constant(&[0.375]));
        let texts = graph.constants.iter().find(|one| one.bytes.is_none()).unwrap();
        assert_eq!(texts.strings, [&b"elm"[..], b"oak\n", b"ash"]);
        let named: Vec<&str> = graph.outputs.iter().map(|port| &*port.name).collect();
        assert_eq!(named, ["label", "probabilities"]);
        let element = |place: usize| {
            let kind = graph.outputs[place].kind.clone().unwrap();
            kind.tensor.unwrap().element()
        };
        assert_eq!([element(0), element(1)], [Element::Text, Element::Single]);
        assert!(graph.inputs[0].about.ends_with(
            "0  x0, 2.5 where it is NaN\n1  x1, 2.5 where it is NaN\n2  x2, 2.5 where it is NaN\n"
        ));
        assert_eq!(file.metadata.iter().find(|one| one.key == "classes").unwrap().value, "elm\noak \nash");
    }
}
