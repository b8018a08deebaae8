//! How this program's functions travel in a plan: by name, with their parameters as bytes.
//!
//! Everything else is left to Ballista's own codecs.

use crate::aggregate::Aggregate;
use crate::predict::Predict;
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, LogicalPlan, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use std::any::Any;
use std::sync::Arc;

/// Return the codec of logical plans: client to scheduler.
pub fn logical_codec() -> Arc<dyn LogicalExtensionCodec> {
    Arc::new(Logical(BallistaLogicalExtensionCodec::default()))
}

/// Return the codec of physical plans: scheduler to executors.
pub fn physical_codec() -> Arc<dyn PhysicalExtensionCodec> {
    Arc::new(Physical(BallistaPhysicalExtensionCodec::default()))
}

/// Write the parameters of an aggregate of this program; another function has none here.
fn encode_udaf(node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
    let function: &dyn Any = node.inner().as_ref();
    buf.extend_from_slice(function.downcast_ref().map_or(&[], Aggregate::parameters));
    Ok(())
}

/// Write the parameters of a prediction; another function has none here.
fn encode_udf(node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
    let function: &dyn Any = node.inner().as_ref();
    buf.extend_from_slice(function.downcast_ref().map_or(&[], Predict::parameters));
    Ok(())
}

#[derive(Debug)]
struct Logical(BallistaLogicalExtensionCodec);

impl LogicalExtensionCodec for Logical {
    fn try_decode(&self, buf: &[u8], inputs: &[LogicalPlan], ctx: &TaskContext) -> Result<Extension> {
        self.0.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.0.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table_ref: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        self.0.try_decode_table_provider(buf, table_ref, schema, ctx)
    }

    fn try_encode_table_provider(
        &self,
        table_ref: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        self.0.try_encode_table_provider(table_ref, node, buf)
    }

    fn try_decode_file_format(&self, buf: &[u8], ctx: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.0.try_decode_file_format(buf, ctx)
    }

    fn try_encode_file_format(&self, buf: &mut Vec<u8>, node: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.0.try_encode_file_format(buf, node)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        Aggregate::decode(name, buf)?.map_or_else(|| self.0.try_decode_udaf(name, buf), Ok)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_udaf(node, buf)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        Predict::decode(name, buf)?.map_or_else(|| self.0.try_decode_udf(name, buf), Ok)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_udf(node, buf)
    }
}

#[derive(Debug)]
struct Physical(BallistaPhysicalExtensionCodec);

impl PhysicalExtensionCodec for Physical {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.try_decode(buf, inputs, ctx, converter)
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        self.0.try_encode(node, buf, converter)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        Aggregate::decode(name, buf)?.map_or_else(|| self.0.try_decode_udaf(name, buf), Ok)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_udaf(node, buf)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        Predict::decode(name, buf)?.map_or_else(|| self.0.try_decode_udf(name, buf), Ok)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_udf(node, buf)
    }
}
