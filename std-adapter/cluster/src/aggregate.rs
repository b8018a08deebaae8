//! What is computed over all rows, as an aggregate function of the engine.
//!
//! The function carries its parameters: landmarks and statistics for a fit, the size of the sample for a
//! survey. It travels in the plan as these bytes ([`crate::codec`]), so an executor needs nothing but this
//! program. A partial aggregate is one value of bytes for each partition; the engine gathers and merges them.

use crate::columns::columns;
use crate::error::{Error, inside};
use crate::survey::{PartialSurvey, SurveySpec};
use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use dpp_nystrom::regression::{FitSpec, Folds};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

const SURVEY: &str = "dpp_nystrom_survey";
const FIT: &str = "dpp_nystrom_fit";

/// What is done with rows.
#[derive(Clone, Debug)]
enum Work {
    Survey(Arc<SurveySpec>),
    Fit(Arc<FitSpec>),
}

/// An aggregate over the features and the target, in this order.
#[derive(Debug)]
pub(crate) struct Aggregate {
    signature: Signature,
    /// The parameters as bytes, by which aggregates are compared.
    parameters: Vec<u8>,
    work: Work,
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
    pub(crate) fn survey(spec: &SurveySpec) -> Result<AggregateUDF> {
        let parameters = postcard::to_allocvec(spec).map_err(|_| inside(Error::Malformed))?;
        Ok(Self::function(parameters, spec.names.len(), Work::Survey(Arc::new(spec.clone()))))
    }

    pub(crate) fn fit(spec: &FitSpec) -> Result<AggregateUDF> {
        let parameters = spec.to_bytes().map_err(inside)?;
        let columns = spec.feature_names.len() + 1;
        Ok(Self::function(parameters, columns, Work::Fit(Arc::new(spec.clone()))))
    }

    fn function(parameters: Vec<u8>, columns: usize, work: Work) -> AggregateUDF {
        let signature = Signature::uniform(columns, vec![DataType::Float64], Volatility::Immutable);
        AggregateUDF::from(Self { signature, parameters, work })
    }

    pub(crate) fn parameters(&self) -> &[u8] {
        &self.parameters
    }

    /// Build the function of this name from its parameters; `None` for another name.
    pub(crate) fn decode(name: &str, parameters: &[u8]) -> Result<Option<Arc<AggregateUDF>>> {
        match name {
            SURVEY => {
                let spec = postcard::from_bytes(parameters).map_err(|_| inside(Error::Malformed))?;
                Self::survey(&spec).map(Arc::new).map(Some)
            }
            FIT => Self::fit(&FitSpec::from_bytes(parameters).map_err(inside)?).map(Arc::new).map(Some),
            _ => Ok(None),
        }
    }
}

impl AggregateUDFImpl for Aggregate {
    fn name(&self) -> &str {
        match self.work {
            Work::Survey(_) => SURVEY,
            Work::Fit(_) => FIT,
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
        Ok(match &self.work {
            Work::Survey(spec) => {
                Box::new(SurveyAccumulator { spec: spec.clone(), part: PartialSurvey::default() })
            }
            Work::Fit(spec) => Box::new(FitAccumulator { spec: spec.clone(), folds: None }),
        })
    }
}

/// The states of the parts; a part without rows has none.
fn states(states: &[ArrayRef]) -> Result<impl Iterator<Item = &[u8]>> {
    let states = states.first().and_then(|array| array.as_binary_opt::<i64>());
    let states = states.ok_or_else(|| inside(Error::Malformed))?;
    Ok(states.iter().flatten())
}

#[derive(Debug)]
struct SurveyAccumulator {
    spec: Arc<SurveySpec>,
    part: PartialSurvey,
}

impl Accumulator for SurveyAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.part.add(&self.spec, &columns(values, &self.spec.names)?);
        Ok(())
    }

    fn merge_batch(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        for bytes in states(arrays)? {
            let part = postcard::from_bytes(bytes).map_err(|_| inside(Error::Malformed))?;
            self.part.merge(&self.spec, part);
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let bytes = postcard::to_allocvec(&self.part).map_err(|_| inside(Error::Malformed))?;
        Ok(ScalarValue::LargeBinary(Some(bytes)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.part.bytes()
    }
}

#[derive(Debug)]
struct FitAccumulator {
    spec: Arc<FitSpec>,
    /// `None` before the first row.
    folds: Option<Folds>,
}

impl Accumulator for FitAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let spec = &self.spec;
        let names: Vec<&String> = spec.feature_names.iter().chain([&spec.target_name]).collect();
        let columns = columns(values, &names)?;
        let Some((targets, features)) = columns.split_last() else { return Err(inside(Error::NoFeatures)) };
        let folds = match &mut self.folds {
            Some(folds) => folds,
            None => self.folds.insert(spec.empty().map_err(inside)?),
        };
        spec.accumulate(folds, features, targets).map_err(inside)
    }

    fn merge_batch(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        for bytes in states(arrays)? {
            let other = self.spec.read(bytes).map_err(inside)?;
            match &mut self.folds {
                Some(folds) => self.spec.merge(folds, &other).map_err(inside)?,
                None => self.folds = Some(other),
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let bytes = self.folds.as_ref().map(|folds| self.spec.state(folds)).transpose();
        bytes.map(ScalarValue::LargeBinary).map_err(inside)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.folds.as_ref().map_or(0, Folds::size)
    }
}
