//! `GraphProto` and `FunctionProto`: the fields that both have, under different numbers.

use rustc_hash::{FxHashMap, FxHashSet};

use super::error::Result;
use super::fields::bodies;
use super::schema::{annotation, doc, entry, function, graph, node, tensor, value_info};
use super::wire::{Message, string_of};

/// The kind of message that a body is read from or written as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Graph,
    Function,
}

impl BodyKind {
    fn number(self, of_graph: u32, of_function: u32) -> u32 {
        match self {
            BodyKind::Graph => of_graph,
            BodyKind::Function => of_function,
        }
    }

    /// Returns the number of the field for nodes.
    pub(crate) fn node(self) -> u32 {
        self.number(graph::NODE, function::NODE)
    }

    /// Returns the number of the field for inputs.
    pub(crate) fn input(self) -> u32 {
        self.number(graph::INPUT, function::INPUT)
    }

    /// Returns the number of the field for outputs.
    pub(crate) fn output(self) -> u32 {
        self.number(graph::OUTPUT, function::OUTPUT)
    }

    /// Returns the number of the field for value infos.
    pub(crate) fn info(self) -> u32 {
        self.number(graph::VALUE_INFO, function::VALUE_INFO)
    }

    /// Returns the numbers of the fields for documentation and metadata.
    pub(crate) fn texts(self) -> [u32; 2] {
        match self {
            BodyKind::Graph => doc::GRAPH,
            BodyKind::Function => doc::FUNCTION,
        }
    }

    /// Returns the name of an input or output. In a function, the name is the whole record.
    pub(crate) fn port_name(self, port: Message<'_>) -> Result<&[u8]> {
        match self {
            BodyKind::Graph => Ok(string_of(port, value_info::NAME)?),
            BodyKind::Function => Ok(port.bytes),
        }
    }

    /// Returns the names that a body's nodes and initializers define.
    pub(crate) fn defined_names(self, body: Message<'_>) -> Result<FxHashSet<&[u8]>> {
        let mut names = FxHashSet::default();
        for node in bodies(body, self.node()) {
            for output in bodies(node?, node::OUTPUT) {
                names.insert(output?.bytes);
            }
        }
        if self == BodyKind::Graph {
            for initializer in bodies(body, graph::INITIALIZER) {
                names.insert(string_of(initializer?, tensor::NAME)?);
            }
        }
        Ok(names)
    }
}

/// Returns the names of the initializers that a quantization annotation refers to.
pub(crate) fn parameters_of(annotation: Message<'_>) -> Result<Vec<&[u8]>> {
    let pairs = bodies(annotation, annotation::PARAMETERS);
    pairs
        .map(|pair| Ok(string_of(pair?, entry::VALUE)?))
        .collect()
}

/// Returns the initializers of a graph that are also inputs, by name.
pub(crate) fn constant_inputs(graph: Message<'_>) -> Result<FxHashMap<&[u8], Message<'_>>> {
    let mut initializers = FxHashMap::default();
    for tensor in bodies(graph, graph::INITIALIZER) {
        let tensor = tensor?;
        initializers.insert(string_of(tensor, tensor::NAME)?, tensor);
    }
    let mut inputs = FxHashMap::default();
    for input in bodies(graph, graph::INPUT) {
        inputs.extend(initializers.get_key_value(string_of(input?, value_info::NAME)?));
    }
    Ok(inputs)
}
