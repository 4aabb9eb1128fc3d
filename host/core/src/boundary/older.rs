//! A host as an older contract has it, for checks of plugins: they say how old a host may be.

use std::ffi::c_void;
use std::ptr;

use passdock_abi as abi;
use passdock_abi::Grows;
use passdock_loader::HostTable;

use super::host;

/// The sizes of the host's tables.
struct Sizes {
    host: usize,
    symbols: usize,
    functions: usize,
    modules: usize,
    context: usize,
    ops: usize,
    definitions: usize,
}

/// The sizes by the contract's minor. A minor that is over gets an arm of its own, with the ends of its tables.
fn sizes(minor: u32) -> Option<Sizes> {
    (minor == abi::ABI_MINOR).then_some(Sizes {
        host: size_of::<abi::Host>(),
        symbols: size_of::<abi::SymbolApi>(),
        functions: size_of::<abi::FunctionApi>(),
        modules: size_of::<abi::ModuleApi>(),
        context: size_of::<abi::ContextApi>(),
        ops: size_of::<abi::OpApi>(),
        definitions: size_of::<abi::DefinitionApi>(),
    })
}

/// The least host that a plugin may meet whose manifest asks for this minor of the contract: its tables end
/// where that contract's do, and it has no extension. `None` for a minor that this host doesn't serve. Views
/// are today's, whatever the host: their columns are made in one place.
pub fn older_host(minor: u32) -> Option<HostTable> {
    let sizes = sizes(minor)?;
    let whole = host().get();
    // SAFETY: the tables that the host points to live for good.
    let tables = unsafe {
        abi::Host {
            abi: abi::Version {
                major: abi::ABI.major,
                minor,
            },
            symbols: cut(&*whole.symbols, sizes.symbols),
            functions: cut(&*whole.functions, sizes.functions),
            modules: cut(&*whole.modules, sizes.modules),
            context: cut(&*whole.context, sizes.context),
            ops: cut(&*whole.ops, sizes.ops),
            definitions: cut(&*whole.definitions, sizes.definitions),
            get_extension: Some(no_extension),
            ..*whole
        }
    };
    // SAFETY: the table and all that it points to is leaked, and nobody changes it.
    Some(unsafe { HostTable::new(&*cut(&tables, sizes.host)) })
}

/// So many bytes of a table, for good: what is behind them isn't there.
fn cut<T: Grows>(whole: &T, size: usize) -> *const T {
    assert!(size <= size_of::<T>(), "a table only grows");
    let mut part = T::EMPTY;
    let to = (&raw mut part).cast::<u8>();
    // SAFETY: as many bytes of a `T` are written over those of another one, which starts with its size.
    unsafe {
        ptr::from_ref(whole)
            .cast::<u8>()
            .copy_to_nonoverlapping(to, size);
        to.cast::<u32>().write(size as u32);
    }
    Box::leak(Box::new(part))
}

unsafe extern "C" fn no_extension(_: *const abi::Host, _: abi::Str) -> *const c_void {
    ptr::null()
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn each_minor_that_is_served_has_sizes() {
        assert!((abi::OLDEST_MINOR..=abi::ABI.minor).all(|minor| sizes(minor).is_some()));
    }

    #[test]
    fn what_is_cut_is_not_there() {
        let whole = host().get();
        // SAFETY: the host's table lives for good, and so does what is cut of it.
        let (whole, part) = unsafe {
            let whole = &*whole.functions;
            let size = offset_of!(abi::FunctionApi, create_op);
            (whole, &*cut(whole, size))
        };
        assert!(whole.create_op.is_some() && whole.names_function.is_some());
        assert!(part.constant_data.is_some());
        assert!(part.create_op.is_none() && part.names_function.is_none());
        assert_eq!(
            part.struct_size as usize,
            offset_of!(abi::FunctionApi, create_op)
        );
        assert!(older_host(abi::OLDEST_MINOR).is_some());
        assert!(older_host(abi::OLDEST_MINOR - 1).is_none());
    }
}
