//! A tensor in the format of the plugin ABI: element type, shape, little-endian bytes.
//!
//! Operands are borrowed, possibly from a mapped file, and possibly unaligned. Only unaligned elements are copied on
//! access. Results own the vector into which they were computed, whatever its element type, so they aren't copied
//! either.
//!
//! Elements of less than a byte are packed, low bits first, as in ONNX. Strings are `n + 1` little-endian `u64`
//! offsets, followed by their bytes, which needn't be UTF-8.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

use bytemuck::{AnyBitPattern, NoUninit, Zeroable};
use ndarray::{ArrayD, ArrayViewD, CowArray, IxDyn};

use super::{NotFolded, ensure, reject};
use passdock_plugin_api::DType;

#[cfg(target_endian = "big")]
compile_error!("big-endian targets are unsupported: tensors are little-endian in memory");

/// An array that borrows or owns its elements.
pub type Elements<'a, T> = CowArray<'a, T, IxDyn>;

/// An operand or a result. Clones share the elements.
#[derive(Clone)]
pub struct Tensor<'a> {
    dtype: DType,
    shape: Vec<usize>,
    data: Data<'a>,
}

#[derive(Clone)]
enum Data<'a> {
    Borrowed(&'a [u8]),
    Owned(Rc<dyn Bytes>),
}

/// A vector of any element type, viewed as bytes.
trait Bytes {
    fn bytes(&self) -> &[u8];
}

impl<T: NoUninit> Bytes for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

impl<'a> Tensor<'a> {
    /// Creates a tensor of borrowed bytes, whose length must match the shape.
    pub fn from_bytes(
        dtype: DType,
        shape: Vec<usize>,
        bytes: &'a [u8],
    ) -> Result<Tensor<'a>, NotFolded> {
        let elements = element_count(&shape)?;
        if dtype == DType::STRING {
            check_strings(elements, bytes)?;
        } else {
            let (name, length) = (name_of(dtype), bytes.len());
            let fits = dtype.byte_len(elements as u64) == Some(length as u64);
            ensure!(
                fits,
                "found {length} bytes for {elements} elements of type {name}"
            );
        }
        Ok(Tensor {
            dtype,
            shape,
            data: Data::Borrowed(bytes),
        })
    }

    /// Creates a tensor of computed elements. The caller must ensure that `dtype` is stored as `T`.
    pub fn from_vec<T: NoUninit>(dtype: DType, shape: Vec<usize>, elements: Vec<T>) -> Tensor<'a> {
        Tensor {
            dtype,
            shape,
            data: Data::Owned(Rc::new(elements)),
        }
    }

    /// Like [`Tensor::from_vec`], for an array in any layout.
    pub fn from_array<T: NoUninit>(dtype: DType, array: ArrayD<T>) -> Tensor<'a> {
        let shape = array.shape().to_vec();
        Tensor::from_vec(dtype, shape, in_order(array))
    }

    /// Creates a tensor of strings.
    pub fn from_strings<'s>(
        shape: Vec<usize>,
        strings: impl Iterator<Item = &'s [u8]> + Clone,
    ) -> Tensor<'a> {
        let count = strings.clone().count();
        let total: usize = strings.clone().map(<[u8]>::len).sum();
        let mut bytes = Vec::with_capacity((count + 1) * 8 + total);
        let mut end = 0u64;
        bytes.extend_from_slice(&end.to_le_bytes());
        for string in strings.clone() {
            end += string.len() as u64;
            bytes.extend_from_slice(&end.to_le_bytes());
        }
        strings.for_each(|string| bytes.extend_from_slice(string));
        Tensor::from_vec(DType::STRING, shape, bytes)
    }

    /// Returns the element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of dims.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Returns the bytes in the format of the plugin ABI.
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Borrowed(bytes) => bytes,
            Data::Owned(vector) => vector.bytes(),
        }
    }

    /// Returns the same elements in another shape with the same number of elements.
    pub fn reshaped(&self, shape: Vec<usize>) -> Result<Tensor<'a>, NotFolded> {
        let count = self.len();
        if element_count(&shape)? != count {
            return reject!("cannot reshape {count} elements to {shape:?}");
        }
        Ok(Tensor {
            shape,
            ..self.clone()
        })
    }

    /// Changes the element type to another one of the same width.
    pub(crate) fn with_dtype(self, dtype: DType) -> Tensor<'a> {
        Tensor { dtype, ..self }
    }

    /// Reinterprets the bytes as another type and shape.
    pub fn reinterpreted(&self, dtype: DType, shape: Vec<usize>) -> Result<Tensor<'_>, NotFolded> {
        Tensor::from_bytes(dtype, shape, self.bytes())
    }

    /// Returns the elements as they are stored, copied only if they aren't aligned. Fails if `T` doesn't have the size
    /// of the element type.
    pub fn stored<T: AnyBitPattern + NoUninit>(&self) -> Result<Cow<'_, [T]>, NotFolded> {
        let bytes = self.bytes();
        let fits = size_of::<T>() as u32 * 8 == self.dtype.bits();
        if !fits {
            let bits = size_of::<T>() * 8;
            return reject!(
                "elements of type {} do not have {bits} bits",
                name_of(self.dtype)
            );
        }
        Ok(match bytemuck::try_cast_slice(bytes) {
            Ok(elements) => Cow::Borrowed(elements),
            Err(_) => {
                let mut elements = vec![T::zeroed(); self.len()];
                bytemuck::cast_slice_mut::<T, u8>(&mut elements).copy_from_slice(bytes);
                Cow::Owned(elements)
            }
        })
    }

    /// Returns the elements as an array of the tensor's shape. Fails like [`Tensor::stored`].
    pub fn array<T: AnyBitPattern + NoUninit>(&self) -> Result<Elements<'_, T>, NotFolded> {
        in_shape(&self.shape, self.stored()?)
    }

    /// Unpacks elements of less than a byte to one code per byte.
    pub fn codes(&self) -> Result<Vec<u8>, NotFolded> {
        let bits = self.dtype.bits() as usize;
        if !matches!(bits, 1..8) {
            return reject!("elements of type {} are not packed", name_of(self.dtype));
        }
        let mask = (1u8 << bits) - 1;
        let bytes = self.bytes();
        let byte = |at: usize| u16::from(bytes.get(at).copied().unwrap_or(0));
        let code = |start: usize| {
            let window = byte(start / 8) | byte(start / 8 + 1) << 8;
            (window >> (start % 8)) as u8 & mask
        };
        Ok((0..self.len()).map(|i| code(i * bits)).collect())
    }

    /// Maps each element to an element of the result.
    pub(crate) fn map<'r, T: AnyBitPattern + NoUninit, R: NoUninit>(
        &self,
        dtype: DType,
        mut each: impl FnMut(T) -> R,
    ) -> Result<Tensor<'r>, NotFolded> {
        let elements = self.stored::<T>()?.iter().map(|&x| each(x)).collect();
        Ok(Tensor::from_vec(dtype, self.shape.clone(), elements))
    }

    /// Like [`Tensor::map`]. If `each` returns `None`, the op isn't folded, for the reason `undefined`.
    pub(crate) fn try_map<'r, T: AnyBitPattern + NoUninit, R: NoUninit + Zeroable>(
        &self,
        dtype: DType,
        undefined: &str,
        each: impl Fn(T) -> Option<R>,
    ) -> Result<Tensor<'r>, NotFolded> {
        let mut defined = true;
        // Without an early exit, the compiler vectorizes the loop.
        let result = self.map(dtype, |x| {
            each(x).unwrap_or_else(|| {
                defined = false;
                R::zeroed()
            })
        })?;
        ensure!(defined, "{undefined}");
        Ok(result)
    }

    /// Packs codes. The inverse of [`Tensor::codes`].
    pub fn from_codes(dtype: DType, shape: Vec<usize>, codes: &[u8]) -> Tensor<'a> {
        let bits = dtype.bits() as usize;
        let mask = (1u8 << bits) - 1;
        // Eight elements are a whole number of bytes.
        let pack = |chunk: &[u8]| {
            let codes = chunk.iter().rev();
            let stream = codes.fold(0u64, |stream, code| stream << bits | u64::from(code & mask));
            stream
                .to_le_bytes()
                .into_iter()
                .take((chunk.len() * bits).div_ceil(8))
        };
        let packed: Vec<u8> = codes.chunks(8).flat_map(pack).collect();
        Tensor::from_vec(dtype, shape, packed)
    }

    /// Returns the strings.
    pub fn strings(&self) -> Result<Vec<&[u8]>, NotFolded> {
        let is_string = self.dtype == DType::STRING;
        if !is_string {
            return reject!("expected element type str, found {}", name_of(self.dtype));
        }
        let (table, text) = self.bytes().split_at((self.len() + 1) * 8);
        let ends: Vec<usize> = table.chunks_exact(8).map(offset).collect();
        Ok(ends
            .windows(2)
            .map(|pair| &text[pair[0]..pair[1]])
            .collect())
    }
}

impl fmt::Debug for Tensor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, bytes) = (name_of(self.dtype), self.bytes());
        write!(f, "{name}{:?} {bytes:02x?}", self.shape)
    }
}

/// Returns the name of an element type for messages, or its code if it is unknown.
pub(crate) fn name_of(dtype: DType) -> Cow<'static, str> {
    match dtype.name() {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(dtype.0.to_string()),
    }
}

/// Returns the number of elements of a shape.
pub(crate) fn element_count(shape: &[usize]) -> Result<usize, NotFolded> {
    // A dim of 0 must not hide an overflow of the other dims from later products.
    let product = shape
        .iter()
        .try_fold(1usize, |count, &dim| count.checked_mul(dim.max(1)));
    match product {
        Some(product) if product <= isize::MAX as usize => Ok(shape.iter().product()),
        _ => reject!("shape {shape:?} has too many elements"),
    }
}

/// Builds an array of a shape from elements.
pub(crate) fn in_shape<'a, T: Clone>(
    shape: &[usize],
    elements: Cow<'a, [T]>,
) -> Result<Elements<'a, T>, NotFolded> {
    let shaped = match elements {
        Cow::Borrowed(slice) => {
            ndarray::ArrayView::from_shape(IxDyn(shape), slice).map(CowArray::from)
        }
        Cow::Owned(vector) => ArrayD::from_shape_vec(IxDyn(shape), vector).map(CowArray::from),
    };
    shaped.map_err(|error| {
        NotFolded::new(format!(
            "shape {shape:?} does not fit the elements: {error}"
        ))
    })
}

/// Returns the elements of an array in row-major order.
pub(crate) fn in_order<T: Copy>(array: ArrayD<T>) -> Vec<T> {
    if !array.is_standard_layout() {
        return in_order(row_by_row(&array.view()));
    }
    let count = array.len();
    let (mut all, offset) = array.into_raw_vec_and_offset();
    // A slice of a larger array still owns the surrounding elements.
    all.truncate(offset.unwrap_or(0) + count);
    all.drain(..offset.unwrap_or(0));
    all
}

/// Copies a view to an array in row-major layout.
pub(crate) fn row_by_row<T: Copy>(view: &ArrayViewD<T>) -> ArrayD<T> {
    match view.first() {
        Some(&first) if !view.is_standard_layout() => {
            let mut copy = ArrayD::from_elem(view.raw_dim(), first);
            copy.assign(view);
            copy
        }
        _ => view.to_owned(),
    }
}

/// Reads a little-endian offset of a string table.
fn offset(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | byte as usize)
}

/// Checks a string table: offsets start at 0, never decrease, and end at the end of the bytes.
fn check_strings(elements: usize, bytes: &[u8]) -> Result<(), NotFolded> {
    let table = elements.checked_add(1).and_then(|n| n.checked_mul(8));
    let is_whole = |(table, text): (&[u8], &[u8])| {
        let mut ends = table.chunks_exact(8).map(offset);
        ends.clone().next() == Some(0)
            && ends.clone().is_sorted()
            && ends.next_back() == Some(text.len())
    };
    let parts = table.and_then(|table| bytes.split_at_checked(table));
    if !parts.is_some_and(is_whole) {
        return reject!("invalid offsets in a string tensor");
    }
    Ok(())
}
