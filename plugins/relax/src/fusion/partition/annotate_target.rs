//! `relax.transform.AnnotateTarget`: annotates the ops that a target supports.
//!
//! ```ir
//! fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17) {
//!   %a = onnx.Exp(%x) : f32[4]
//!   %z = onnx.Softmax(%a) : f32[4]
//!   return %z
//! }
//! → { target = "npu", domain = "acme", ops = ["onnx.Exp"] }
//! fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "acme" = 1) {
//!   %a = acme.exp(%x) : f32[4]
//!   %z = onnx.Softmax(%a) : f32[4]
//!   return %z
//! }
//! fn @acme.exp(%x: f32[4]) -> (%a: f32[4]) opset("" = 17, "acme" = 1) attributes {Target = "npu"} {
//!   %a = onnx.Exp(%x) : f32[4]
//!   return %a
//! }
//! ```
//!
//! Each op that the target supports is outlined into a function with the attribute `Target`.
//! `relax.transform.MergeRegions` merges such functions. The domain of the function is the option `domain`, or the
//! target's name.
//!
//! An op is supported if its definition, or a plugin that extends it, reports so (`supports` of an op definition), or
//! if the pipeline lists it. `ops` lists names of ops. `traits` lists traits of op definitions, any of which suffices
//! (`elementwise`, `injective`, `reduction`, `out-fusable`). Supported ops must have tensors of the element types in
//! `dtypes` (empty: any), and all sizes must be known if `static_shapes` is set. If a definition rejects a listed op,
//! the op isn't supported.
//!
//! Calls of functions that `relax.transform.FuseOpsByPattern` created are supported as a whole if their `Composite`
//! starts with the target's name and a dot. A call of a function that represents one op, created by `ConvertLayout` or
//! `FastMath`, is supported if it is listed or if that op is supported. Without a target, the pass does nothing. A note
//! per reason reports how many ops are rejected.
//!
//! The pass doesn't annotate ops with effects, without a definition or with regions, nor ops of functions that skip
//! optimization or are kernels or partitions already. A vendor's pass with more detailed criteria can create such
//! functions directly.
//!
//! Source: TVM `src/relay/transforms/annotate_target.cc`.

use std::collections::BTreeMap;

use passdock_plugin_api::Support;
use passdock_plugin_api::prelude::*;

use crate::fusion::group::{Group, Groups, check_domain, is_onnx};
use crate::fusion::shared::marks::{COMPOSITE, TARGET, open_functions, string_attr};
use crate::fusion::shared::placeholders::Placeholders;
use crate::shared::operators::{identifier, op_count, snake_case};

options! {
    /// Options of AnnotateTarget.
    pub struct AnnotateTarget {
        /// The target's name.
        target: String = "",
        /// The domain of the created functions. If empty, the target's name, in which `_` replaces characters other
        /// than letters, digits, and dots between parts.
        domain: String = "",
        /// Names of ops that the target supports.
        ops: Vec<String> = [],
        /// Traits of ops that the target supports.
        traits: Vec<String> = [],
        /// Element types that the target supports. If empty, any.
        dtypes: Vec<String> = [],
        /// Whether all sizes must be known.
        static_shapes: bool = false,
    }
}

/// Runs `relax.transform.AnnotateTarget`.
pub fn annotate_target(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<AnnotateTarget>()?;
    if options.target.is_empty() {
        // A pipeline may contain the pass although no target is set.
        if options.ops.is_empty() && options.traits.is_empty() {
            return Ok(());
        }
        return Err(PassError::config(
            "option `target` is required if `ops` or `traits` is set",
        ));
    }
    let filter = Traits::parse(&options.traits)?;
    m.check_operators("ops", &options.ops)?;
    if let Some(other) = (options.dtypes.iter()).find(|name| DType::from_name(name).is_none()) {
        return Err(PassError::config(format!(
            "unknown element type `{other}` in option `dtypes`; expected a name such as `f32`, `i64` or `bool`"
        )));
    }
    let domain = match &*options.domain {
        "" => domain(&options.target),
        domain => domain.to_owned(),
    };
    check_domain(&domain)?;
    let mut groups = Groups::default();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let attrs = vec![(TARGET, AttrValue::from(&*options.target))];
    let placeholders = Placeholders::new(m)?;
    let composites = composites(m, &options.target)?;
    for holder in open_functions(m)? {
        let f = m.snapshot(holder)?;
        let mut taken = Vec::new();
        for op in f.iter() {
            if composites.contains(&f.symbol(op)) {
                taken.push((op, f.name(op).rsplit('.').next().unwrap_or("").to_owned()));
                continue;
            }
            let traits = placeholders.traits(&f, op);
            let is_named = placeholders.is_named(&f, op, &options.ops) || filter.has(traits);
            let support = match cx.supports(&f, op, &options.target)? {
                Support::Unknown => placeholders.supports(m, cx, holder, op, &options.target)?,
                support => support,
            };
            let why = match support {
                Support::Unsupported(why) => Some(why),
                Support::Supported => None,
                _ if !is_named => continue,
                _ => None,
            };
            let unsupported = || options.unsupported_reason(&f, op, traits);
            match why.or_else(|| unsupported().map(str::to_owned)) {
                None => taken.push((op, snake_case(f.name(op)))),
                Some(why) => *reasons.entry(why).or_default() += 1,
            }
        }
        drop(f);
        for (op, name) in taken {
            let group = Group::new(vec![op], &domain, name, attrs.clone());
            groups.outline(m, holder, &group)?;
        }
    }
    for (why, count) in reasons {
        let ops = op_count(count);
        let note = format!("`{}` does not support {ops}: {why}", options.target);
        cx.emit(&Diagnostic::note(note).code("relax::not-supported"));
    }
    Ok(())
}

/// Converts a target's name to a domain.
fn domain(target: &str) -> String {
    let parts = target.split('.').map(|part| match part {
        "" => "_".to_owned(),
        part => identifier(part),
    });
    match parts.collect::<Vec<String>>().join(".") {
        // Avoids ONNX's own domain.
        onnx if is_onnx(&onnx) => onnx + "_",
        domain => domain,
    }
}

/// Returns the functions that patterns created for a target.
fn composites(m: &Module<'_>, target: &str) -> Result<Vec<SymbolId>, EditError> {
    let mut found = Vec::new();
    for entry in m.functions() {
        let name = string_attr(&m.snapshot(entry.name)?, COMPOSITE);
        let is_its = name.is_some_and(|name| {
            let rest = name.strip_prefix(target);
            rest.is_some_and(|rest| rest.starts_with('.'))
        });
        if is_its {
            found.push(entry.name);
        }
    }
    Ok(found)
}

impl AnnotateTarget {
    /// Returns the reason why an op isn't supported, if there is one.
    fn unsupported_reason(&self, f: &Function, op: OpId, traits: OpTraits) -> Option<&'static str> {
        if !traits.is_pure() {
            return Some("side effects cannot be ruled out");
        }
        if !f.regions(op).is_empty() {
            return Some("ops with regions are not supported");
        }
        let operands = f.operands(op).filter(|value| value.is_some());
        let values: Vec<ValueId> = operands.chain(f.results(op).iter().copied()).collect();
        for &value in &values {
            let ty = f.type_of(value);
            if !ty.is_tensor() {
                return Some("not all operands and results are known to be tensors");
            }
            let dtype = ty.dtype().and_then(DType::name).unwrap_or("?");
            if !self.dtypes.is_empty() && !self.dtypes.iter().any(|known| known == dtype) {
                return Some("not all element types are in `dtypes`");
            }
            if self.static_shapes && ty.shape().is_none() {
                return Some("not all sizes are known");
            }
        }
        None
    }
}

/// A set of traits, any of which suffices.
struct Traits(OpTraits);

impl Traits {
    fn parse(names: &[String]) -> Result<Traits, PassError> {
        let mut all = OpTraits::NONE;
        for name in names {
            all = all
                | match &**name {
                    "elementwise" => OpTraits::ELEMENTWISE,
                    "injective" => OpTraits::INJECTIVE,
                    "reduction" => OpTraits::REDUCTION,
                    "out-fusable" => OpTraits::OUT_FUSABLE,
                    other => {
                        let message = format!(
                            "unknown trait `{other}` in option `traits`; expected `elementwise`, `injective`, \
                             `reduction` or `out-fusable`"
                        );
                        return Err(PassError::config(message));
                    }
                };
        }
        Ok(Traits(all))
    }

    fn has(&self, traits: OpTraits) -> bool {
        traits.0 & self.0.0 != 0
    }
}
