//! Comparisons, logic, and choosing by a condition.

use bytemuck::NoUninit;
use ndarray::{ArrayD, Zip};

use super::broadcast::{shape_of, spread, zip};
use super::cells::{Cell, Movement, rearrange};
use super::elementwise::same_type;
use super::number::with_number;
use super::{Call, Elements, Folded, NotFolded, Tensor, name_of, refuse};
use passdock_plugin_api::DType;

macro_rules! comparison {
    ($($(#[$doc:meta])* $name:ident = $op:tt;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(call: &Call<'a>) -> Folded<'a> {
            let (a, b) = same_type(call)?;
            with_number!(a.dtype(), T => {
                Ok(vec![zip::<T, T, bool>(call, DType::BOOL, a, b, "", |a, b| Some(a $op b))?])
            })
        }
    )*};
}

comparison! {
    /// `A < B`.
    less = <;
    /// `A <= B`.
    less_or_equal = <=;
    /// `A > B`.
    greater = >;
    /// `A >= B`.
    greater_or_equal = >=;
    /// `A = B` for numbers.
    equal_numbers = ==;
}

/// `A = B`.
pub(crate) fn equal<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = same_type(call)?;
    match a.dtype() {
        DType::BOOL => truth(call, |a, b| a == b),
        DType::STRING => {
            let (x, y) = (a.strings()?, b.strings()?);
            // Strings compare by number: equal ones get the same.
            let mut numbers = std::collections::HashMap::new();
            let mut numbered = |strings: Vec<&'a [u8]>, tensor: &Tensor| {
                let ids: Vec<u64> = strings
                    .into_iter()
                    .map(|string| {
                        let next = numbers.len() as u64;
                        *numbers.entry(string).or_insert(next)
                    })
                    .collect();
                Tensor::from_vec(DType::U64, tensor.shape().to_vec(), ids)
            };
            let (a, b) = (numbered(x, a), numbered(y, b));
            let same = |a: u64, b: u64| Some(a == b);
            Ok(vec![zip::<u64, u64, bool>(
                call,
                DType::BOOL,
                &a,
                &b,
                "",
                same,
            )?])
        }
        _ => equal_numbers(call),
    }
}

macro_rules! logic {
    ($($(#[$doc:meta])* $name:ident = $op:tt;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(call: &Call<'a>) -> Folded<'a> {
            truth(call, |a, b| a $op b)
        }
    )*};
}

logic! {
    /// Both.
    and = &;
    /// One or both.
    or = |;
    /// Just one.
    xor = ^;
}

/// Combines two tensors of bools; any byte but 0 is true.
fn truth<'a>(call: &Call<'a>, combine: impl Fn(bool, bool) -> bool) -> Folded<'a> {
    let (a, b) = same_type(call)?;
    bools(a)?;
    let combine = |a: u8, b: u8| Some(combine(a != 0, b != 0));
    Ok(vec![zip::<u8, u8, bool>(
        call,
        DType::BOOL,
        a,
        b,
        "",
        combine,
    )?])
}

/// The bytes of a tensor of bools.
pub(crate) fn bools<'t>(tensor: &'t Tensor) -> Result<&'t [u8], NotFolded> {
    match tensor.dtype() {
        DType::BOOL => Ok(tensor.bytes()),
        other => refuse!("{} where bools are needed", name_of(other)),
    }
}

/// The opposite.
pub(crate) fn not<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let y: Vec<bool> = bools(x)?.iter().map(|&x| x == 0).collect();
    Ok(vec![Tensor::from_vec(DType::BOOL, x.shape().to_vec(), y)])
}

/// Elements of the second operand where the first is true, of the third elsewhere.
pub(crate) fn choose<'a>(call: &Call<'a>) -> Folded<'a> {
    let (condition, x, y) = (call.input(0)?, call.input(1)?, call.input(2)?);
    bools(condition)?;
    let shape = shape_of(&[condition.shape(), x.shape(), y.shape()])?;
    call.room_for(x.dtype(), &shape)?;
    rearrange(
        call,
        &[x, y],
        &Choose {
            condition: &condition.array::<u8>()?,
            shape,
        },
    )
}

struct Choose<'a> {
    condition: &'a Elements<'a, u8>,
    shape: Vec<usize>,
}

impl Movement for Choose<'_> {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Result<Vec<ArrayD<T>>, NotFolded> {
        let [x, y] = inputs else {
            return refuse!("it has two branches");
        };
        let (condition, x, y) = (self.condition.view(), x.view(), y.view());
        let chosen = Zip::from(spread(&condition, &self.shape)?)
            .and(spread(&x, &self.shape)?)
            .and(spread(&y, &self.shape)?)
            .map_collect(|&condition, &x, &y| if condition != 0 { x } else { y });
        Ok(vec![chosen])
    }
}

/// Positions of the elements that aren't zero, one column each.
pub(crate) fn non_zero<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    if x.rank() == 0 {
        return refuse!("what NonZero of a scalar is isn't defined alike everywhere");
    }
    let hits: Vec<usize> = if x.dtype() == DType::BOOL {
        positions(x.bytes(), |&byte| byte != 0)
    } else {
        with_number!(x.dtype(), T => {
            Ok::<_, NotFolded>(positions(&x.stored::<T>()?, |&x| x != T::default()))
        })?
    };
    let shape = vec![x.rank(), hits.len()];
    call.room_for(DType::I64, &shape)?;
    let mut result = vec![0i64; x.rank() * hits.len()];
    for (column, mut position) in hits.iter().copied().enumerate() {
        for (row, &dim) in x.shape().iter().enumerate().rev() {
            result[row * hits.len() + column] = (position % dim) as i64;
            position /= dim;
        }
    }
    Ok(vec![Tensor::from_vec(DType::I64, shape, result)])
}

fn positions<T: NoUninit>(elements: &[T], hit: impl Fn(&T) -> bool) -> Vec<usize> {
    elements
        .iter()
        .enumerate()
        .filter(|(_, x)| hit(x))
        .map(|(i, _)| i)
        .collect()
}
