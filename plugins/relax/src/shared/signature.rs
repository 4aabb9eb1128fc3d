//! Hashing and comparison of ops that compute equal results.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::rc::Rc;

use passdock_plugin_api::Attr;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record::NameUse;

use super::purity::Purity;

/// Hashes and compares the ops of a function that may be merged.
pub(crate) struct Signatures {
    /// The names of such ops, with their traits.
    names: HashMap<SymbolId, OpTraits>,
}

thread_local! {
    /// The functions whose calls may be merged, cached by module version. They are computed for the whole module at
    /// once, since chains of calls would otherwise be analyzed repeatedly.
    static CALLS: RefCell<Option<(u64, Rc<Purity>)>> = const { RefCell::new(None) };
}

/// The maximum number of elements of a list that are hashed.
const SAMPLES: usize = 64;

impl Signatures {
    pub(crate) fn new(f: &Function, cx: &PassContext) -> Result<Signatures, EditError> {
        let named = |used: NameUse| (used.name, OpTraits(used.traits));
        let all = f.names()?;
        let mut names: HashMap<SymbolId, OpTraits> = all.iter().map(named).collect();
        let calls = mergeable_calls(f, cx)?;
        names.retain(|&name, traits| {
            may_merge(*traits) || !traits.is_ambiguous() && calls.is_pure_function(name)
        });
        Ok(Signatures { names })
    }

    /// Returns a hash of the computation of an op; `None` if the op may not be merged.
    pub(crate) fn hash(&self, f: &Function, op: OpId) -> Result<Option<u64>, EditError> {
        let name = f.symbol(op);
        let Some(traits) = self.names.get(&name) else {
            return Ok(None);
        };
        if f.result_count(op) == 0 || !f.regions(op).is_empty() {
            return Ok(None);
        }
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        for &result in f.results(op) {
            f.is_absent(result).hash(&mut hasher);
        }
        f.operand_count(op).hash(&mut hasher);
        if traits.is_commutative() {
            // The order of commutative operands doesn't matter.
            let sum = f.operands(op).map(|value| hash_of(&value));
            sum.fold(0, u64::wrapping_add).hash(&mut hasher);
        } else {
            f.operands(op).for_each(|value| value.hash(&mut hasher));
        }
        let mut sum = 0_u64;
        for (name, attr) in f.attrs(op) {
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            if !hash_attr(f, &attr, &mut hasher)? {
                return Ok(None);
            }
            sum = sum.wrapping_add(hasher.finish());
        }
        sum.hash(&mut hasher);
        Ok(Some(hasher.finish()))
    }

    /// Whether two ops that have a hash compute equal results.
    pub(crate) fn are_equal(&self, f: &Function, a: OpId, b: OpId) -> Result<bool, EditError> {
        let name = f.symbol(a);
        let absent = |op| f.results(op).iter().map(|&result| f.is_absent(result));
        if name != f.symbol(b) || !absent(a).eq(absent(b)) {
            return Ok(false);
        }
        if !f.operands(a).eq(f.operands(b)) {
            let traits = self.names.get(&name);
            if !traits.is_some_and(|traits| traits.is_commutative())
                || sorted(f.operands(a)) != sorted(f.operands(b))
            {
                return Ok(false);
            }
        }
        let attrs = |op| {
            let mut attrs: Vec<(SymbolId, Attr<'_>)> = f.attrs(op).collect();
            attrs.sort_by_key(|(name, _)| *name);
            attrs
        };
        let [a, b] = [attrs(a), attrs(b)];
        if a.len() != b.len() {
            return Ok(false);
        }
        for ((name, attr), (other_name, other)) in a.iter().zip(&b) {
            if name != other_name || !are_equal_attrs(f, attr, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the functions of the module whose calls may be merged, if the function has calls.
fn mergeable_calls(f: &Function, cx: &PassContext) -> Result<Rc<Purity>, EditError> {
    let calls = f.names()?.iter().any(|used| {
        let traits = OpTraits(used.traits);
        !traits.is_defined() && !traits.is_ambiguous()
    });
    let Some(module) = cx.module().filter(|_| calls) else {
        return Ok(Rc::new(Purity::without_functions(may_merge)));
    };
    let version = module.version();
    let known = CALLS.with_borrow(|known| known.clone());
    if let Some((_, calls)) = known.filter(|known| known.0 == version) {
        return Ok(calls);
    }
    let calls = Rc::new(Purity::new(&module.call_graph()?, may_merge));
    CALLS.set(Some((version, calls.clone())));
    Ok(calls)
}

fn may_merge(traits: OpTraits) -> bool {
    let has_effect = traits.is_random()
        || traits.is_stateful()
        || traits.reads()
        || traits.writes()
        || traits.allocates();
    traits.is_pure() && !has_effect
}

fn hash_of(item: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    item.hash(&mut hasher);
    hasher.finish()
}

fn sorted(values: impl Iterator<Item = ValueId>) -> Vec<ValueId> {
    let mut values: Vec<ValueId> = values.collect();
    values.sort_unstable();
    values
}

/// Returns a sample of a list at regular intervals. Decision trees have millions of elements.
fn sample<T>(values: impl ExactSizeIterator<Item = T>) -> impl Iterator<Item = T> {
    let step = values.len() / SAMPLES + 1;
    values.step_by(step)
}

/// Returns `false` if attributes of this kind can't be compared.
fn hash_attr(f: &Function, attr: &Attr<'_>, hasher: &mut DefaultHasher) -> Result<bool, EditError> {
    discriminant(attr).hash(hasher);
    match *attr {
        Attr::Int(value) => value.hash(hasher),
        Attr::Float(value) => value.to_bits().hash(hasher),
        Attr::String(value) => value.hash(hasher),
        Attr::Tensor(id) => f.constant_hash(id)?.hash(hasher),
        Attr::Type(id) => id.hash(hasher),
        Attr::Ints(values) => sample(values.iter()).for_each(|v| v.hash(hasher)),
        Attr::Floats(values) => sample(values.iter()).for_each(|v| v.to_bits().hash(hasher)),
        Attr::Strings(values) => values.take(SAMPLES).for_each(|value| value.hash(hasher)),
        Attr::Tensors(ids) => {
            for &id in ids {
                f.constant_hash(id)?.hash(hasher);
            }
        }
        Attr::Types(ids) => ids.hash(hasher),
        Attr::Reference(name, _) => name.hash(hasher),
        _ => return Ok(false),
    }
    Ok(true)
}

fn are_equal_attrs(f: &Function, a: &Attr<'_>, b: &Attr<'_>) -> Result<bool, EditError> {
    Ok(match (a, b) {
        (Attr::Int(a), Attr::Int(b)) => a == b,
        (Attr::Float(a), Attr::Float(b)) => a.to_bits() == b.to_bits(),
        (Attr::String(a), Attr::String(b)) => a == b,
        (Attr::Tensor(a), Attr::Tensor(b)) => are_equal_tensors(f, *a, *b)?,
        (Attr::Type(a), Attr::Type(b)) => a == b,
        (Attr::Ints(a), Attr::Ints(b)) => a == b,
        (Attr::Floats(a), Attr::Floats(b)) => {
            let bits = |value: &f32| value.to_bits();
            a.iter().map(bits).eq(b.iter().map(bits))
        }
        (Attr::Strings(a), Attr::Strings(b)) => a.eq(*b),
        (Attr::Tensors(a), Attr::Tensors(b)) if a.len() == b.len() => {
            for (&a, &b) in a.iter().zip(*b) {
                if !are_equal_tensors(f, a, b)? {
                    return Ok(false);
                }
            }
            true
        }
        (Attr::Types(a), Attr::Types(b)) => a == b,
        (Attr::Reference(a, _), Attr::Reference(b, _)) => a == b,
        _ => false,
    })
}

fn are_equal_tensors(f: &Function, a: ConstId, b: ConstId) -> Result<bool, EditError> {
    let ty = |id| f.constant_record(id).map(|record| record.ty);
    Ok(ty(a) == ty(b) && f.constants_equal(a, b)?)
}
