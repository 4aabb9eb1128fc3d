//! Models of any size, as IR text, each with much of one thing: what might take a pass, a writer or
//! the verifier longer than the model is long.

/// Writing to a string doesn't fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => { _ = writeln!($out, $($arg)*) };
}

mod functions;
mod regions;
mod straight;

use functions::*;
use regions::*;
use straight::*;

/// A kind of model.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// What there is much of.
    pub name: &'static str,
    /// A model with about so many ops, or whatever there is much of.
    pub text: fn(usize) -> String,
    /// A pass that does more with these options: its name, and they as TOML.
    pub options: Option<PassOptions>,
}

/// A pass, and options of it for a size.
pub type PassOptions = (&'static str, fn(usize) -> String);

const fn shape(name: &'static str, text: fn(usize) -> String) -> Shape {
    Shape {
        name,
        text,
        options: None,
    }
}

const fn with(
    name: &'static str,
    text: fn(usize) -> String,
    pass: &'static str,
    options: fn(usize) -> String,
) -> Shape {
    Shape {
        name,
        text,
        options: Some((pass, options)),
    }
}

const BIND_SIZES: &str = "relax.transform.BindSymbolicVars";
const BIND_PARAMS: &str = "relax.transform.BindParams";

/// All shapes.
pub const SHAPES: &[Shape] = &[
    shape("a chain", chain),
    shape("a chain through the second operand", chain_of_second),
    shape("a chain without types", untyped_chain),
    shape("a chain of two kinds", diamonds),
    shape("a chain of constants", foldable),
    shape("a chain of copies", copies),
    shape("a dead chain", dead_chain),
    shape("two equal chains", twins),
    shape("equal chains of ten ops", equal_chains),
    shape("equal groups of ops", equal_groups),
    shape("groups of ops, each another", other_groups),
    shape("users far behind", late_users),
    shape("users of one value", users),
    shape("dead users of one value", dead_users),
    shape("uses of one value by one op", uses),
    shape("results returned", returned),
    shape("copies of a parameter, returned", returned_copies),
    shape("copies of a result, returned", returned_local_copies),
    shape("copies of a constant, returned", returned_constant_copies),
    shape("copies of a constant, joined", joined_constant_copies),
    shape("dropouts of one value, returned", returned_dropouts),
    shape("one value returned often", returned_often),
    shape("results of one op", results),
    shape("constants", constants),
    shape("equal constants", equal_constants),
    shape("shapes computed in a chain", shapes),
    shape("sizes added in a chain", sizes),
    shape("sizes doubled in a chain", doubled_sizes),
    shape("sizes that depend on data", sizes_of_data),
    shape("a tuple of many fields", tuple),
    shape("tuples in a chain", tuples),
    shape("attributes of one op", attrs),
    shape("attributes of the function", function_attrs),
    shape("metadata of the module", metadata),
    shape("metadata of one op", op_metadata),
    shape("locations", locations),
    shape("parameters", params),
    with("symbols", symbols, BIND_SIZES, bind_symbols),
    with("parameters bound", symbols, BIND_PARAMS, bind_params),
    with(
        "parameters with defaults",
        defaults,
        BIND_PARAMS,
        bind_defaults,
    ),
    shape("domains", domains),
    shape("regions in regions", nested),
    shape("regions in regions, decided", nested_decided),
    shape("regions in regions, sizes in each", nested_sizes),
    shape("loops in loops", nested_loops),
    shape("regions under one condition", side_by_side),
    shape("regions of one op", regions),
    shape("values captured by one region", captured),
    shape("values captured in ten levels", captured_deep),
    shape("values carried by one loop", carried),
    shape("equal ops in many regions", equal_in_regions),
    shape("functions", functions),
    shape("functions that nobody calls", dead_functions),
    shape("every other function dead", half_dead_functions),
    shape("calls of one function", calls),
    shape("calls of one function, each of its own type", typed_calls),
    shape("calls in a chain", call_chain),
    shape("attribute parameters", attribute_params),
    shape("loops side by side", loops),
    shape("loops of one run in one another", once_in_once),
    shape("a loop of many runs", long_loop),
    shape("a loop of many ops", wide_loop),
];
