//! The numbers of ops by kind, of their regions and of their results.

use passdock_abi::{SymbolId, TypeKind};
use passdock_ir::{Module, OpName};
use rustc_hash::FxHashMap;

use super::{CustomDomain, OpKindStats, OpProvider, RegionParent, Stats};

/// ONNX's own domains.
const ONNX_DOMAINS: [&str; 5] = [
    "",
    "ai.onnx.ml",
    "ai.onnx.preview",
    "ai.onnx.preview.training",
    "ai.onnx.training",
];
/// The domain of the IR's loop level.
const LOOP_DOMAIN: &str = "tir";

/// The counts of the ops of one kind.
#[derive(Clone, Copy, Default)]
struct Kind {
    count: u64,
    nested: u64,
    parents: u64,
    regions: u64,
}

/// Counts the ops of all functions.
pub(super) fn count(module: &Module, stats: &mut Stats) {
    let mut kinds: FxHashMap<SymbolId, Kind> = FxHashMap::default();
    for f in module.functions() {
        let region_depths = f.depths();
        for (id, op) in f.ops() {
            let kind = kinds.entry(op.name).or_default();
            kind.count += 1;
            kind.nested += u64::from(op.parent != f.body());
            if op.regions.len > 0 {
                kind.parents += 1;
                kind.regions += u64::from(op.regions.len);
                let depths = f.regions_of(id).map(|region| region_depths[region.index()]);
                let depth = &mut stats.subgraphs.depth;
                *depth = depths.fold(*depth, u32::max);
            }
            for result in f.results(id).filter(|&result| f.is_present(result)) {
                let value = f.value(result);
                let ty = f.live_type(value.ty);
                let is_typed = ty.is_ok_and(|ty| ty.kind != TypeKind::UNKNOWN);
                stats.results.total += 1;
                stats.results.typed += u64::from(is_typed);
                stats.results.static_shape += u64::from(f.static_shape(value.ty).is_some());
            }
        }
    }
    let mut custom: FxHashMap<String, CustomDomain> = FxHashMap::default();
    for (&name, kind) in &kinds {
        let text = module.symbols().text(name);
        let domain = OpName::parse(text).and_then(|name| name.domain.map(|d| d.into_owned()));
        let provider = match domain.as_deref() {
            _ if module.function(name).is_some() => OpProvider::Function,
            None | Some(LOOP_DOMAIN) => OpProvider::Ir,
            Some(domain) if ONNX_DOMAINS.contains(&domain) => OpProvider::Onnx,
            Some(domain) => {
                let custom = custom.entry(domain.to_owned());
                let custom = custom.or_insert_with(|| CustomDomain {
                    domain: domain.to_owned(),
                    versions: versions(module, domain),
                    ops: 0,
                    operators: 0,
                });
                custom.ops += kind.count;
                custom.operators += 1;
                OpProvider::Custom
            }
        };
        stats.ops.total += kind.count;
        stats.ops.nested += kind.nested;
        stats.ops.kinds.push(OpKindStats {
            op: text.to_owned(),
            domain,
            provider,
            count: kind.count,
            nested: kind.nested,
        });
        stats.subgraphs.regions += kind.regions;
        if kind.regions > 0 {
            stats.subgraphs.parents.push(RegionParent {
                op: text.to_owned(),
                ops: kind.parents,
                regions: kind.regions,
            });
        }
    }
    stats.custom_domains = custom.into_values().collect();
    // The iteration order of a hash map is arbitrary.
    let kinds = &mut stats.ops.kinds;
    kinds.sort_unstable_by(|a, b| (b.count, &a.op).cmp(&(a.count, &b.op)));
    let parents = &mut stats.subgraphs.parents;
    parents.sort_unstable_by(|a, b| (b.regions, &a.op).cmp(&(a.regions, &b.op)));
    let domains = &mut stats.custom_domains;
    domains.sort_unstable_by(|a, b| (b.ops, &a.domain).cmp(&(a.ops, &b.domain)));
}

/// Returns the versions of a domain that functions import, without duplicates.
fn versions(module: &Module, domain: &str) -> Vec<i64> {
    let Some(domain) = module.symbols().find(domain) else {
        return Vec::new();
    };
    let mut versions: Vec<i64> = module.functions().filter_map(|f| f.opset(domain)).collect();
    versions.sort_unstable();
    versions.dedup();
    versions
}
