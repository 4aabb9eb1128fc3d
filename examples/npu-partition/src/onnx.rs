//! Writing a partition as an ONNX model. It supports the parts of the format that the accelerator's kernels need.
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::DimKind;
use passdock_plugin_api::Snapshot;

/// Returns the bytes of a model with a function as its graph. The model includes the functions that it calls, which are
/// patterns or ops in other layouts.
pub fn model(m: &Module, f: &Function) -> Result<Vec<u8>, PassError> {
    let mut model = Message::default();
    model.number(1, 8);
    model.text(2, "npu-partition");
    model.message(7, graph(f)?);
    let called = called(m, f)?;
    opsets(&mut model, 8, f, &called);
    for callee in &called {
        model.message(25, function(callee, &called)?);
    }
    Ok(model.0)
}

/// Returns the functions that a function calls, directly and indirectly.
fn called<'h>(m: &Module<'h>, f: &Function) -> Result<Vec<Snapshot<'h>>, PassError> {
    let mut called: Vec<Snapshot> = Vec::new();
    let mut names: Vec<String> = f.iter().map(|op| f.name(op).to_owned()).collect();
    while let Some(name) = names.pop() {
        let is_new = called.iter().all(|known| known.function_name() != name);
        if is_new && m.function(&*name).is_some() {
            let callee = m.snapshot(&*name)?;
            names.extend(callee.iter().map(|op| callee.name(op).to_owned()));
            called.push(callee);
        }
    }
    Ok(called)
}

/// Adds the opset versions of ONNX and of the called functions' domains to `field` of a message.
fn opsets(message: &mut Message, field: u64, f: &Function, called: &[Snapshot]) {
    let is_called = |domain: &str| {
        let mut names = called.iter().map(|callee| callee.function_name());
        domain.is_empty() || names.any(|name| split(name).0 == domain)
    };
    for (domain, version) in f.opsets().filter(|(domain, _)| is_called(domain)) {
        let mut opset = Message::default();
        opset.text(1, domain);
        opset.number(2, version);
        message.message(field, opset);
    }
}

/// Splits a name into its domain and the rest. ONNX's domain is "".
fn split(name: &str) -> (&str, &str) {
    match name.rsplit_once('.') {
        Some(("onnx", name)) => ("", name),
        Some(parts) => parts,
        None => ("", name),
    }
}

fn function(f: &Function, called: &[Snapshot]) -> Result<Message, PassError> {
    let mut function = Message::default();
    let end = f
        .terminator(f.body())
        .ok_or("the function has no terminator")?;
    let (domain, own) = split(f.function_name());
    function.text(1, own);
    for &value in f.params() {
        function.text(4, &name(f, value));
    }
    for value in f.operands(end) {
        function.text(5, &name(f, value));
    }
    for (id, constant) in f.constants() {
        let mut value = Message::default();
        value.text(1, "value");
        value.message(5, tensor(f, id, "")?);
        value.number(20, 4);
        let mut node = Message::default();
        node.text(2, &name(f, constant.value));
        node.text(4, "Constant");
        node.message(5, value);
        function.message(7, node);
    }
    for op in f.ops_in(f.body()).filter(|op| *op != end) {
        function.message(7, node(f, op)?);
    }
    opsets(&mut function, 9, f, called);
    function.text(10, domain);
    Ok(function)
}

fn graph(f: &Function) -> Result<Message, PassError> {
    let mut graph = Message::default();
    let end = f
        .terminator(f.body())
        .ok_or("the partition has no terminator")?;
    for op in f.ops_in(f.body()).filter(|op| *op != end) {
        graph.message(1, node(f, op)?);
    }
    graph.text(2, f.function_name());
    for (id, constant) in f.constants() {
        let name = name(f, constant.value);
        graph.message(5, tensor(f, id, &name)?);
    }
    for &value in f.params() {
        graph.message(11, value_info(f, value)?);
    }
    for value in f.operands(end) {
        graph.message(12, value_info(f, value)?);
    }
    Ok(graph)
}

fn node(f: &Function, op: OpId) -> Result<Message, PassError> {
    let mut node = Message::default();
    f.operands(op)
        .for_each(|value| node.text(1, &name(f, value)));
    f.results(op)
        .iter()
        .for_each(|value| node.text(2, &name(f, *value)));
    node.text(3, f.loc_name(op).unwrap_or(""));
    let (domain, kind) = split(f.name(op));
    node.text(4, kind);
    for (key, attr) in f.attrs(op) {
        node.message(5, attribute(f, f.text(key), attr)?);
    }
    if !domain.is_empty() {
        node.text(7, domain);
    }
    Ok(node)
}

fn attribute(f: &Function, key: &str, attr: Attr<'_>) -> Result<Message, PassError> {
    let mut message = Message::default();
    message.text(1, key);
    let kind = match attr {
        Attr::Float(value) => {
            message.float(2, value);
            1
        }
        Attr::Int(value) => {
            message.number(3, value);
            2
        }
        Attr::String(value) => {
            message.bytes(4, value);
            3
        }
        Attr::Tensor(id) => {
            message.message(5, tensor(f, id, "")?);
            4
        }
        Attr::Floats(values) => {
            values.iter().for_each(|value| message.float(7, *value));
            6
        }
        Attr::Ints(values) => {
            values.iter().for_each(|value| message.number(8, *value));
            7
        }
        _ => return Err(PassError::new(format!("unsupported attribute `{key}`"))),
    };
    message.number(20, kind);
    Ok(message)
}

fn tensor(f: &Function, id: ConstId, name: &str) -> Result<Message, PassError> {
    let record = f.constant_record(id).ok_or("missing constant")?;
    let ty = f.ty(record.ty);
    let mut tensor = Message::default();
    for size in ty.shape().unwrap_or_default() {
        tensor.number(1, size);
    }
    tensor.number(2, element_type(ty.dtype())?);
    tensor.text(8, name);
    tensor.bytes(9, f.constant_bytes(id)?);
    Ok(tensor)
}

fn value_info(f: &Function, value: ValueId) -> Result<Message, PassError> {
    let mut shape = Message::default();
    for size in f.dims(value).into_iter().flatten() {
        let mut dim = Message::default();
        match size.kind {
            DimKind::CONST => dim.number(1, size.value),
            DimKind::SYMBOL => dim.text(2, f.text(SymbolId(size.value as u32))),
            _ => {}
        }
        shape.message(1, dim);
    }
    let (mut tensor, mut ty, mut info) = Default::default();
    Message::number(&mut tensor, 1, element_type(f.dtype(value))?);
    tensor.message(2, shape);
    Message::message(&mut ty, 1, tensor);
    Message::text(&mut info, 1, &name(f, value));
    info.message(2, ty);
    Ok(info)
}

/// Returns a value's name in the file; `""` for an omitted operand.
fn name(f: &Function, value: ValueId) -> String {
    match f.value_name(value) {
        _ if value.is_none() => String::new(),
        Some(name) => name.to_owned(),
        None => format!("value_{}", value.0),
    }
}

fn element_type(dtype: Option<DType>) -> Result<i64, PassError> {
    match dtype {
        Some(DType::F32) => Ok(1),
        Some(DType::I32) => Ok(6),
        Some(DType::I64) => Ok(7),
        Some(DType::BOOL) => Ok(9),
        _ => Err(PassError::new(format!(
            "unsupported element type `{}`",
            dtype.and_then(DType::name).unwrap_or("?")
        ))),
    }
}

/// A protobuf message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: i64) {
        self.varint(field << 3);
        self.varint(value as u64);
    }

    fn float(&mut self, field: u64, value: f32) {
        self.varint(field << 3 | 5);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, value: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    fn text(&mut self, field: u64, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    fn message(&mut self, field: u64, value: Message) {
        self.bytes(field, &value.0);
    }
}
