//! Writing: a module to an ONNX file.
//!
//! The original bytes of a message are walked as its skeleton: fields of entities that nobody
//! touched, and all that the IR doesn't model, are copied as they are; touched entities are edited
//! in place by the same walk one level deeper; erased ones are left out; new ones stand where the
//! program has them. Nothing of a skeleton is stored: it is the input file. Regions are written
//! innermost first, so nothing recurses.

mod attr;
mod body;
mod info;
mod model;
mod names;
mod node;
mod placement;
mod records;
mod rope;
mod sequence;
mod tensor;

use std::sync::Arc;

use passdock_abi::{ConstId, Constant, OpId, RegionId, SymbolId, Value, ValueId};
use passdock_ir::{Entity, Function, Module, Origin};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::MAIN;
use crate::error::{OnnxError, Result};
use crate::source::{ModelFile, Source};
use crate::wire::Message;

pub(crate) use attr::put_sparse_value;
use names::Plan;
pub use placement::{DataFile, ExternalData};
use placement::{Home, Placement};
pub use rope::Output;
use rope::{Chain, ChainId, Store};

/// What protobuf can hold in one message: 2 GiB.
const MESSAGE_LIMIT: u64 = i32::MAX as u64;

/// How to write.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions<'a> {
    /// Copy no span of anything that the IR models: all of it is encoded from the IR. The result is
    /// equal field by field instead of byte by byte, which shows that the IR lost nothing.
    pub drop_spans: bool,
    /// Where the data of initializers goes.
    pub external: ExternalData,
    /// The name of the data file that may be made beside the model; `None`: there is no place for
    /// one.
    pub data_file: Option<&'a str>,
}

/// Encodes a module. Weights stay where they are until the output is written.
///
/// # Errors
/// If the module has something that ONNX can't say, or the model file would be larger than protobuf
/// can hold.
pub fn write(module: &Module, options: WriteOptions<'_>) -> std::result::Result<Output, OnnxError> {
    let output = encode(module, options, options.external == ExternalData::All)?;
    let fits = |output: &Output| {
        // Whoever gives a larger file has readers for it.
        let source = output.source.as_ref();
        let large = source.is_some_and(|source| source.bytes().len() as u64 > MESSAGE_LIMIT);
        large || output.len() <= MESSAGE_LIMIT
    };
    if fits(&output) {
        return Ok(output);
    }
    let smaller = match (options.external, options.data_file) {
        (ExternalData::Keep, Some(_)) => encode(module, options, true)?,
        _ => output,
    };
    if fits(&smaller) {
        return Ok(smaller);
    }
    Err(OnnxError::new(format!(
        "the model file would have {} bytes, and {MESSAGE_LIMIT} is the limit of its format; the \
         data of initializers can go to a file beside it",
        smaller.len()
    )))
}

fn encode(module: &Module, options: WriteOptions<'_>, all: bool) -> Result<Output> {
    let file = module
        .source()
        .and_then(|source| source.downcast_ref::<ModelFile>());
    let source = file.map(|file| file.source.clone());
    let ir_version = model::ir_version(module);
    let placement = match module.function_named(MAIN) {
        Some(main) => Placement::new(module, main, &options, ir_version, all),
        None => Placement::default(),
    };
    let mut writer = Writer {
        module,
        source: source.clone(),
        fresh: options.drop_spans,
        ir_version,
        homes: placement.homes,
        store: Store::default(),
    };
    let root = writer.model()?;
    Ok(Output {
        store: writer.store,
        root,
        source,
        files: placement.files,
    })
}

/// Writes one module.
struct Writer<'m> {
    module: &'m Module,
    source: Option<Arc<Source>>,
    fresh: bool,
    ir_version: i64,
    /// Of the main graph's initializers.
    homes: FxHashMap<ConstId, Home>,
    store: Store,
}

/// Writes one function.
struct FunctionWriter<'w> {
    f: &'w Function,
    plan: Plan,
    source: Option<&'w Source>,
    fresh: bool,
    ir_version: i64,
    /// Where data goes that doesn't stay where it is.
    homes: Option<&'w FxHashMap<ConstId, Home>>,
    store: &'w mut Store,
    /// A function nobody else sees, to compare types in.
    types: Function,
    /// The regions written so far.
    done: FxHashMap<RegionId, ChainId>,
    /// Live constants that are values, by region and then id.
    constants: Vec<(RegionId, ConstId)>,
    /// Their names, once they are asked for.
    constant_names: Option<FxHashSet<SymbolId>>,
    /// Whether it writes the main graph.
    is_main: bool,
    /// Whether it wrote `Identity` or `Constant` nodes that no pass asked for.
    added_nodes: bool,
    /// Scratch: the place of each op in the region at hand.
    places: Vec<u32>,
}

impl<'w> FunctionWriter<'w> {
    fn new(writer: &'w mut Writer<'_>, f: &'w Function, is_main: bool) -> FunctionWriter<'w> {
        let mut constants: Vec<(RegionId, ConstId)> = f
            .live_constants()
            .filter(|(_, constant)| constant.value.is_some())
            .map(|(id, constant)| {
                let region = constant.region;
                (if region.is_none() { f.body() } else { region }, id)
            })
            .collect();
        constants.sort_unstable();
        let homes = is_main.then_some(&writer.homes);
        let moved = homes.into_iter().flat_map(|homes| homes.keys().copied());
        FunctionWriter {
            f,
            plan: Plan::new(f, writer.fresh || writer.source.is_none(), moved),
            source: writer.source.as_deref(),
            fresh: writer.fresh,
            ir_version: writer.ir_version,
            homes,
            store: &mut writer.store,
            types: Function::new(f.symbols().clone(), f.kind(), f.name()),
            done: FxHashMap::default(),
            constants,
            constant_names: None,
            is_main,
            added_nodes: false,
            places: vec![0; f.op_ids()],
        }
    }

    /// The bytes an entity came from.
    fn original(&self, entity: Entity) -> Option<Message<'w>> {
        self.span(self.f.origins().get(entity))
    }

    fn span(&self, origin: Origin) -> Option<Message<'w>> {
        let source = self.source.filter(|_| origin.is_some())?;
        source.message(origin.start, origin.len())
    }

    /// The constants of a region that are values, in id order.
    fn constants_of(&self, region: RegionId) -> &[(RegionId, ConstId)] {
        let from = self.constants.partition_point(|entry| entry.0 < region);
        let to = self.constants.partition_point(|entry| entry.0 <= region);
        &self.constants[from..to]
    }

    /// Whether a constant was an initializer and an input of a model whose file isn't at hand, before
    /// IR version 4: both are its interface.
    fn is_old_input(&self, id: ConstId) -> bool {
        let record = self.f.constant(id);
        self.is_main
            && self.source.is_none()
            && self.ir_version < 4
            && record.flags & (Constant::NODE | Constant::TOUCHED) == 0
            && (record.region.is_none() || record.region == self.f.body())
            && self.is_own_value(record.value)
    }

    /// Whether a constant is a value of its own, not a parameter's default.
    fn is_own_value(&self, value: ValueId) -> bool {
        self.f.value(value).flags & Value::KIND == Value::CONST
    }

    /// A value's name in the file; "" for an operand left out.
    fn name(&self, value: ValueId) -> &'w str {
        if value.is_none() {
            ""
        } else {
            self.f.text(self.plan.name(value))
        }
    }

    /// Says which op an error is about.
    fn explain(&self, op: OpId) -> impl FnOnce(OnnxError) -> OnnxError + use<'w> {
        let (f, op) = (self.f, op);
        move |error| error.inside(f.describe_op(op))
    }
}
