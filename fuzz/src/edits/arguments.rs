//! Arguments of calls: right ones mostly, and most of what is wrong.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_void;

use passdock_abi as abi;
use passdock_abi::{
    AttrDesc, AttrKind, Bytes, ConstId, DType, Dim, DimKind, FunctionRef, LaidOut, LocId, OpId,
    Position, RegionId, Setting, SettingItem, SettingKind, Status, Str, SymbolId, TypeDesc, TypeId,
    TypeKind, ValueId,
};
use passdock_core::boundary::host;

use super::definitions::BODIES;
use super::modules;
use super::script::{Odd, Step};
use super::session::Ids;

/// The most elements of a list.
const MOST: usize = 4;

/// A type of arguments.
pub(super) trait Argument: Copy + 'static {
    /// Whether it starts with its size.
    const IS_SIZED: bool = false;

    fn argument(c: &Call<'_>) -> Self;

    /// Looks at what the host wrote, and what that points to.
    fn look(&self) {}
}

/// A call that is about to be made.
pub(super) struct Call<'s> {
    pub(super) step: &'s Step,
    pub(super) ids: Ids,
    pub(super) function: *mut abi::Function,
    pub(super) context: *mut abi::Context,
    pub(super) module: *mut abi::Module,
    pub(super) call: *mut abi::OpCall,
    pub(super) symbols: *const abi::Symbols,
    /// A function to copy from.
    pub(super) source: FunctionRef,
    /// What arguments point to.
    arena: RefCell<Vec<Box<dyn Any>>>,
    rooms: RefCell<Vec<Room>>,
}

/// Room for what the host writes, with more behind it that has to stay as it is.
struct Room {
    start: *mut u8,
    before: Vec<u8>,
    /// The elements that may be written.
    size: usize,
    look: unsafe fn(*const u8),
}

impl<'s> Call<'s> {
    pub(super) fn new(step: &'s Step, ids: Ids, symbols: *const abi::Symbols) -> Call<'s> {
        Call {
            step,
            ids,
            function: std::ptr::null_mut(),
            context: std::ptr::null_mut(),
            module: std::ptr::null_mut(),
            call: std::ptr::null_mut(),
            symbols,
            source: modules::NONE,
            arena: RefCell::default(),
            rooms: RefCell::default(),
        }
    }

    pub(super) fn get<T: Argument>(&self) -> T {
        T::argument(self)
    }

    pub(super) fn flags(&self) -> u32 {
        u32::from(self.step.pick(&[0_u8, 0, 0, 0, 0, 1, 2, 3]))
    }

    /// A pointer to a description, as wrong as the step says.
    pub(super) fn described<T: Argument>(&self) -> *const T {
        let at = self.keep(vec![T::argument(self)]);
        match self.step.odd() {
            Odd::NullDesc => std::ptr::null(),
            Odd::MisalignedDesc => at.wrapping_byte_add(1),
            _ => at,
        }
    }

    /// A list, as wrong as the step says. As many elements are there as any other list says that it has.
    pub(super) fn list<T: Argument>(&self) -> (*const T, usize) {
        let few: &[usize] = if size_of::<T>() > 32 {
            &[0, 0, 0, 1, 2]
        } else {
            &[0, 1, 1, 2, 3]
        };
        let count = self.step.pick(few);
        let mut items: Vec<T> = (0..count.max(1)).map(|_| T::argument(self)).collect();
        items.resize(MOST, items[0]);
        let at: *const T = self.keep(items);
        match self.step.odd() {
            Odd::NullList => (std::ptr::null(), count),
            Odd::MisalignedList if align_of::<T>() > 1 => (at.wrapping_byte_add(1), count),
            Odd::EndlessList => (at, usize::MAX),
            Odd::LongList => (at, (1 << 30) + 1),
            _ => (at, count),
        }
    }

    /// Room for a result.
    pub(super) fn room<T: Argument>(&self) -> *mut T {
        self.room_of::<T>(1)
    }

    /// Room for results.
    pub(super) fn rooms<T: Argument>(&self) -> (*mut T, usize) {
        (self.room_of::<T>(MOST), self.step.below(MOST))
    }

    /// Room for a pointer and a count.
    pub(super) fn view<T: Argument>(&self) -> (*mut *const T, *mut usize) {
        (self.room_of::<*const T>(1), self.room_of::<usize>(1))
    }

    fn room_of<T: Argument>(&self, count: usize) -> *mut T {
        // Words, so that it is aligned.
        let size = count * size_of::<T>();
        let mut words = vec![0xDEAD_BEEF_DEAD_BEEF_u64; size.div_ceil(8) + 1];
        if T::IS_SIZED {
            words[0] = u64::from(self.step.size(size_of::<T>()));
        }
        let before = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let start = self.keep(words).cast::<u8>();
        let out = match self.step.odd() {
            Odd::NullOut => return std::ptr::null_mut(),
            Odd::MisalignedOut if align_of::<T>() > 1 => start.wrapping_byte_add(1),
            _ => start,
        };
        self.rooms.borrow_mut().push(Room {
            start,
            before,
            size,
            // SAFETY: the host wrote a `T` there.
            look: |at| unsafe { at.cast::<T>().read() }.look(),
        });
        out.cast()
    }

    fn keep<T: 'static>(&self, items: Vec<T>) -> *mut T {
        let mut items = items.into_boxed_slice();
        let at = items.as_mut_ptr();
        self.arena.borrow_mut().push(Box::new(items));
        at
    }

    /// Checks that nothing was written unless the call was done, and nothing beyond the room; looks at what was.
    pub(super) fn check_rooms(&self, status: Status) {
        for room in self.rooms.borrow().iter() {
            // SAFETY: the arena has it.
            let after = unsafe { std::slice::from_raw_parts(room.start, room.before.len()) };
            let written = if status.is_ok() { room.size } else { 0 };
            assert_eq!(
                after[written..],
                room.before[written..],
                "{status:?}: written where nothing may be"
            );
            if status.is_ok() && self.step.odd() == Odd::Nothing {
                // SAFETY: the host wrote it, and what it points to lives until the next edit.
                unsafe { (room.look)(room.start) };
            }
        }
    }
}

macro_rules! ids {
    ($($id:ident $ids:ident)*) => {$(
        impl Argument for $id {
            fn argument(c: &Call<'_>) -> $id {
                $id(c.step.id(&c.ids.$ids.0, c.ids.$ids.1))
            }
        }
    )*};
}

ids! { OpId ops ValueId values RegionId regions ConstId constants TypeId types LocId locs }

macro_rules! numbers {
    ($($number:ty: $values:expr;)*) => {$(
        impl Argument for $number {
            fn argument(c: &Call<'_>) -> $number {
                c.step.pick(&$values)
            }
        }
    )*};
}

numbers! {
    u32: [0, 0, 0, 1, 1, 2, 3, 4, 1 << 24, u32::MAX];
    u64: [1 << 16, 8, 0, u64::MAX];
    i64: [1, 0, -1, 17, 2, i64::MAX, i64::MIN, 18];
    usize: [8, 4, 0, 16, 1, 1 << 40, usize::MAX];
    abi::Severity: [30, 40, 50, 20, 10, 0, 77].map(abi::Severity);
    abi::FunctionKind: [1, 2, 1, 1, 0, 3].map(abi::FunctionKind);
}

macro_rules! kinds {
    ($($kind:ident)*) => {$(
        impl Argument for abi::$kind {
            fn argument(c: &Call<'_>) -> abi::$kind {
                abi::$kind(u32::from(c.step.byte() % 16))
            }
        }
    )*};
}

kinds! { AttrKind ExprKind OpPart PassKind }

impl<T: 'static> Argument for *const T {
    fn argument(_: &Call<'_>) -> *const T {
        std::ptr::null()
    }
}

impl<T: 'static> Argument for *mut T {
    fn argument(_: &Call<'_>) -> *mut T {
        std::ptr::null_mut()
    }
}

impl Argument for [ValueId; 2] {
    fn argument(c: &Call<'_>) -> [ValueId; 2] {
        [c.get(), c.get()]
    }
}

impl Argument for Position {
    fn argument(c: &Call<'_>) -> Position {
        match c.step.below(3) {
            0 => Position::end_of(c.get()),
            1 => Position::before(c.get()),
            _ => Position {
                region: c.get(),
                before: c.get(),
            },
        }
    }
}

/// A dim: small constants mostly.
impl Argument for Dim {
    fn argument(c: &Call<'_>) -> Dim {
        let byte = c.step.byte();
        let mut dim = match byte {
            0..96 => Dim::constant(i64::from(byte % 4)),
            96..128 => Dim::symbol(c.get()),
            128..192 => Dim {
                kind: DimKind::EXPR,
                ..Dim::constant(i64::from(c.step.id(&[], c.ids.exprs)))
            },
            192..208 => Dim::UNKNOWN,
            208..232 => {
                Dim::constant(
                    c.step
                        .pick(&[i64::MAX, -1, i64::MIN, 1 << 31, 1 << 40, 1000]),
                )
            }
            232..240 => Dim {
                kind: DimKind(u32::from(byte)),
                ..Dim::UNKNOWN
            },
            240..248 => Dim {
                value: -1,
                ..Dim::symbol(SymbolId(0))
            },
            _ => Dim {
                value: 7,
                ..Dim::UNKNOWN
            },
        };
        if c.step.one_in(16) {
            dim.denotation = c.get();
        }
        dim
    }
}

/// An element type: one of a few mostly.
impl Argument for DType {
    fn argument(c: &Call<'_>) -> DType {
        match c.step.byte() {
            0..100 => DType::F32,
            100..130 => DType::I64,
            130..140 => DType::BOOL,
            140..150 => DType::STRING,
            other @ 150..250 => DType(u32::from(other - 150) % 40),
            250 => DType(0x8001),
            251 => DType(u32::from(u16::MAX)),
            _ => DType(1 << 16),
        }
    }
}

/// A type: small tensors mostly, which constants can have.
impl Argument for TypeDesc {
    const IS_SIZED: bool = true;

    fn argument(c: &Call<'_>) -> TypeDesc {
        let kind = match c.step.byte() {
            0..100 => TypeKind::TENSOR,
            other => TypeKind(u32::from(other % 12)),
        };
        let ((dims, dim_count), (items, item_count)) = (c.list(), c.list());
        let layout_count = match (kind, c.step.below(3)) {
            (TypeKind::BUFFER, 0) => dim_count.saturating_add(1),
            (_, 1) => dim_count,
            _ => 0,
        };
        TypeDesc {
            struct_size: c.step.size(size_of::<TypeDesc>()),
            kind,
            dtype: c.get(),
            lanes: c.step.pick(&[0, 0, 1, 4, 2, u32::MAX]),
            flags: c.step.pick(&[0, 0, 0, 1, 2, 255]),
            name: if c.step.one_in(2) {
                SymbolId::NONE
            } else {
                c.get()
            },
            dims,
            dim_count,
            layout: dims,
            layout_count,
            items,
            item_count,
        }
    }
}

impl Argument for AttrDesc {
    const IS_SIZED: bool = true;

    fn argument(c: &Call<'_>) -> AttrDesc {
        fn list<T: Argument>(c: &Call<'_>) -> (*const c_void, usize) {
            let (at, count) = c.list::<T>();
            (at.cast(), count)
        }
        let kind: AttrKind = c.get();
        let bits = match kind {
            AttrKind::TENSOR => u64::from(c.get::<ConstId>().0),
            AttrKind::TYPE => u64::from(c.get::<TypeId>().0),
            AttrKind::REFERENCE => u64::from(c.get::<SymbolId>().0),
            _ => c.step.pick(&[
                0,
                1,
                1 << 31,
                0x7fc0_0001,
                0x3f80_0000,
                u64::MAX,
                1 << 63,
                1 << 32,
                7,
            ]),
        };
        let (data, count) = match kind {
            AttrKind::INTS => list::<i64>(c),
            AttrKind::FLOATS => list::<u32>(c),
            AttrKind::STRINGS => list::<Bytes>(c),
            AttrKind::TYPES => list::<TypeId>(c),
            AttrKind::TENSORS => list::<ConstId>(c),
            AttrKind::STRING | AttrKind::OPAQUE => {
                let bytes: Bytes = c.get();
                (bytes.ptr.cast(), bytes.len)
            }
            _ => (std::ptr::null(), 0),
        };
        let stands_for = if kind == AttrKind::REFERENCE && c.step.one_in(2) {
            c.get()
        } else {
            AttrKind(0)
        };
        AttrDesc {
            struct_size: c.step.size(size_of::<AttrDesc>()),
            kind,
            name: c.get(),
            flags: u32::from(c.step.one_in(8)),
            bits,
            data,
            count,
            stands_for,
            reserved: 0,
        }
    }
}

/// Texts, some of which are none, each ended by a newline.
const TEXTS: &[u8] = b"x\ny\n\nmain\nf.new\nf.helper\nf\na/b:0\n0\nv3\n%x\na \"maker\"\t\nnul\0inside\n\xff\n\
    cut \xe2\x82\n\xc2\x85\x1b[31m\nonnx\nai.onnx\ncom.microsoft\nf.new#v2\n_\nn\nlist\ntable\nf.Config\n\
    f.transform.Function\nrule twice { f.A(f.A(%x)) => f.A(%x) }";
/// A text that is too long.
const LONG: &[u8] = &[b'l'; 70_000];

/// A text, now and then the body of an op.
impl Argument for Str {
    fn argument(c: &Call<'_>) -> Str {
        // The longest one is a matter of its own, and slow.
        let text = match c.step.byte() {
            255 => LONG,
            byte @ 0..200 => {
                let mut texts = TEXTS.split(|byte| *byte == b'\n').cycle();
                texts.nth(byte.into()).unwrap_or_default()
            }
            byte => BODIES[usize::from(byte) % BODIES.len()].as_bytes(),
        };
        let (ptr, len) = match c.step.odd() {
            Odd::NullList => (std::ptr::null(), text.len()),
            // Of a text that is too long only its length is looked at.
            Odd::EndlessList => (text.as_ptr(), usize::MAX),
            Odd::LongList => (text.as_ptr(), (1 << 30) + 1),
            _ => (text.as_ptr(), text.len()),
        };
        Str { ptr, len }
    }

    fn look(&self) {
        read(*self);
    }
}

/// Bytes, which needn't be text.
impl Argument for Bytes {
    fn argument(c: &Call<'_>) -> Bytes {
        let Str { ptr, len } = c.get();
        // Few types have as many bytes as a text.
        let len = if c.step.one_in(2) {
            c.step.pick(&[8, 4, 16, 24]).min(len)
        } else {
            len
        };
        Bytes { ptr, len }
    }

    fn look(&self) {
        if self.len > 0 {
            // SAFETY: the host's, until the next edit.
            let bytes = unsafe { std::slice::from_raw_parts(self.ptr, self.len) };
            std::hint::black_box((bytes.first(), bytes.last()));
        }
    }
}

/// Names of ops and of what calls and regions say.
const NAMES: &str = "f.A f.B f.Two f.Body f.Wild f.Outer onnx.Relu onnx.If onnx.Conv call if for while tuple tuple_get \
    return yield main f.helper my.Fn#v2 callee index kind k then_branch else_branch body a b n alpha tir.load f.A#v2 \
    x.\"A.B\" a\u{a0}b onnx ai.onnx \u{e9}\u{202e} doc";

/// A symbol: of a name mostly, made for it, else a number that may be none.
impl Argument for SymbolId {
    fn argument(c: &Call<'_>) -> SymbolId {
        let byte = c.step.byte();
        match byte {
            0..232 => {
                let mut names = NAMES.split(' ').cycle();
                let name = Str::new(names.nth(byte.into()).unwrap_or_default());
                // SAFETY: the host's table lives for good, the symbols as long as the module.
                unsafe {
                    host()
                        .get()
                        .symbols
                        .as_ref()
                        .expect("is there")
                        .intern
                        .expect("is there")(c.symbols, name)
                }
            }
            232..244 => SymbolId(u32::from(byte) - 232),
            244..250 => SymbolId(u32::from(byte) + 12),
            250..254 => SymbolId::NONE,
            254 => SymbolId(1 << 31),
            255 => SymbolId(100_000),
        }
    }
}

impl Argument for LaidOut {
    const IS_SIZED: bool = true;

    fn argument(_: &Call<'_>) -> LaidOut {
        LaidOut::EMPTY
    }

    fn look(&self) {
        read(self.body);
        for at in 0..self.operand_count {
            // SAFETY: the host's, until the next edit.
            read(unsafe { self.operands.add(at).read() });
        }
        for at in 0..self.result_count {
            // SAFETY: as above.
            read(unsafe { self.results.add(at).read() });
        }
    }
}

impl Argument for Setting {
    const IS_SIZED: bool = true;

    fn argument(_: &Call<'_>) -> Setting {
        Setting::EMPTY
    }

    fn look(&self) {
        match self.kind {
            SettingKind::STRING => _ = read(self.string),
            SettingKind::LIST | SettingKind::TABLE => {
                for at in 0..self.item_count as usize {
                    let offset = at * self.item_stride as usize;
                    // SAFETY: texts and items live as long as the context.
                    let item =
                        unsafe { &*self.items.cast::<u8>().add(offset).cast::<SettingItem>() };
                    read(item.name);
                    item.value.look();
                }
            }
            _ => {}
        }
    }
}

/// What the host returned as a text, which lives.
pub(super) fn read(text: Str) -> String {
    if text.len == 0 {
        return String::new();
    }
    // SAFETY: the contract.
    let bytes = unsafe { std::slice::from_raw_parts(text.ptr, text.len) };
    String::from_utf8(bytes.to_vec()).expect("the host's texts are UTF-8")
}
