//! Writing: a module to an ONNX file.
//!
//! The original bytes of a message are walked as its skeleton: fields of entities that nobody
//! touched, and all that the IR doesn't model, are copied as they are; touched entities are edited
//! in place by the same walk one level deeper; erased ones are left out; new ones stand where the
//! program has them. Nothing of a skeleton is stored: it is the input file. Regions are written
//! innermost first, so nothing recurses.

mod attr;
mod body;
mod imports;
mod info;
mod location;
mod model;
mod names;
mod node;
mod parts;
mod placement;
mod records;
mod rope;
mod sequence;
mod tensor;

use std::sync::Arc;

use passdock_abi::{ConstId, Constant, OpId, RegionId, SymbolId, Value, ValueId};
use passdock_ir::{Entity, Function, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::MAIN;
use crate::error::{OnnxError, Result};
use crate::keep::Kept;
use crate::source::{ModelFile, Source};
use crate::wire::Message;

pub(crate) use attr::put_sparse_value;
pub(crate) use imports::{Domains, put_import};
pub(crate) use model::{final_version, ir_version, version_of};
use names::Plan;
pub(crate) use names::export_names;
use parts::sparse_initializers;
pub(crate) use parts::{Constants, declared, initializers, old_inputs, sequences};
pub use placement::{DataFile, ExternalData};
use placement::{Home, Placement};
pub use rope::Output;
use rope::{Chain, ChainId, Store};
pub(crate) use tensor::{EXTERNAL_KEYS, PLAIN_VALUES, external_location, stands_at};

/// What protobuf can hold in one message: 2 GiB.
const MESSAGE_LIMIT: u64 = i32::MAX as u64;

/// How to write.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions<'a> {
    /// Copy no span of the file: the module is [detached](crate::detach) and encoded anew. The result
    /// is equal field by field instead of byte by byte, which shows that the IR lost nothing.
    pub drop_spans: bool,
    /// Where the data of initializers goes.
    pub external: ExternalData,
    /// The name of the data file that may be made beside the model; `None`: there is no place for
    /// one.
    pub data_file: Option<&'a str>,
    /// Data files that go by another location than their own, since that one is taken.
    pub moved: &'a [Moved],
}

/// A data file that goes by another location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The location that it would have.
    pub from: String,
    /// The one that it has.
    pub to: String,
}

/// Encodes a module. Weights stay where they are until the output is written.
///
/// # Errors
/// If the module has something that ONNX can't say, or the model file would be larger than protobuf
/// can hold.
pub fn write(module: &Module, options: WriteOptions<'_>) -> std::result::Result<Output, OnnxError> {
    let detached;
    let module = if options.drop_spans {
        detached = crate::detach(module)?;
        &detached
    } else {
        module
    };
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
    let source = file.and_then(|file| file.source.clone());
    let placement = match module.function_named(MAIN) {
        Some(main) => Placement::new(module, main, &options, ir_version(module), all),
        None => Placement::default(),
    };
    let mut writer = Writer::new(module, source.clone());
    writer.carries = final_version(module) >= crate::carry::SINCE;
    writer.domains = Domains::of(module);
    writer.homes = placement.homes;
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
    ir_version: i64,
    /// Whether graphs and functions have metadata.
    carries: bool,
    domains: Domains,
    /// Of the main graph's initializers.
    homes: FxHashMap<ConstId, Home>,
    store: Store,
}

impl<'m> Writer<'m> {
    fn new(module: &'m Module, source: Option<Arc<Source>>) -> Writer<'m> {
        Writer {
            module,
            source,
            ir_version: ir_version(module),
            carries: false,
            domains: Domains::default(),
            homes: FxHashMap::default(),
            store: Store::default(),
        }
    }
}

/// Writes one function.
struct FunctionWriter<'w> {
    f: &'w Function,
    plan: Plan,
    source: Option<&'w Source>,
    ir_version: i64,
    /// Whether graphs and functions have metadata.
    carries: bool,
    domains: &'w Domains,
    /// Where data goes that doesn't stay where it is.
    homes: Option<&'w FxHashMap<ConstId, Home>>,
    store: &'w mut Store,
    /// A function nobody else sees, to compare types in.
    types: Function,
    /// The regions written so far.
    done: FxHashMap<RegionId, ChainId>,
    constants: Constants,
    /// Ops that are sparse initializers, with where those stood in the file.
    sparse: FxHashMap<OpId, u64>,
    /// Their names, once they are asked for.
    constant_names: Option<FxHashSet<SymbolId>>,
    /// Whether it writes the main graph.
    is_main: bool,
    /// Whether it wrote `Identity` or `Constant` nodes that no pass asked for.
    added_nodes: bool,
    /// The names of nodes that can't have that of their location.
    node_names: FxHashMap<OpId, String>,
    /// Scratch: the place of each op in the region at hand.
    places: Vec<u32>,
}

impl<'w> FunctionWriter<'w> {
    fn new(writer: &'w mut Writer<'_>, f: &'w Function, is_main: bool) -> FunctionWriter<'w> {
        let homes = is_main.then_some(&writer.homes);
        let moved = homes.into_iter().flat_map(|homes| homes.keys().copied());
        FunctionWriter {
            f,
            plan: Plan::new(f, writer.source.is_none(), moved),
            source: writer.source.as_deref(),
            ir_version: writer.ir_version,
            carries: writer.carries,
            domains: &writer.domains,
            homes,
            store: &mut writer.store,
            types: Function::new(f.symbols().clone(), f.kind(), f.name()),
            done: FxHashMap::default(),
            constants: Constants::of(f),
            sparse: sparse_initializers(f),
            constant_names: None,
            is_main,
            added_nodes: false,
            node_names: FxHashMap::default(),
            places: vec![0; f.op_ids()],
        }
    }

    /// The message that an entity came from: its bytes in the file, or what is left of them.
    fn original(&self, entity: Entity) -> Option<Message<'w>> {
        self.span(entity).or_else(|| self.kept(entity).hollow)
    }

    /// The bytes of the file that an entity came from.
    fn span(&self, entity: Entity) -> Option<Message<'w>> {
        let origin = self.f.origins().get(entity);
        let source = self.source.filter(|_| origin.is_some())?;
        source.message(origin.start, origin.len())
    }

    /// What is kept of an entity without its file.
    fn kept(&self, entity: Entity) -> Kept<'w> {
        let extras = self.f.origins().extras(entity);
        extras.map(|extras| Kept::of(extras)).unwrap_or_default()
    }

    /// Writes the documentation and metadata of an entity.
    fn texts(&mut self, chain: &mut Chain, entity: Entity, numbers: [u32; 2]) {
        if let Some(extras) = self.f.origins().extras(entity) {
            self.store.texts(chain, extras, numbers);
        }
    }

    /// The constants of a region that are values, in id order.
    fn constants_of(&self, region: RegionId) -> &[(RegionId, ConstId)] {
        self.constants.in_region(region)
    }

    /// Whether a constant was an initializer and an input of a model whose file isn't at hand, before
    /// IR version 4: both are its interface.
    fn is_old_input(&self, id: ConstId) -> bool {
        let record = self.f.constant(id);
        let kept = self.kept(Entity::Value(record.value));
        if kept.input.is_some() || kept.no_input {
            return kept.input.is_some();
        }
        self.is_main
            && self.source.is_none()
            && self.ir_version < 4
            && record.flags & (Constant::NODE | Constant::TOUCHED) == 0
            && (record.region.is_none() || record.region == self.f.body())
            && self.is_own_value(record.value)
    }

    /// Whether a constant was an initializer before IR version 4.
    fn is_old_initializer(&self, id: ConstId) -> bool {
        let value = self.f.constant(id).value;
        self.is_old_input(id) || self.kept(Entity::Value(value)).no_input
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
