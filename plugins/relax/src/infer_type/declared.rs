//! What a model only declares of the values that it gives out, put aside while types are inferred from them.
//!
//! Nobody checks the dims that a model declares of its outputs: a runtime warns, and gives out what came. So what uses
//! an output inside has the type that follows from the output's own op, also where that knows less; only names of sizes that aren't known as numbers
//! are those that are declared, unless they are those of other sizes. The output itself keeps what is declared.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;

use super::sort::{Size, Sort};

/// The values that a function gives out and uses itself.
pub(crate) struct Declared {
    outputs: HashSet<ValueId>,
    /// Values that have another type for now, and what they have to have in the end.
    aside: Vec<(ValueId, TypeId)>,
    names: Names,
}

/// What names of sizes stand for.
struct Names {
    /// Symbols of the inputs, which are sizes already.
    taken: HashSet<i64>,
    /// The size of each other symbol that an output declared first.
    given: HashMap<i64, Size>,
}

impl Names {
    fn of(f: &Function) -> Names {
        let params = f.params().iter();
        let symbols = params.flat_map(|&param| f.type_of(param).symbols());
        Names {
            taken: symbols.map(|symbol| i64::from(symbol.0)).collect(),
            given: HashMap::new(),
        }
    }

    /// Whether a declared name may stand for a size: any for one of which nothing is known, as it was for whoever declared it;
    /// else a name that nothing else has.
    fn fits(&mut self, f: &Function, name: &Size, size: &Size) -> bool {
        let is_known = |symbol: i64| f.invented(SymbolId(symbol as u32)).is_none();
        let is_own = match name {
            Size::Symbol(symbol) if !self.taken.contains(symbol) => {
                self.given.entry(*symbol).or_insert_with(|| size.clone()) == size
            }
            _ => false,
        };
        is_own || !size.mentions(&is_known)
    }
}

impl Declared {
    pub(crate) fn of(f: &Function) -> Declared {
        let given = f.terminator(f.body()).into_iter();
        let given = given.flat_map(|end| f.operands(end));
        let is_used = |value: &ValueId| value.is_some() && f.use_count(*value) > 1;
        Declared {
            outputs: given.filter(is_used).collect(),
            aside: Vec::new(),
            names: Names::of(f),
        }
    }

    /// Whether an op has such a result, so that what is inferred of it has to be known.
    pub(crate) fn concerns(&self, f: &Function, op: OpId) -> bool {
        let mut results = f.results(op).iter();
        !self.outputs.is_empty() && results.any(|result| self.outputs.contains(result))
    }

    /// The types that the definition of an op infers with nothing known of its results; `None` if it can't.
    pub(crate) fn inferred(
        f: &mut Function,
        cx: &PassContext,
        op: OpId,
    ) -> Result<Option<Vec<Sort>>, EditError> {
        let results = f.results(op).to_vec();
        let known: Vec<TypeId> = results.iter().map(|&value| f.type_id(value)).collect();
        let unknown = f.add_type(&TypeSpec::unknown())?;
        for &value in &results {
            f.set_type(value, unknown)?;
        }
        let is_inferred = cx.infer(f, op).is_ok();
        let sorts = results.iter().map(|&value| Sort::of(f, value)).collect();
        for (&value, &ty) in results.iter().zip(&known) {
            retype(f, value, ty)?;
        }
        Ok(is_inferred.then_some(sorts))
    }

    /// Gives the outputs among an op's results these types, until all is inferred; symbols of regions, `inner`, say
    /// nothing outside.
    pub(crate) fn put_aside(
        &mut self,
        f: &mut Function,
        op: OpId,
        sorts: &[Sort],
        inner: &HashSet<i64>,
    ) -> Result<(), EditError> {
        for (value, sort) in f.results(op).to_vec().into_iter().zip(sorts) {
            if !self.outputs.contains(&value) {
                continue;
            }
            let (ty, own) = (f.type_id(value), Sort::of(f, value));
            let sort = sort.without(&|symbol| inner.contains(&symbol));
            let sort = sort.named_as(&own, |name, size| self.names.fits(f, name, size));
            if sort == own {
                continue;
            }
            let own = sort.write(f)?;
            retype(f, value, own)?;
            self.aside.push((value, ty));
        }
        Ok(())
    }

    /// Gives the outputs back what is declared.
    pub(crate) fn put_back(&mut self, f: &mut Function) -> Result<(), EditError> {
        let mut aside = self.aside.drain(..);
        aside.try_for_each(|(value, ty)| retype(f, value, ty))
    }
}

/// Puts a type in the place of another, whether or not it says less.
fn retype(f: &mut Function, value: ValueId, ty: TypeId) -> Result<(), EditError> {
    if f.type_id(value) == ty {
        return Ok(());
    }
    let unknown = f.add_type(&TypeSpec::unknown())?;
    f.set_type(value, unknown)?;
    match ty.is_none() {
        true => Ok(()),
        false => f.set_type(value, ty),
    }
}
