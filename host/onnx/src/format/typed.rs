//! Conversion between the typed data fields of `TensorProto` and the IR's bytes.
//!
//! The IR stores elements little-endian and packed as ONNX packs raw data. Strings are stored as `n + 1` offsets of
//! type `u64`, followed by their bytes. For an unsupported element type, the bytes are the data's records in the file.

use passdock_abi::DType;
use passdock_ir::constant::{pack_bits, string_data, string_elements, unpack_bits};

use super::error::{OnnxError, Result};
use super::fields::bodies;
use super::schema::tensor;
use super::wire::{Message, push_fixed, push_varints, put_bytes, put_head, put_varint};

/// Returns the field for the elements of a type that aren't raw, or `None` for an unsupported type.
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

/// Decodes a tensor's typed data. `byte_len` is the size that follows from its shape.
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
            "expected {byte_len} bytes of data for its shape, found {}",
            bytes.len()
        );
        return Err(OnnxError::at(tensor.at, what));
    }
    Ok(bytes)
}

/// Returns the records with a tensor's data. They are the data itself if the element type is unknown.
fn records(tensor: Message<'_>) -> impl Iterator<Item = Result<Message<'_>>> {
    tensor.fields().filter_map(|field| match field {
        Ok(field) => is_data(field.number).then_some(Ok(field.record)),
        Err(error) => Some(Err(error.into())),
    })
}

/// Returns the size of the data of a tensor of unknown element type, in bytes.
pub(crate) fn records_len(tensor: Message<'_>) -> Result<u64> {
    records(tensor).map(|record| Ok(record?.len())).sum()
}

/// Whether a field of a tensor has its data.
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

/// Converts numbers to their low bytes. Elements smaller than a byte are already packed in the numbers, except those of
/// six bits, which are packed here.
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

/// Returns the number of strings in a tensor, and the size of their bytes in the IR.
pub(crate) fn string_len(tensor: Message<'_>) -> Result<(u64, u64)> {
    let (mut count, mut len) = (0, 8);
    for text in bodies(tensor, tensor::STRING_DATA) {
        count += 1;
        len += 8 + text?.len();
    }
    Ok((count, len))
}

/// Appends the typed field for these bytes, packed. For an unknown type, the bytes are the records.
pub(crate) fn put_typed(to: &mut Vec<u8>, dtype: DType, bytes: &[u8], count: u64) -> Result {
    let Some(number) = typed_field(dtype) else {
        to.extend(bytes);
        return Ok(());
    };
    if dtype == DType::STRING {
        let texts = string_elements(bytes, count)
            .ok_or_else(|| OnnxError::new("malformed data of a string constant"))?;
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

    /// Bytes of each dtype are unchanged after encoding and decoding.
    #[test]
    fn typed_data_round_trips() {
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

    /// Elements of six bits are separate numbers in the typed field and packed in raw data, as in onnx.
    #[test]
    fn six_bit_elements_are_packed() {
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
    fn malformed_strings_are_rejected() {
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
