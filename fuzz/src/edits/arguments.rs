//! Arguments of calls: mostly valid ones, and many kinds of invalid ones.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

use passdock_abi as abi;
use passdock_abi::{
    AnalysisApi, AttrDesc, AttrKind, Bytes, Column, ConstId, DType, Dim, DimKind, FunctionRef,
    FunctionView, LaidOut, LocId, OpId, Position, RegionId, Setting, Status, Str, SymbolId,
    TypeDesc, TypeId, TypeKind, ValueId,
};
use passdock_core::boundary::host;

use super::input::{below, byte, mostly, one_in, pick};
use super::pass::NONE;

/// The maximum number of elements in a list.
const MAX_COUNT: usize = 4;

/// A type of arguments and results.
pub(super) trait Argument: Copy + 'static {
    fn argument(_: &Call) -> Self {
        unreachable!("only a type of results")
    }

    /// Reads the memory that a result points to.
    fn look(&self) {}
}

/// A call that is about to be made.
pub(super) struct Call {
    pub(super) function: *mut abi::Function,
    /// The function's view; null if its handle has ended.
    pub(super) view: *const FunctionView,
    /// A function to copy from.
    pub(super) source: FunctionRef,
    pub(super) module: *mut abi::Module,
    /// The names of the module's functions.
    pub(super) names: Vec<SymbolId>,
    pub(super) context: *mut abi::Context,
    pub(super) call: *mut abi::OpCall,
    symbols: *const abi::Symbols,
    /// The memory that arguments point to.
    arena: RefCell<Vec<Box<dyn Any>>>,
    rooms: RefCell<Vec<Room>>,
}

/// Memory for results, followed by guard bytes that must not change.
struct Room {
    start: *mut u8,
    before: Vec<u8>,
    /// The number of bytes that may be written.
    size: usize,
    look: unsafe fn(*const u8),
}

impl Call {
    pub(super) fn new(symbols: *const abi::Symbols) -> Call {
        Call {
            function: null_mut(),
            view: null(),
            source: NONE,
            module: null_mut(),
            names: Vec::new(),
            context: null_mut(),
            call: null_mut(),
            symbols,
            arena: RefCell::default(),
            rooms: RefCell::default(),
        }
    }

    pub(super) fn get<T: Argument>(&self) -> T {
        T::argument(self)
    }

    /// Returns the id of an entity, mostly of one in the function, live or erased.
    fn id(&self, count: fn(&FunctionView) -> u32) -> u32 {
        // SAFETY: the view is valid or null.
        let count = unsafe { self.view.as_ref() }.map_or(4, count);
        match byte() {
            byte @ 0..248 if count > 0 => u32::from(byte) % count,
            248 => count,
            0..253 => u32::MAX,
            253 => u32::MAX - 1,
            254 => 1 << 31,
            255 => 1 << 16,
        }
    }

    /// Returns a pointer to a description.
    pub(super) fn described<T: Argument>(&self) -> *const T {
        let at: *const T = self.keep(vec![T::argument(self)]);
        mostly(at, &[null(), at.wrapping_byte_add(1)])
    }

    /// Returns a list. It has enough memory for the count of any other list.
    pub(super) fn list<T: Argument>(&self) -> (*const T, usize) {
        let counts: &[usize] = match size_of::<T>() {
            0..=32 => &[0, 1, 1, 2, 3],
            _ => &[0, 0, 0, 1, 2],
        };
        let count = pick(counts);
        let mut items: Vec<T> = (0..count.max(1)).map(|_| self.get()).collect();
        items.resize(MAX_COUNT, items[0]);
        let at: *const T = self.keep(items);
        let at = mostly(at, &[null(), at.wrapping_byte_add(1)]);
        (at, mostly(count, &[usize::MAX, (1 << 30) + 1]))
    }

    /// Returns a pointer to memory for a result.
    pub(super) fn room<T: Argument>(&self) -> *mut T {
        self.room_for::<T>(1)
    }

    /// Returns memory for results, and their count.
    pub(super) fn rooms<T: Argument>(&self) -> (*mut T, usize) {
        let count = pick(&[1, 1, 0, 2, MAX_COUNT]);
        (self.room_for::<T>(MAX_COUNT), count)
    }

    /// Returns memory for a pointer and a count.
    pub(super) fn view<T>(&self) -> (*mut *const T, *mut usize)
    where
        *const T: Argument,
    {
        (self.room(), self.room())
    }

    fn room_for<T: Argument>(&self, count: usize) -> *mut T {
        // `u64`s, so that it is aligned.
        let size = count * size_of::<T>();
        let mut words = vec![0xDEAD_BEEF_DEAD_BEEF_u64; size.div_ceil(8) + 1];
        // A struct starts with its size.
        words[0] = u64::from(sized(size_of::<T>()));
        let before = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let start = self.keep(words).cast::<u8>();
        self.rooms.borrow_mut().push(Room {
            start,
            before,
            size,
            // SAFETY: the host wrote a `T` there.
            look: |at| unsafe { at.cast::<T>().read() }.look(),
        });
        mostly(start, &[null_mut(), start.wrapping_add(1)]).cast()
    }

    fn keep<T: 'static>(&self, items: Vec<T>) -> *mut T {
        let mut items = items.into_boxed_slice();
        let at = items.as_mut_ptr();
        self.arena.borrow_mut().push(Box::new(items));
        at
    }

    /// Returns the first result, which the host wrote.
    pub(super) fn written<T: Argument>(&self) -> T {
        // SAFETY: the first result is a `T`.
        unsafe { self.rooms.borrow()[0].start.cast::<T>().read() }
    }

    /// Checks a call that returned: it wrote results only if it succeeded, and nothing out of bounds.
    pub(super) fn check(&self, name: &str, status: Option<Status>) {
        let Some(status) = status else { return };
        assert!(status.0 <= Status::CONFIG.0, "`{name}`: {status:?}");
        for room in self.rooms.borrow().iter() {
            // SAFETY: the arena owns the memory.
            let after = unsafe { std::slice::from_raw_parts(room.start, room.before.len()) };
            let written = if status.is_ok() { room.size } else { 0 };
            let is_same = after[written..] == room.before[written..];
            assert!(is_same, "`{name}`, {status:?}: written out of bounds");
            if status.is_ok() {
                // SAFETY: the host wrote it, and what it points to lives until the next edit.
                unsafe { (room.look)(room.start) };
            }
        }
    }
}

/// Returns the size of a struct, mostly the correct one.
pub(super) fn sized(size: usize) -> u32 {
    let size = size as u32;
    // Wrong sizes end at a field, so that no pointer is cut, or are larger than any struct, whose rest isn't read.
    mostly(size, &[0, 3, 4, 8, 16, size / 16 * 8, size + (1 << 16)])
}

/// Returns the stride of a list. It never exceeds the correct one, which the memory is sized for.
pub(super) fn stride(size: usize) -> u32 {
    let size = size as u32;
    mostly(size, &[0, 8, size / 16 * 8, size - 3])
}

pub(super) fn flags() -> u32 {
    pick(&[0, 0, 0, 0, 0, 1, 2, 3])
}

/// Returns the table of analyses.
pub(super) fn analysis_table() -> *const AnalysisApi {
    host().get().analyses
}

thread_local! {
    /// The number of the plugin's data that the host hasn't dropped yet.
    static LEFT: Cell<i64> = const { Cell::new(0) };
}

/// Checks that the host has dropped all data exactly once.
pub(super) fn assert_dropped() {
    assert_eq!(LEFT.get(), 0, "analyses that were never dropped");
}

pub(super) unsafe extern "C" fn drop_data(
    _: *const abi::Host,
    _: *mut abi::Context,
    data: *mut c_void,
) {
    LEFT.set(LEFT.get() - 1);
    // SAFETY: `argument` made it from a `Box`, and the host drops it once.
    drop(unsafe { Box::from_raw(data.cast::<u64>()) });
}

/// Data of an analysis.
impl Argument for *mut c_void {
    fn argument(_: &Call) -> *mut c_void {
        if one_in(16) {
            return null_mut();
        }
        LEFT.set(LEFT.get() + 1);
        Box::into_raw(Box::new(u64::from(byte()))).cast()
    }

    fn look(&self) {
        // SAFETY: the host returns pointers that `argument` made.
        assert!(unsafe { *self.cast::<u64>() } < 256, "another's data");
    }
}

macro_rules! ids {
    ($($id:ident: $column:ident;)*) => {$(
        impl Argument for $id {
            fn argument(c: &Call) -> $id {
                $id(c.id(|view| view.$column.len))
            }
        }
    )*};
}

ids! { OpId: ops; ValueId: values; RegionId: regions; ConstId: constants; TypeId: types; LocId: locs; }

macro_rules! numbers {
    ($($number:ty: $values:expr;)*) => {$(
        impl Argument for $number {
            fn argument(_: &Call) -> $number {
                pick(&$values)
            }
        }
    )*};
}

/// Its address identifies the owner of the analyses' data.
static OWNER: u8 = 0;

numbers! {
    u32: [0, 0, 0, 1, 1, 2, 3, 4, 1 << 24, u32::MAX];
    u64: [1 << 16, 8, 0, u64::MAX];
    i64: [1, 0, -1, 17, 2, i64::MAX, i64::MIN, 18, 1 << 31, 1 << 40];
    usize: [8, 4, 0, 16, 1, 1 << 40, usize::MAX];
    *const c_void: [&raw const OWNER, &raw const OWNER, &raw const OWNER, null()].map(|at: *const u8| at.cast());
    DType: [1, 1, 1, 1, 7, 9, 8, 10, 16, 17, 23, 39, 0x8001, 0xFFFF, 1 << 16].map(DType);
    TypeKind: [1, 1, 1, 1, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(TypeKind);
    abi::Severity: [30, 40, 50, 20, 10, 0, 77].map(abi::Severity);
    abi::FunctionKind: [1, 2, 1, 1, 0, 3].map(abi::FunctionKind);
    AttrKind: std::array::from_fn::<_, 16, _>(|number| AttrKind(number as u32));
    abi::ExprKind: std::array::from_fn::<_, 16, _>(|number| abi::ExprKind(number as u32));
    abi::OpPart: std::array::from_fn::<_, 16, _>(|number| abi::OpPart(number as u32));
    abi::PassKind: std::array::from_fn::<_, 16, _>(|number| abi::PassKind(number as u32));
}

impl Argument for *const abi::AttrEntry {}
impl Argument for *const Dim {}
impl Argument for *const abi::Metadata {}
impl Argument for *mut u8 {}
impl Argument for FunctionRef {}
impl Argument for Column {}
impl Argument for LaidOut {}
impl Argument for Setting {}

impl Argument for abi::Capture {
    fn argument(c: &Call) -> abi::Capture {
        let (value, replacement) = (c.get(), c.get());
        abi::Capture { value, replacement }
    }
}

impl Argument for Position {
    fn argument(c: &Call) -> Position {
        let (end, before) = (Position::end_of(c.get()), Position::before(c.get()));
        let both = Position {
            region: end.region,
            ..before
        };
        pick(&[end, before, both])
    }
}

/// Mostly small constants.
impl Argument for Dim {
    fn argument(c: &Call) -> Dim {
        match below(16) {
            0..=7 => Dim::constant(pick(&[2, 2, 2, 1, 3, 4, 0])),
            8 | 9 => Dim::symbol(c.get()),
            10..=12 => Dim {
                kind: DimKind::EXPR,
                ..Dim::constant(c.id(|view| view.exprs.len).into())
            },
            13 => Dim::UNKNOWN,
            14 => Dim::constant(c.get()),
            _ => Dim {
                kind: DimKind(below(6) as u32),
                denotation: c.get(),
                value: c.get(),
            },
        }
    }
}

/// Mostly small tensors, which constants can have.
impl Argument for TypeDesc {
    fn argument(c: &Call) -> TypeDesc {
        let kind = c.get();
        let ((dims, dim_count), (items, item_count)) = (c.list(), c.list());
        let offset = usize::from(kind == TypeKind::BUFFER);
        TypeDesc {
            struct_size: sized(size_of::<TypeDesc>()),
            kind,
            dtype: c.get(),
            lanes: pick(&[0, 0, 0, 0, 1, 4, u32::MAX]),
            flags: pick(&[0, 0, 0, 0, 1, 2, 255]),
            name: pick(&[SymbolId::NONE, SymbolId::NONE, c.get()]),
            dims,
            dim_count,
            layout: dims,
            layout_count: pick(&[0, 0, dim_count.saturating_add(offset)]),
            items,
            item_count,
        }
    }
}

impl Argument for AttrDesc {
    fn argument(c: &Call) -> AttrDesc {
        fn list<T: Argument>(c: &Call) -> (*const c_void, usize) {
            let (at, count) = c.list::<T>();
            (at.cast(), count)
        }
        let kind: AttrKind = c.get();
        let (data, count) = match kind {
            AttrKind::INTS => list::<i64>(c),
            // Lists of numbers and of ids.
            AttrKind::FLOATS | AttrKind::TYPES | AttrKind::TENSORS => list::<u32>(c),
            AttrKind::STRINGS => list::<Bytes>(c),
            AttrKind::STRING | AttrKind::OPAQUE => {
                let bytes: Bytes = c.get();
                (bytes.ptr.cast(), bytes.len)
            }
            _ => (null(), 0),
        };
        AttrDesc {
            struct_size: sized(size_of::<AttrDesc>()),
            kind,
            name: c.get(),
            flags: u32::from(one_in(8)),
            bits: pick(&[0, 1, 2, 7, 64, 1 << 31, 0x7FC0_0001, u64::MAX, 1 << 63]),
            data,
            count,
            stands_for: pick(&[AttrKind::NONE, AttrKind::NONE, AttrKind::NONE, c.get()]),
            reserved: 0,
        }
    }
}

/// Returns an op's body, mostly a valid one.
pub(super) fn body() -> Str {
    let bodies: Vec<&str> = include_str!("bodies.txt").lines().collect();
    Str::new(pick(&bodies))
}

/// Strings, separated by newlines. Some aren't valid UTF-8. The first ones are chosen more often.
const TEXTS: &[u8] = b"x\nmain\nliveness\nf.transform.Function\nlist\nrule twice { f.A(f.A(%x)) => f.A(%x) }\ny\n\n\
    f.new\nf.helper\nf\norder\neffects\nnames\ntable\nf.Config\nn\na/b:0\n0\nv3\n%x\na \"maker\"\t\nnul\0inside\n\xff\n\
    cut \xe2\x82\n\xc2\x85\x1b[31m\nonnx\nai.onnx\ncom.microsoft\nf.new#v2\n_";

impl Argument for Str {
    fn argument(_: &Call) -> Str {
        // The longest string is rare, because it is slow.
        let text = match byte() {
            255 => &[b'l'; 70_000],
            byte @ 0..192 => {
                let texts: Vec<&[u8]> = TEXTS.split(|byte| *byte == b'\n').collect();
                texts[below(1 + usize::from(byte) % texts.len())]
            }
            _ => return body(),
        };
        // If a string is too long, the host only reads its length.
        let len = mostly(text.len(), &[usize::MAX, (1 << 30) + 1]);
        let ptr = mostly(text.as_ptr(), &[null()]);
        Str { ptr, len }
    }

    fn look(&self) {
        if self.len > 0 {
            // SAFETY: the ABI requires that the host's strings are readable.
            let bytes = unsafe { std::slice::from_raw_parts(self.ptr, self.len) };
            str::from_utf8(bytes).expect("the host's texts are UTF-8");
        }
    }
}

/// Mostly lengths of small tensors: few types have as many bytes as one of the strings.
impl Argument for Bytes {
    fn argument(c: &Call) -> Bytes {
        let Str { ptr, len } = c.get();
        let len = pick(&[len, 8, 8, 4, 16, 24]).min(len);
        Bytes { ptr, len }
    }

    fn look(&self) {
        if self.len > 0 {
            // SAFETY: the host's bytes are valid until the next edit.
            std::hint::black_box(unsafe { (self.ptr.read(), self.ptr.add(self.len - 1).read()) });
        }
    }
}

/// Names of ops, attributes and other entities.
const NAMES: &str = "f.A f.B f.Two f.Body f.Wild f.Outer onnx.Relu onnx.If onnx.Conv call if for while tuple tuple_get \
    return yield main f.helper my.Fn#v2 callee index kind k then_branch else_branch body a b n alpha tir.load f.A#v2 \
    x.\"A.B\" a\u{a0}b onnx ai.onnx \u{e9}\u{202e} doc";

/// Mostly the symbol of a name or of a function in the module, otherwise a number that may be invalid.
impl Argument for SymbolId {
    fn argument(c: &Call) -> SymbolId {
        match byte() {
            byte @ 0..64 if !c.names.is_empty() => c.names[usize::from(byte) % c.names.len()],
            byte @ 0..236 => {
                let mut names = NAMES.split(' ').cycle();
                let name = Str::new(names.nth(byte.into()).unwrap_or_default());
                // SAFETY: the host's table is never freed, and the symbols live as long as the module.
                unsafe { (*host().get().symbols).intern.expect("the host's")(c.symbols, name) }
            }
            byte @ 236..250 => SymbolId(u32::from(byte) - 236),
            250..254 => SymbolId::NONE,
            254 => SymbolId(1 << 31),
            255 => SymbolId(100_000),
        }
    }
}
