//! What is asked of all rows, as an aggregate function of the engine.
//!
//! The function carries its parameters: landmarks and statistics for a lesson, the sample's size for a survey. It travels
//! in the plan as these bytes ([`crate::logical_codec`]), so an executor needs nothing but this program. A partial aggregate
//! is one value of bytes for each partition; the engine gathers and merges them.

use crate::Error;
use crate::columns::columns;
use crate::error::inside;
use crate::survey::{Part, Question};
use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use dpp_nystrom::regression::{FitSpec, Learned};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub(crate) const SURVEY: &str = "dpp_nystrom_survey";
pub(crate) const LEARN: &str = "dpp_nystrom_learn";

/// What is done with rows.
#[derive(Debug)]
enum Work {
    Survey(Question),
    Learn { lesson: FitSpec, names: Vec<String> },
}

/// An aggregate over the features and the target, in this order.
#[derive(Debug)]
pub(crate) struct Aggregate {
    signature: Signature,
    /// The parameters, which make it what it is.
    parameters: Vec<u8>,
    work: Arc<Work>,
}

impl PartialEq for Aggregate {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.parameters == other.parameters
    }
}

impl Eq for Aggregate {}

impl Hash for Aggregate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
        self.parameters.hash(state);
    }
}

impl Aggregate {
    pub(crate) fn survey(question: &Question) -> Result<AggregateUDF> {
        let parameters = postcard::to_allocvec(question).map_err(|_| inside(Error::Answer))?;
        Ok(Self::of(parameters, Work::Survey(question.clone())))
    }

    pub(crate) fn learn(lesson: &FitSpec) -> Result<AggregateUDF> {
        let parameters = lesson.to_bytes().map_err(inside)?;
        let names = lesson.feature_names.iter().chain([&lesson.target_name]).cloned().collect();
        Ok(Self::of(parameters, Work::Learn { lesson: lesson.clone(), names }))
    }

    fn of(parameters: Vec<u8>, work: Work) -> AggregateUDF {
        let columns = match &work {
            Work::Survey(question) => question.names.len(),
            Work::Learn { names, .. } => names.len(),
        };
        let signature = Signature::uniform(columns, vec![DataType::Float64], Volatility::Immutable);
        AggregateUDF::from(Self { signature, parameters, work: Arc::new(work) })
    }

    pub(crate) fn parameters(&self) -> &[u8] {
        &self.parameters
    }

    /// The function of this name with these parameters; none of another name.
    pub(crate) fn decode(name: &str, parameters: &[u8]) -> Result<Option<AggregateUDF>> {
        match name {
            SURVEY => {
                let question = postcard::from_bytes(parameters).map_err(|_| inside(Error::Answer))?;
                Self::survey(&question).map(Some)
            }
            LEARN => Self::learn(&FitSpec::from_bytes(parameters).map_err(inside)?).map(Some),
            _ => Ok(None),
        }
    }
}

impl AggregateUDFImpl for Aggregate {
    fn name(&self) -> &str {
        match *self.work {
            Work::Survey(_) => SURVEY,
            Work::Learn { .. } => LEARN,
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::LargeBinary)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format!("{}[state]", args.name);
        Ok(vec![Arc::new(Field::new(name, DataType::LargeBinary, true))])
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(match *self.work {
            Work::Survey(_) => Box::new(Surveyed { work: self.work.clone(), part: Part::default() }),
            Work::Learn { .. } => Box::new(Taught { work: self.work.clone(), learned: None }),
        })
    }
}

/// The one value of an accumulator's state, or of its result.
fn value(bytes: Option<Vec<u8>>) -> ScalarValue {
    ScalarValue::LargeBinary(bytes)
}

/// The states that came: none from a part without rows.
fn states(states: &[ArrayRef]) -> Result<impl Iterator<Item = &[u8]>> {
    let states = states.first().and_then(|array| array.as_binary_opt::<i64>());
    let states = states.ok_or_else(|| inside(Error::Answer))?;
    Ok(states.iter().flatten())
}

#[derive(Debug)]
struct Surveyed {
    work: Arc<Work>,
    part: Part,
}

impl Surveyed {
    fn question(work: &Work) -> Result<&Question> {
        match work {
            Work::Survey(question) => Ok(question),
            Work::Learn { .. } => Err(inside(Error::Answer)),
        }
    }

    fn bytes(&self) -> Result<ScalarValue> {
        postcard::to_allocvec(&self.part).map(|bytes| value(Some(bytes))).map_err(|_| inside(Error::Answer))
    }
}

impl Accumulator for Surveyed {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let question = Self::question(&self.work)?;
        self.part.add(question, &columns(values, &question.names)?);
        Ok(())
    }

    fn merge_batch(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let question = Self::question(&self.work)?;
        for bytes in states(arrays)? {
            let part = postcard::from_bytes(bytes).map_err(|_| inside(Error::Answer))?;
            self.part.merge(question, part);
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.bytes()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.bytes()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.part.bytes()
    }
}

#[derive(Debug)]
struct Taught {
    work: Arc<Work>,
    /// Nothing before the first row.
    learned: Option<Learned>,
}

impl Taught {
    fn lesson(work: &Work) -> Result<(&FitSpec, &[String])> {
        match work {
            Work::Learn { lesson, names } => Ok((lesson, names)),
            Work::Survey(_) => Err(inside(Error::Answer)),
        }
    }

    fn bytes(&self) -> Result<ScalarValue> {
        let (lesson, _) = Self::lesson(&self.work)?;
        let bytes = self.learned.as_ref().map(|learned| lesson.state(learned)).transpose();
        bytes.map(value).map_err(inside)
    }
}

impl Accumulator for Taught {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (lesson, names) = Self::lesson(&self.work)?;
        let columns = columns(values, names)?;
        let Some((targets, features)) = columns.split_last() else { return Err(inside(Error::NoFeatures)) };
        let learned = match &mut self.learned {
            Some(learned) => learned,
            None => self.learned.insert(lesson.empty().map_err(inside)?),
        };
        lesson.learn(learned, features, targets).map_err(inside)
    }

    fn merge_batch(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let (lesson, _) = Self::lesson(&self.work)?;
        for bytes in states(arrays)? {
            let other = lesson.read(bytes).map_err(inside)?;
            match &mut self.learned {
                Some(learned) => lesson.merge(learned, &other).map_err(inside)?,
                None => self.learned = Some(other),
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.bytes()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.bytes()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.learned.as_ref().map_or(0, Learned::bytes)
    }
}
