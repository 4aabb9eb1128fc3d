//! The layout walk: visits ops in program order, and converts each to requested layouts, or to those of its operands.

use std::collections::HashMap;

use passdock_plugin_api::op::Layout;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{AttrKind, Evaluated, LaidOut};

use crate::fusion::{CODEGEN, is_primitive};
use crate::layout::forms::{Forms, laid_type, refine, sizes};
use crate::layout::functions::{DOMAIN, FunctionText, Functions};
use crate::shared::call_graph::optimized_functions;
use crate::shared::operators::{DOMAIN_PREFIX, identifier};
use crate::shared::read::between;

/// The source of requested layouts.
pub(crate) enum LayoutSource {
    /// The pipeline: the layouts of the operands, by operator.
    Desired(HashMap<String, Vec<Option<String>>>),
    /// The definitions of the operators.
    Definitions,
}

/// The maximum size in bytes of a constant that is folded when an operand gets additional axes.
const MAX_FOLDED: u64 = 1 << 20;

/// Converts the ops of all functions to the requested layouts.
pub(crate) fn convert(m: &mut Module<'_>, cx: &PassContext, source: &LayoutSource) -> PassResult {
    let mut functions = None;
    for name in optimized_functions(m)? {
        let f = m.snapshot(name)?;
        if is_generated(&f) || !f.iter().any(|op| source.is_about(&f, op)) {
            continue;
        }
        let mut created = match functions.take() {
            Some(created) => created,
            None => Functions::new(m)?,
        };
        let f = m.edit(name)?;
        let mut walk = Walk {
            cx,
            source,
            functions: &mut created,
            forms: Forms::new(cx),
            replaced: Vec::new(),
        };
        for op in f.ops() {
            walk.op(f, op)?;
        }
        let Walk {
            forms, replaced, ..
        } = walk;
        forms.finish(f, &replaced)?;
        created.make(m, cx, name)?;
        functions = Some(created);
    }
    Ok(())
}

/// Whether a pass created the function.
fn is_generated(f: &Function) -> bool {
    let is_partition = f.function_attr(CODEGEN).is_some();
    f.function_name().starts_with(DOMAIN_PREFIX) || is_primitive(f) || is_partition
}

impl LayoutSource {
    fn is_about(&self, f: &Function, op: OpId) -> bool {
        match self {
            LayoutSource::Desired(desired) => desired.contains_key(f.name(op)),
            LayoutSource::Definitions => f.traits(op).alters_layout(),
        }
    }
}

struct Walk<'a> {
    cx: &'a PassContext,
    source: &'a LayoutSource,
    functions: &'a mut Functions,
    forms: Forms<'a>,
    /// The ops that were replaced.
    replaced: Vec<OpId>,
}

/// An op in other layouts, parsed.
struct ParsedLayouts {
    operands: Vec<Option<Layout>>,
    results: Vec<Option<Layout>>,
    body: String,
}

impl Walk<'_> {
    fn op(&mut self, f: &mut Function, op: OpId) -> PassResult {
        if let Some(laid) = self.request(f, op)? {
            self.replace(f, op, &laid)?;
            self.replaced.push(op);
            return Ok(());
        }
        for index in 0..f.operand_count(op) {
            if let Some(value) = f.operand(op, index) {
                let own = self.forms.own(f, value)?;
                if own != value {
                    f.set_operand(op, index, own)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the form of an op in other layouts, or `None` if it stays.
    fn request(&mut self, f: &mut Function, op: OpId) -> Result<Option<ParsedLayouts>, PassError> {
        let traits = f.traits(op);
        if !f.regions(op).is_empty() {
            return Ok(None);
        }
        let layout = |value| {
            self.forms
                .layout(value)
                .map_or(String::new(), Layout::to_string)
        };
        let given: Vec<String> = f.operands(op).map(layout).collect();
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        if self.source.is_about(f, op) {
            let laid_out = match self.source {
                LayoutSource::Desired(desired) => {
                    let own = desired.get(f.name(op)).map_or(&[][..], Vec::as_slice);
                    let mut requested = given.clone();
                    for (at, layout) in own.iter().enumerate().take(requested.len()) {
                        requested[at] = layout.as_deref().unwrap_or("");
                    }
                    let mut laid_out = None;
                    if !requested.iter().all(|layout| layout.is_empty()) {
                        laid_out = self.cx.layout(f, op, &requested)?;
                        self.note_rejected(f, op, own, laid_out.as_ref());
                    }
                    laid_out
                }
                LayoutSource::Definitions => self.cx.alter_layout(f, op, &given)?,
            };
            if let Some(laid_out) = laid_out {
                let laid = read(f, op, laid_out)?;
                let is_other = laid
                    .operands
                    .iter()
                    .chain(&laid.results)
                    .any(Option::is_some);
                return Ok(Some(laid).filter(|laid| is_other && fits(f, op, laid)));
            }
        }
        if !traits.knows_layout() || given.iter().all(|layout| layout.is_empty()) {
            return Ok(None);
        }
        let Some(laid_out) = self.cx.layout(f, op, &given)? else {
            return Ok(None);
        };
        let laid = read(f, op, laid_out)?;
        Ok(Some(laid).filter(|laid| fits(f, op, laid) && self.pays(f, op, laid)))
    }

    /// Whether an op to which a layout propagates needs no more conversions than it saves.
    fn pays(&self, f: &Function, op: OpId, laid: &ParsedLayouts) -> bool {
        let (mut added, mut saved) = (0, 0);
        for (value, layout) in f.operands(op).zip(&laid.operands) {
            if value.is_none() {
                continue;
            }
            let has_own = self.forms.has(f, value, None);
            match self.forms.has(f, value, layout.as_ref()) {
                false => added += 1,
                true if !has_own && layout.is_some() => saved += 1,
                true => {}
            }
        }
        added <= saved
    }

    /// Emits a note about requested layouts that were rejected: those of the whole op, or blocks that don't divide an
    /// operand.
    fn note_rejected(
        &self,
        f: &Function,
        op: OpId,
        requested: &[Option<String>],
        laid_out: Option<&LaidOut>,
    ) {
        let is_rejected = |at: usize, layout: &str| match laid_out
            .and_then(|laid_out| laid_out.operands.get(at))
        {
            None => true,
            Some(answered) => answered.is_empty() && layout.contains(|c: char| c.is_ascii_digit()),
        };
        let requested = requested.iter().enumerate().take(f.operand_count(op));
        let rejected: Vec<&str> = requested
            .filter_map(|(at, layout)| Some((at, layout.as_deref()?)))
            .filter(|(at, layout)| is_rejected(*at, layout))
            .map(|(_, layout)| layout)
            .collect();
        if rejected.is_empty() {
            return;
        }
        let rejected = rejected.join(", ");
        let text = match laid_out {
            None => format!(
                "`{}` keeps its layout: its definition does not support {rejected}, or its types are not sufficiently \
                 known",
                f.name(op)
            ),
            Some(_) => format!(
                "an operand of `{}` keeps its layout: its sizes are not known to be multiples of the blocks of \
                 {rejected}",
                f.name(op)
            ),
        };
        let position = OpSpan::name(op).within(f);
        self.cx.emit(
            &Diagnostic::note(text)
                .code("relax::keeps-layout")
                .at(position),
        );
    }

    /// Inserts the op in other layouts before the original.
    fn replace(&mut self, f: &mut Function, op: OpId, laid: &ParsedLayouts) -> PassResult {
        let operands: Vec<ValueId> = f.operands(op).collect();
        let mut args = Vec::with_capacity(operands.len());
        for (&value, layout) in operands.iter().zip(&laid.operands) {
            args.push(match (value.is_none(), layout) {
                (true, _) => value,
                (false, None) => self.forms.own(f, value)?,
                (false, Some(layout)) => self.forms.get(f, value, layout, op)?,
            });
        }
        let before = f.previous_op(op);
        let count = laid.results.len();
        let mut values = self.cx.insert_text(f, op, &laid.body, &args, count)?;
        let created = between(f, before, op);
        let moves = |op: &OpId| matches!(f.name(*op), "onnx.Transpose" | "onnx.Reshape");
        if created.len() > 1 && created.iter().any(moves) {
            let params = references(f, &created);
            self.erase(f, &created, &args)?;
            values = self.call(f, op, laid, &args, &params)?;
        } else {
            self.infer_new(f, &created, &mut values)?;
        }
        for (index, layout) in laid.results.iter().enumerate() {
            let (result, value) = (f.result(op, index), values[index]);
            if f.is_absent(result) {
                continue;
            }
            match layout {
                None => {
                    refine(f, value, f.type_id(result));
                    f.replace_uses(result, value)?;
                    self.forms.same.insert(result, value);
                }
                Some(layout) => {
                    let ty = laid_type(f, result, layout)?;
                    refine(f, value, ty);
                    self.forms.add_form(result, op, layout.clone(), value);
                }
            }
        }
        Ok(())
    }

    /// Infers the types of new ops, and folds those with constant operands.
    fn infer_new(&mut self, f: &mut Function, ops: &[OpId], values: &mut [ValueId]) -> PassResult {
        for &op in ops {
            // InferType has reported errors already.
            _ = self.cx.infer(f, op);
            let is_given = f.results(op).iter().any(|result| values.contains(result));
            let operands: Vec<ValueId> = f.operands(op).collect();
            let is_constant = |value: &ValueId| value.is_none() || f.constant(*value).is_some();
            if is_given || !operands.iter().all(is_constant) {
                continue;
            }
            let folded = self.cx.evaluate_with(f, op, &operands, MAX_FOLDED)?;
            if let Evaluated::Constants(constants) = folded {
                f.replace_op_with(op, &constants)?;
                self.forms.leave(operands);
            }
        }
        Ok(())
    }

    /// Erases ops that were only inserted for inspection, and their constants.
    fn erase(&mut self, f: &mut Function, created: &[OpId], args: &[ValueId]) -> PassResult {
        for &op in created.iter().rev() {
            let used: Vec<ValueId> = f.operands(op).collect();
            f.erase_op(op)?;
            for value in used {
                let is_own = value.is_some() && !args.contains(&value);
                if is_own && f.constant(value).is_some() {
                    f.erase_dead(value)?;
                }
            }
        }
        Ok(())
    }

    /// Calls the function for the op in other layouts.
    fn call(
        &mut self,
        f: &mut Function,
        op: OpId,
        laid: &ParsedLayouts,
        args: &[ValueId],
        references: &[(SymbolId, AttrKind)],
    ) -> Result<Vec<ValueId>, PassError> {
        let base = base_name(f, op, laid);
        let results = f.results(op).iter();
        let given: Vec<bool> = results.map(|result| !f.is_absent(*result)).collect();
        let attrs = references.iter();
        let body = FunctionText {
            text: laid.body.clone(),
            params: args.iter().map(|value| value.is_some()).collect(),
            results: given.clone(),
            attrs: attrs.map(|(param, _)| f.text(*param).to_owned()).collect(),
        };
        let name = self.functions.name(f, &base, body);
        f.add_domain(DOMAIN)?;
        let mut types = Vec::new();
        for (index, layout) in laid.results.iter().enumerate() {
            let result = f.result(op, index);
            if given[index] {
                types.push(match layout {
                    Some(layout) => laid_type(f, result, layout)?,
                    None => f.type_id(result),
                });
            }
        }
        let mut call = OpBuilder::new(&*name)
            .operands(args.iter().copied().filter(|value| value.is_some()))
            .results(types)
            .loc(f.loc(op));
        for &(param, kind) in references {
            call = call.attr(param, AttrValue::Reference(param, kind));
        }
        let call = f.create_op(call, Position::before(op))?;
        let mut results = f.results(call).to_vec().into_iter();
        let values = given.iter().map(|given| match given {
            true => results.next().unwrap_or(ValueId::NONE),
            false => ValueId::NONE,
        });
        Ok(values.collect())
    }
}

/// Whether all operands and results can be converted to the layouts, and back.
fn fits(f: &Function, op: OpId, laid: &ParsedLayouts) -> bool {
    let operands = f.operands(op).zip(&laid.operands);
    let results = f.results(op).iter().copied().zip(&laid.results);
    operands.chain(results).all(|(value, layout)| match layout {
        Some(layout) if value.is_some() && !f.is_absent(value) => {
            let sizes = sizes(f, value, layout.rank());
            layout.steps(&sizes).is_some() && layout.steps_back(&sizes).is_some()
        }
        _ => true,
    })
}

/// Returns the attribute parameters that ops refer to.
fn references(f: &Function, ops: &[OpId]) -> Vec<(SymbolId, AttrKind)> {
    let mut found = Vec::new();
    for (_, attr) in ops.iter().flat_map(|op| f.attrs(*op)) {
        match attr {
            Attr::Reference(param, kind) if !found.contains(&(param, kind)) => {
                found.push((param, kind));
            }
            _ => {}
        }
    }
    found
}

/// Returns the name of a function: the operator and the layouts of operands that aren't in the default layout. The
/// layouts of results are added if they differ from that of the first operand. Examples: `Conv_NHWC_HWIO`,
/// `Conv_to_NCHW4c`, `ReduceMean_NCHW4c_to_default`.
fn base_name(f: &Function, op: OpId, laid: &ParsedLayouts) -> String {
    let name = f.name(op);
    let name = name.rsplit_once('.').map_or(name, |(_, name)| name);
    let target = |layout: &Option<Layout>| layout.as_ref().map(Layout::target);
    let first = laid.operands.first().and_then(target);
    let mut parts = vec![identifier(name)];
    for target in laid.operands.iter().filter_map(target) {
        if !parts[1..].contains(&target) {
            parts.push(target);
        }
    }
    let results = f.results(op).iter().zip(&laid.results);
    let results = results.filter(|(result, _)| !f.is_absent(**result));
    let results: Vec<Option<String>> = results.map(|(_, layout)| target(layout)).collect();
    if results.iter().any(|target| *target != first) {
        parts.push("to".to_owned());
        let named = results.into_iter();
        parts.extend(named.map(|target| target.unwrap_or_else(|| "default".to_owned())));
    }
    parts.join("_")
}

/// Parses the layouts that a definition returned.
fn read(f: &Function, op: OpId, laid_out: LaidOut) -> Result<ParsedLayouts, PassError> {
    let layouts = |list: Vec<String>| -> Result<Vec<Option<Layout>>, PassError> {
        let layout = |text: String| match text.as_str() {
            "" => Ok(None),
            text => Layout::parse(text).map(|layout| Some(layout).filter(|one| !one.is_identity())),
        };
        let list: Result<Vec<Option<Layout>>, _> = list.into_iter().map(layout).collect();
        list.map_err(|error| {
            let name = f.name(op);
            let text = format!("definition of `{name}` returned an invalid layout: {error}");
            PassError::new(text).at(op).within(f)
        })
    };
    Ok(ParsedLayouts {
        operands: layouts(laid_out.operands)?,
        results: layouts(laid_out.results)?,
        body: laid_out.body,
    })
}
