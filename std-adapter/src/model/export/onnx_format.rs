//! The messages of ONNX that a model's graph needs, with the numbers of the standard's fields (`onnx.proto`).

use prost::{Enumeration, Message};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct File {
    #[prost(int64, tag = "1")]
    pub(crate) ir_version: i64,
    #[prost(string, tag = "2")]
    pub(crate) producer_name: String,
    #[prost(string, tag = "3")]
    pub(crate) producer_version: String,
    #[prost(message, optional, tag = "7")]
    pub(crate) graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub(crate) operators: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    pub(crate) metadata: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub(crate) domain: String,
    #[prost(int64, tag = "2")]
    pub(crate) version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Entry {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub(crate) nodes: Vec<Node>,
    #[prost(string, tag = "2")]
    pub(crate) name: String,
    #[prost(message, repeated, tag = "5")]
    pub(crate) constants: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub(crate) inputs: Vec<Port>,
    #[prost(message, repeated, tag = "12")]
    pub(crate) outputs: Vec<Port>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub(crate) inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) outputs: Vec<String>,
    #[prost(string, tag = "4")]
    pub(crate) operator: String,
    #[prost(message, repeated, tag = "5")]
    pub(crate) attributes: Vec<Attribute>,
}

/// An attribute: an integer, or a graph.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attribute {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(int64, optional, tag = "3")]
    pub(crate) integer: Option<i64>,
    #[prost(message, optional, tag = "6")]
    pub(crate) graph: Option<Graph>,
    #[prost(enumeration = "AttributeKind", tag = "20")]
    pub(crate) kind: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub(crate) enum AttributeKind {
    Undefined = 0,
    Integer = 2,
    Graph = 5,
}

/// A constant: numbers, little-endian, or strings.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) shape: Vec<i64>,
    #[prost(enumeration = "Element", tag = "2")]
    pub(crate) element: i32,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub(crate) strings: Vec<Vec<u8>>,
    #[prost(string, tag = "8")]
    pub(crate) name: String,
    #[prost(bytes = "vec", optional, tag = "9")]
    pub(crate) bytes: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Enumeration)]
#[repr(i32)]
pub(crate) enum Element {
    Undefined = 0,
    Single = 1,
    Integer = 7,
    Text = 8,
    Double = 11,
}

/// An input or output.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Port {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) kind: Option<Kind>,
    #[prost(string, tag = "3")]
    pub(crate) about: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Kind {
    #[prost(message, optional, tag = "1")]
    pub(crate) tensor: Option<KindOfTensor>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct KindOfTensor {
    #[prost(enumeration = "Element", tag = "1")]
    pub(crate) element: i32,
    #[prost(message, optional, tag = "2")]
    pub(crate) shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub(crate) lengths: Vec<Length>,
}

/// A length that is known, or the name of one that is not.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Length {
    #[prost(int64, optional, tag = "1")]
    pub(crate) known: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(crate) name: Option<String>,
}
