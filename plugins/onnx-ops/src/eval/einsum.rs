//! Einsum: products of elements with equal labels, summed over the labels that the result doesn't have.

use std::collections::BTreeMap;

use super::call::one_type;
use super::matrix::{little_work, sums_are_defined};
use super::number::{Number, OVERFLOW, with_number};
use super::{Call, Folded, NotFolded, Tensor, ensure, reject};

/// A letter, or an axis of the ellipsis. The latter are numbered from the last axis down.
type Label = u32;

/// The label of the ellipsis's last axis, greater than all letters.
const DOTS: Label = Label::MAX;

/// The cost of advancing to the next elements, in multiplications.
const STEP: usize = 4;

/// Splits an equation into its terms and its optional result.
pub(crate) fn parts(equation: &[u8]) -> (Vec<String>, Option<String>) {
    let mut equation = String::from_utf8_lossy(equation).into_owned();
    equation.retain(|char| !char.is_whitespace());
    let (terms, result) = match equation.split_once("->") {
        Some((terms, result)) => (terms, Some(result.to_owned())),
        None => (&*equation, None),
    };
    (terms.split(',').map(str::to_owned).collect(), result)
}

/// Returns the labels of a term's axes, of which `dotted` belong to the ellipsis.
fn labels(term: &str, dotted: usize) -> Result<Vec<Label>, NotFolded> {
    let (before, after) = term.split_once("...").unwrap_or((term, ""));
    let mut chars = before.chars().chain(after.chars());
    if let Some(odd) = chars.find(|c| !c.is_ascii_alphabetic()) {
        return reject!("invalid label `{odd}`: expected a letter");
    }
    let letters = |text: &str| text.chars().map(Label::from).collect::<Vec<Label>>();
    let dots = (0..dotted as Label).rev().map(|at| DOTS - at);
    Ok([letters(before), dots.collect(), letters(after)].concat())
}

/// Evaluates the equation.
pub(crate) fn einsum<'a>(call: &Call<'a>) -> Folded<'a> {
    let operands = call.all_inputs()?;
    let (terms, result) = parts(call.string("equation")?.unwrap_or_default());
    let Some(&first) = operands.first().filter(|_| terms.len() == operands.len()) else {
        return reject!(
            "number of terms in the equation is {}, expected {}",
            terms.len(),
            operands.len()
        );
    };
    one_type(&operands)?;
    sums_are_defined(first)?;
    let (mut axes, mut widest) = (Vec::new(), 0);
    let mut sizes: BTreeMap<Label, usize> = BTreeMap::new();
    for (term, operand) in terms.iter().zip(&operands) {
        let dotted = match term.contains("...") {
            true => operand.rank().saturating_sub(term.len() - 3),
            false => 0,
        };
        widest = widest.max(dotted);
        let labels = labels(term, dotted)?;
        if labels.len() != operand.rank() {
            return reject!(
                "term `{term}` does not match an operand of rank {}",
                operand.rank()
            );
        }
        for (&label, &size) in labels.iter().zip(operand.shape()) {
            let known = sizes.entry(label).or_insert(size);
            match (*known, size) {
                (a, b) if a == b => {}
                // Only axes of the ellipsis broadcast.
                (1, _) if label > DOTS / 2 => *known = size,
                (_, 1) if label > DOTS / 2 => {}
                (a, b) => return reject!("expected equal dims for one label, found {a} and {b}"),
            }
        }
        axes.push(labels);
    }
    let output_labels = match result.as_deref() {
        Some(result) if widest > 0 && !result.contains("...") => {
            return reject!("missing `...` in the result of the equation");
        }
        Some(result) => labels(result, widest)?,
        None => {
            let once =
                |label: &&Label| axes.iter().flatten().filter(|each| each == label).count() == 1;
            let letters = sizes.keys().take_while(|&&label| label < DOTS / 2);
            let letters = letters.filter(once).copied().collect();
            [labels("...", widest)?, letters].concat()
        }
    };
    let is_twice = |at: usize| output_labels[..at].contains(&output_labels[at]);
    let is_once = !(0..output_labels.len()).any(is_twice);
    let fits = is_once && output_labels.iter().all(|label| sizes.contains_key(label));
    if !fits {
        return reject!("duplicate or unknown label in the result of the equation");
    }
    let added = sizes.keys().filter(|label| !output_labels.contains(label));
    let added: Vec<Label> = added.copied().collect();
    let dims_of =
        |labels: &[Label]| -> Vec<usize> { labels.iter().map(|label| sizes[label]).collect() };
    let (shape, summed) = (dims_of(&output_labels), dims_of(&added));
    little_work(&[&shape[..], &summed, &[operands.len(), STEP]].concat())?;
    little_work(&shape)?;
    let count = call.room_for(first.dtype(), &shape)?;
    let steps = |labels: &[Label]| -> Vec<Vec<usize>> {
        let pairs = || axes.iter().zip(&operands);
        let step = |&label| {
            pairs()
                .map(|(own, operand)| step(own, operand, label))
                .collect()
        };
        labels.iter().map(step).collect()
    };
    let (outer, inner) = (steps(&output_labels), steps(&added));
    let start = vec![0; operands.len()];
    with_number!(first.dtype(), T => {
        let operands = operands.iter().map(|operand| operand.stored::<T>());
        let operands = operands.collect::<Result<Vec<_>, NotFolded>>()?;
        let (mut results, mut overflows) = (Vec::with_capacity(count), false);
        walk(&shape, &outer, &start, |indices| {
            let (mut float, mut exact) = (0.0, Some(0i128));
            walk(&summed, &inner, indices, |indices| {
                let elements = || operands.iter().zip(indices).map(|(all, &index)| all[index]);
                match T::IS_FLOAT {
                    true => float += elements().map(T::to_f64).product::<f64>(),
                    false => {
                        let product = elements().try_fold(1i128, |all, x| all.checked_mul(x.to_int()?));
                        exact = exact.and_then(|sum| sum.checked_add(product?));
                    }
                }
            });
            let sum = match T::IS_FLOAT {
                true => T::from_double(float).filter(|sum| sum.to_f64().is_finite()),
                false => exact.and_then(T::exactly),
            };
            overflows |= sum.is_none();
            results.push(sum.unwrap_or(T::ZERO));
        });
        ensure!(!overflows, "{OVERFLOW}");
        Ok(Tensor::from_vec(first.dtype(), shape, results))
    })
}

/// Returns the stride of a label in an operand: the sum of the strides of all axes with this label.
fn step(labels: &[Label], operand: &Tensor, expected: Label) -> usize {
    let shape = operand.shape();
    let of_label = |&at: &usize| labels[at] == expected && shape[at] != 1;
    let stride = |at: usize| shape[at + 1..].iter().product::<usize>();
    (0..shape.len()).filter(of_label).map(stride).sum()
}

/// Calls `show` with the position in each operand, in row-major order, given the operands' strides along each dim.
fn walk(dims: &[usize], steps: &[Vec<usize>], start: &[usize], mut show: impl FnMut(&[usize])) {
    let (mut at, mut indices) = (vec![0; dims.len()], start.to_vec());
    if dims.contains(&0) {
        return;
    }
    loop {
        show(&indices);
        // The last dim that isn't at its end advances, and the dims after it restart.
        let Some(next) = (0..dims.len()).rev().find(|&d| at[d] + 1 < dims[d]) else {
            return;
        };
        for d in next..dims.len() {
            for (index, step) in indices.iter_mut().zip(&steps[d]) {
                *index = match d == next {
                    true => *index + step,
                    false => *index - at[d] * step,
                };
            }
            at[d] = if d == next { at[d] + 1 } else { 0 };
        }
    }
}
