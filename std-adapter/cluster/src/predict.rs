//! A model as a function of the engine, and its predictions as they come.

use crate::columns::{columns, row_major};
use crate::error::{Error, inside};
use crate::failures::translated;
use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use dpp_nystrom::Model;
use futures::StreamExt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

const PREDICT: &str = "dpp_nystrom_predict";

/// The prediction of a row from its features, in the model's order.
#[derive(Debug)]
pub(crate) struct Predict {
    signature: Signature,
    parameters: Vec<u8>,
    model: Model,
}

impl PartialEq for Predict {
    fn eq(&self, other: &Self) -> bool {
        self.parameters == other.parameters
    }
}

impl Eq for Predict {}

impl Hash for Predict {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parameters.hash(state);
    }
}

impl Predict {
    pub(crate) fn function(model: &Model) -> Result<ScalarUDF> {
        let parameters = model.to_bytes().map_err(inside)?;
        let signature =
            Signature::uniform(model.feature_names.len(), vec![DataType::Float64], Volatility::Immutable);
        Ok(ScalarUDF::from(Self { signature, parameters, model: model.clone() }))
    }

    pub(crate) fn parameters(&self) -> &[u8] {
        &self.parameters
    }

    /// Build the function of this name from its parameters; `None` for another name.
    pub(crate) fn decode(name: &str, parameters: &[u8]) -> Result<Option<Arc<ScalarUDF>>> {
        if name != PREDICT {
            return Ok(None);
        }
        let model = Model::from_bytes(parameters).map_err(|_| inside(Error::Malformed))?;
        Self::function(&model).map(Arc::new).map(Some)
    }
}

impl ScalarUDFImpl for Predict {
    fn name(&self) -> &str {
        PREDICT
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let arrays: Vec<ArrayRef> =
            args.args.iter().map(|value| value.to_array(rows)).collect::<Result<_>>()?;
        let features = row_major(&columns(&arrays, &self.model.feature_names)?);
        let predictions = self.model.predict(&features).map_err(inside)?;
        Ok(ColumnarValue::Array(Arc::new(Float64Array::from(predictions))))
    }
}

/// Rows with predictions, batch by batch. Batches come in any order; rows keep theirs within a batch.
pub struct Predictions {
    /// The URL of the cluster, if they are computed on one.
    pub(crate) cluster: Option<String>,
    pub(crate) stream: SendableRecordBatchStream,
}

impl Predictions {
    /// Return the columns.
    pub fn schema(&self) -> SchemaRef {
        self.stream.schema()
    }

    /// Return the next batch; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Null`] and [`Error::NotFinite`] with the column, [`Error::Adapter`] for a prediction that
    /// overflows; the engine's.
    pub async fn next(&mut self) -> Option<std::result::Result<RecordBatch, Error>> {
        Some(self.stream.next().await?.map_err(|error| translated(error, self.cluster.as_deref())))
    }
}
