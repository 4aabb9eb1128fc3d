//! Tensor data that isn't raw: the typed fields of `TensorProto`, to and from the IR's bytes.
//!
//! The IR keeps elements little-endian and packed as ONNX packs raw data; strings as `n + 1` `u64`
//! offsets and then their bytes. Of a type that this version doesn't know they are the records that the
//! file has.

use passdock_abi::DType;
use passdock_ir::constant::{pack_bits, string_data, string_elements, unpack_bits};

use super::error::{OnnxError, Result};
use super::fields::bodies;
use super::schema::tensor;
use super::wire::{Message, push_fixed, push_varints, put_bytes, put_head, put_varint};

/// The field that holds elements of a type when they aren't raw; `None`: unknown to this version.
pub(crate) fn typed_field(dtype: DType) -> Option<u32> {
    Some(match dtype {
        DType::F32 | DType::C64 => tensor::FLOAT_DATA,
        DType::F64 | DType::C128 => tensor::DOUBLE_DATA,
        DType::I64 => tensor::INT64_DATA,
        DType::U32 | DType::U64 => tensor::UINT64_DATA,
        DType::STRING => tensor::STRING_DATA,
        _ if matches!(dtype.bits(), 1..=32) && dtype != DType::INDEX => tensor::INT32_DATA,
        _ => return None,
    })
}

/// Decodes a tensor's typed data; `byte_len` is what its shape asks for.
pub(crate) fn decode(tensor: Message<'_>, dtype: DType, byte_len: u64) -> Result<Vec<u8>> {
    let Some(number) = typed_field(dtype) else {
        let mut bytes = Vec::new();
        for record in records(tensor) {
            bytes.extend_from_slice(record?.bytes);
        }
        return Ok(bytes);
    };
    if dtype == DType::STRING {
        let texts = bodies(tensor, tensor::STRING_DATA).map(|text| Ok(text?.bytes));
        return Ok(string_data(&texts.collect::<Result<Vec<_>>>()?));
    }
    let mut bytes = Vec::new();
    let mut ints = Vec::new();
    for field in tensor.fields() {
        let field = field?;
        if field.number != number {
            continue;
        }
        match number {
            tensor::FLOAT_DATA => push_fixed(field.value, 4, &mut bytes)?,
            tensor::DOUBLE_DATA => push_fixed(field.value, 8, &mut bytes)?,
            _ => push_varints(field.value, &mut ints)?,
        };
    }
    if !matches!(number, tensor::FLOAT_DATA | tensor::DOUBLE_DATA) {
        bytes = narrow(&ints, dtype);
    }
    if bytes.len() as u64 != byte_len {
        let what = format!(
            "its shape asks for {byte_len} bytes of data and it has {}",
            bytes.len()
        );
        return Err(OnnxError::at(tensor.at, what));
    }
    Ok(bytes)
}

/// The records with the data of a tensor, which are all that is known of it where its type isn't.
fn records(tensor: Message<'_>) -> impl Iterator<Item = Result<Message<'_>>> {
    tensor.fields().filter_map(|field| match field {
        Ok(field) => is_data(field.number).then_some(Ok(field.record)),
        Err(error) => Some(Err(error.into())),
    })
}

/// The number of bytes of the data of a tensor whose type isn't known.
pub(crate) fn records_len(tensor: Message<'_>) -> Result<u64> {
    records(tensor).map(|record| Ok(record?.len())).sum()
}

/// Whether a tensor's field holds its data.
pub(crate) fn is_data(number: u32) -> bool {
    matches!(
        number,
        tensor::RAW_DATA
            | tensor::FLOAT_DATA
            | tensor::INT32_DATA
            | tensor::STRING_DATA
            | tensor::INT64_DATA
            | tensor::DOUBLE_DATA
            | tensor::UINT64_DATA
    )
}

/// The low bytes of each number. Elements smaller than a byte come packed, a byte to a number, except
/// those of six bits: they come one by one.
fn narrow(ints: &[i64], dtype: DType) -> Vec<u8> {
    let size = (dtype.bits() as usize / 8).max(1);
    let mut bytes = Vec::with_capacity(ints.len() * size);
    for (at, int) in (0..).zip(ints) {
        if dtype.bits() == 6 {
            pack_bits(&mut bytes, at, 6, *int as u8);
            continue;
        }
        bytes.extend_from_slice(&int.to_le_bytes()[..size]);
    }
    bytes
}

/// The number of strings in a tensor, and the number of bytes of the IR's form of them.
pub(crate) fn string_len(tensor: Message<'_>) -> Result<(u64, u64)> {
    let (mut count, mut len) = (0, 8);
    for text in bodies(tensor, tensor::STRING_DATA) {
        count += 1;
        len += 8 + text?.len();
    }
    Ok((count, len))
}

/// Appends the typed field for these bytes, packed. Of a type that isn't known they are the field.
pub(crate) fn put_typed(to: &mut Vec<u8>, dtype: DType, bytes: &[u8], count: u64) -> Result {
    let Some(number) = typed_field(dtype) else {
        to.extend(bytes);
        return Ok(());
    };
    if dtype == DType::STRING {
        let texts = string_elements(bytes, count)
            .ok_or_else(|| OnnxError::new("the bytes of a string constant aren't well formed"))?;
        texts.for_each(|text| put_bytes(to, number, text));
        return Ok(());
    }
    if bytes.is_empty() {
        return Ok(());
    }
    if matches!(number, tensor::FLOAT_DATA | tensor::DOUBLE_DATA) {
        put_bytes(to, number, bytes);
        return Ok(());
    }
    let sixes: Option<Vec<u8>> = (dtype.bits() == 6).then(|| {
        let count = count.min(bytes.len() as u64 * 8 / 6);
        (0..count).map(|at| unpack_bits(bytes, at, 6)).collect()
    });
    let bytes = sixes.as_deref().unwrap_or(bytes);
    let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32);
    let size = (dtype.bits() as usize / 8).max(1);
    let mut packed = Vec::with_capacity(bytes.len());
    for element in bytes.chunks_exact(size) {
        let mut word = [0; 8];
        word[..size].copy_from_slice(element);
        let mut value = u64::from_le_bytes(word);
        if signed {
            let unused = 64 - 8 * size as u32;
            value = ((value << unused) as i64 >> unused) as u64;
        }
        put_varint(&mut packed, value);
    }
    put_head(to, number, packed.len() as u64);
    to.extend(packed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each dtype's bytes, through its typed field and back.
    #[test]
    fn typed_data_comes_back() {
        for &dtype in DType::ALL.iter().filter(|&&dtype| dtype != DType::INDEX) {
            let bytes: Vec<u8> = match dtype {
                DType::STRING => {
                    let offsets = [0_u64, 2, 2, 5];
                    let mut bytes: Vec<u8> = offsets.iter().flat_map(|o| o.to_le_bytes()).collect();
                    bytes.extend(*b"ab\xff\xfec");
                    bytes
                }
                _ => (0..48).map(|i| (i * 37 % 251) as u8).collect(),
            };
            let count = if dtype.bits() == 6 { 64 } else { 3 };
            let mut record = Vec::new();
            put_typed(&mut record, dtype, &bytes, count).unwrap();
            let message = Message::detached(&record);
            let back = decode(message, dtype, bytes.len() as u64).unwrap();
            assert_eq!(back, bytes, "{dtype:?}");
            assert!(decode(message, dtype, 1).is_err() || dtype == DType::STRING);
        }
    }

    /// Six bits stand alone in the typed field and in a row in raw data, as onnx packs them.
    #[test]
    fn elements_of_six_bits_are_packed_four_in_three_bytes() {
        assert_eq!(narrow(&[1, 2, 3, 4], DType::F6E2M3), [0x81, 0x30, 0x10]);
        for count in 0..9_usize {
            let elements: Vec<u8> = (0..count).map(|i| (i * 23 % 64) as u8).collect();
            let ints: Vec<i64> = elements.iter().map(|&element| element.into()).collect();
            let packed = narrow(&ints, DType::F6E2M3);
            let len = DType::F6E2M3.byte_len(count as u64);
            assert_eq!(len, Some(packed.len() as u64));
            let unpacked: Vec<u8> = (0..count as u64)
                .map(|at| unpack_bits(&packed, at, 6))
                .collect();
            assert_eq!(unpacked, elements);
        }
    }

    #[test]
    fn strings_that_aren_t_well_formed_are_refused() {
        let bytes = |offsets: &[u64]| -> Vec<u8> {
            offsets
                .iter()
                .flat_map(|offset| offset.to_le_bytes())
                .chain(*b"abc")
                .collect()
        };
        let put = |bytes: &[u8], count| {
            let mut record = Vec::new();
            let put = put_typed(&mut record, DType::STRING, bytes, count);
            put.is_ok().then_some(record)
        };
        let good = put(&bytes(&[0, 1, 3]), 2);
        assert_eq!(good.as_deref(), Some(&b"\x32\x01a\x32\x02bc"[..]));
        for bad in [&[0, 1, 4][..], &[2, 1, 3], &[0]] {
            assert_eq!(put(&bytes(bad), 2), None, "{bad:?}");
        }
        assert_eq!(put(&[], u64::MAX), None);
    }
}
