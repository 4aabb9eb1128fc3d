//! What a region is made of, in the order in which it is written when the file says no other.

use passdock_abi::{AttrKind, ConstId, Constant, OpId, RegionId, Value as ValueRecord, ValueId};
use passdock_ir::{Entity, Extras, Function, Module};
use rustc_hash::FxHashMap;

use super::rope::{Chain, Store};
use super::sequence::Node;
use super::{FunctionWriter, Writer};
use crate::MAIN;
use crate::keep::Kept;
use crate::schema::{attr, entry};
use crate::wire::{Message, Value, put_bytes};

/// Live constants that are values, by region and then id.
pub(crate) struct Constants(Vec<(RegionId, ConstId)>);

impl Constants {
    pub(crate) fn of(f: &Function) -> Constants {
        let mut constants: Vec<(RegionId, ConstId)> = f
            .live_constants()
            .filter(|(_, constant)| constant.value.is_some())
            .map(|(id, constant)| {
                let region = constant.region;
                (if region.is_none() { f.body() } else { region }, id)
            })
            .collect();
        constants.sort_unstable();
        Constants(constants)
    }

    /// Those of a region, in id order.
    pub(crate) fn in_region(&self, region: RegionId) -> &[(RegionId, ConstId)] {
        let from = self.0.partition_point(|entry| entry.0 < region);
        let to = self.0.partition_point(|entry| entry.0 <= region);
        &self.0[from..to]
    }

    /// All of them.
    pub(super) fn all(&self) -> &[(RegionId, ConstId)] {
        &self.0
    }
}

/// Whether a constant stood in the file, or in the text.
pub(super) fn is_imported(f: &Function, id: ConstId) -> bool {
    let touched = f.constant(id).flags & Constant::TOUCHED != 0;
    !touched || f.origins().get(Entity::Constant(id)).is_some()
}

/// The constants of a region that aren't nodes: the defaults of its arguments, then the others.
pub(crate) fn initializers(f: &Function, constants: &Constants, region: RegionId) -> Vec<ConstId> {
    let default = |id: ConstId| {
        let value = f.value(f.constant(id).value);
        (value.flags & ValueRecord::KIND != ValueRecord::CONST).then_some(value.index)
    };
    let ids = constants.in_region(region).iter().map(|&(_, id)| id);
    let mut ids: Vec<ConstId> = ids
        .filter(|&id| f.constant(id).flags & Constant::NODE == 0)
        .collect();
    ids.sort_by_key(|&id| default(id).unwrap_or(u32::MAX));
    ids
}

/// The values of a region whose types the file declares beside their definitions.
pub(crate) fn declared(f: &Function, constants: &Constants, region: RegionId) -> Vec<ValueId> {
    let results = f.ops_in(region).flat_map(|op| f.results(op));
    let constants = constants.in_region(region).iter();
    let constants = constants.map(|&(_, id)| f.constant(id).value);
    let mut values: Vec<ValueId> = results
        .chain(constants)
        .filter(|&value| f.value(value).flags & ValueRecord::DECLARED != 0)
        .collect();
    values.sort_unstable();
    values
}

/// The nodes of each of these regions.
pub(crate) fn sequences(
    module: &Module,
    f: &Function,
    regions: &[RegionId],
) -> FxHashMap<RegionId, Vec<Entity>> {
    let mut writer = Writer::new(module, None);
    let mut writer = FunctionWriter::new(&mut writer, f, false);
    let entity = |what: Node| match what {
        Node::Op(op) => Entity::Op(op),
        Node::Constant(id) => Entity::Constant(id),
    };
    let mut found = FxHashMap::default();
    for &region in regions {
        let items = writer.sequence(region, &[], false);
        found.insert(region, items.iter().map(|item| entity(item.what)).collect());
    }
    found
}

/// How many initializers of a module without its file are inputs too, before IR version 4.
pub(crate) fn old_inputs(module: &Module) -> usize {
    let Some(main) = module.function_named(MAIN) else {
        return 0;
    };
    let mut writer = Writer::new(module, None);
    let writer = FunctionWriter::new(&mut writer, main, true);
    let ids = initializers(main, &writer.constants, main.body());
    ids.into_iter()
        .filter(|&id| writer.is_old_input(id))
        .count()
}

/// The ops that are sparse initializers, with where those stood, and their copies; 0: in no file.
pub(super) fn sparse_initializers(f: &Function) -> FxHashMap<OpId, u64> {
    let mut found = FxHashMap::default();
    if !f.origins().has_extras() {
        return found;
    }
    for op in f.walk(f.body()) {
        let extras = f.origins().extras(Entity::Op(op));
        let at = extras.and_then(|extras| Kept::of(extras).sparse);
        if let Some(at) = at.filter(|_| sparse_value(f, op).is_some()) {
            found.insert(op, at);
        }
    }
    found
}

/// The sparse tensor that an op of a sparse initializer makes.
pub(super) fn sparse_value(f: &Function, op: OpId) -> Option<Message<'_>> {
    let [attr] = f.attrs(op) else { return None };
    if attr.kind != AttrKind::OPAQUE || f.text(f.op(op).name) != "onnx.Constant" {
        return None;
    }
    let message = Message::detached(f.bytes_in(attr.list));
    let fields = message.fields().map_while(Result::ok);
    let mut bodies = fields.filter_map(|field| match field.value {
        Value::Bytes(body) if field.number == attr::SPARSE_TENSOR => Some(body),
        _ => None,
    });
    bodies.next()
}

impl Store {
    /// Appends documentation and metadata.
    pub(super) fn texts(&mut self, chain: &mut Chain, extras: &Extras, [doc, metadata]: [u32; 2]) {
        if let Some(text) = &extras.doc {
            self.field(chain, doc, text.as_bytes());
        }
        for (key, value) in &extras.metadata {
            self.pair(chain, metadata, key, value);
        }
    }

    /// Appends an entry of metadata.
    pub(super) fn pair(&mut self, chain: &mut Chain, number: u32, key: &str, value: &str) {
        let mut pair = Vec::new();
        put_bytes(&mut pair, entry::KEY, key.as_bytes());
        put_bytes(&mut pair, entry::VALUE, value.as_bytes());
        self.field(chain, number, &pair);
    }
}
