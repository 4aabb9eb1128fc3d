//! The faults in the table, grouped by where the plugin causes them.

/// A fault.
pub(super) struct Fault {
    /// The description in the table.
    pub(super) what: &'static str,
    /// Where the plugin causes it.
    pub(super) place: &'static str,
    /// The name in `crashes.c`; for `file`, a change of the file.
    pub(super) name: &'static str,
    /// Whether the run succeeds nevertheless.
    pub(super) harmless: bool,
    /// Whether the sandbox denies it, so that the run succeeds.
    pub(super) denied: bool,
}

const fn denied(place: &'static str, name: &'static str, what: &'static str) -> Fault {
    Fault {
        denied: true,
        ..fatal(place, name, what)
    }
}

const fn fatal(place: &'static str, name: &'static str, what: &'static str) -> Fault {
    Fault {
        what,
        place,
        name,
        harmless: false,
        denied: false,
    }
}

const fn harmless(place: &'static str, name: &'static str, what: &'static str) -> Fault {
    Fault {
        what,
        place,
        name,
        harmless: true,
        denied: false,
    }
}

/// Faults in a pass.
pub(super) const PASS: &[Fault] = &[
    harmless("pass", "", "runs normally"),
    fatal("pass", "segv", "reads unmapped memory"),
    fatal("pass", "bus", "raises SIGBUS"),
    fatal("pass", "fpe", "divides by zero"),
    fatal("pass", "ill", "executes an illegal instruction"),
    fatal("pass", "abort", "calls `abort`"),
    fatal("pass", "free twice", "frees memory twice"),
    fatal("pass", "stack", "overflows the stack"),
    fatal(
        "pass",
        "stack, no other",
        "overflows the stack after removing the alternate signal stack",
    ),
    fatal("pass", "exit", "calls `exit(0)`"),
    fatal("pass", "quick_exit", "calls `quick_exit(0)`"),
    fatal("pass", "_exit", "calls `_exit(0)`"),
    fatal(
        "pass",
        "atexit, exit 3",
        "calls `exit(3)`, and an `atexit` handler changes the status to 0",
    ),
    fatal("pass", "pthread_exit", "calls `pthread_exit`"),
    denied(
        "pass",
        "exec",
        "replaces the process with another program (`exec`)",
    ),
    fatal(
        "pass",
        "handled segv",
        "crashes, and a signal handler exits with 0",
    ),
    fatal("pass", "kill", "is killed (SIGKILL)"),
    fatal(
        "pass",
        "rename, kill",
        "is killed (SIGKILL) after renaming its thread",
    ),
    fatal("pass", "term", "receives SIGTERM"),
    fatal("pass", "usr1", "receives SIGUSR1"),
    fatal("pass", "alarm", "receives SIGALRM"),
    fatal("pass", "hang", "blocks forever (`--timeout 2`)"),
    fatal("pass", "spin", "loops forever (`--timeout 2`)"),
    fatal("pass", "stop", "stops itself with SIGSTOP (`--timeout 2`)"),
    fatal("pass", "thread", "crashes on a thread that it created"),
    fatal(
        "pass",
        "thread exit",
        "calls `exit(0)` on a thread that it created",
    ),
    fatal(
        "pass",
        "thread stack",
        "overflows the stack of a thread that it created",
    ),
    fatal(
        "pass",
        "child holds on",
        "crashes and leaves a child process",
    ),
    harmless("pass", "child stays", "leaves a child process"),
    harmless(
        "pass",
        "fork returns",
        "calls `fork` and returns in both processes",
    ),
    fatal("pass", "status 77", "returns an undefined status"),
    fatal("pass", "scribble", "writes zeros to read-only IR"),
    fatal(
        "pass",
        "scribble and fail",
        "writes to read-only IR and fails",
    ),
    fatal(
        "pass",
        "fail after chdir",
        "changes the current directory and fails",
    ),
    denied("pass", "no files", "sets the limit of open files to 0"),
    denied("pass", "no bytes", "sets the limit of file sizes to 0"),
    fatal("pass", "close all", "closes all file descriptors"),
    fatal(
        "pass",
        "close from 3",
        "closes all file descriptors except the standard streams",
    ),
    harmless("pass", "close 0 to 2", "closes the standard streams"),
    harmless(
        "pass",
        "streams never wait",
        "makes the standard streams non-blocking (`O_NONBLOCK`)",
    ),
    harmless(
        "pass",
        "files to a log",
        "closes file descriptors and reuses their numbers for its log",
    ),
    harmless("pass", "stdout to a file", "redirects standard output"),
    harmless("pass", "print", "prints to standard output"),
    harmless("pass", "chdir", "changes the current directory"),
    harmless("pass", "umask", "changes `umask`"),
    harmless(
        "pass",
        "rounding",
        "changes the floating-point rounding mode",
    ),
    harmless("pass", "locale", "changes the locale"),
    harmless("pass", "handler", "installs a signal handler"),
    harmless("pass", "block signals", "blocks all signals"),
    harmless("pass", "thread stays", "leaves a thread running"),
    harmless(
        "pass",
        "atexit status",
        "changes the exit status in an `atexit` handler",
    ),
    harmless("pass", "atexit crash", "crashes in an `atexit` handler"),
    harmless("pass", "atexit hang", "hangs in an `atexit` handler"),
    harmless(
        "pass",
        "static destructor",
        "crashes in a static object's destructor",
    ),
    harmless(
        "pass",
        "thread destructor",
        "crashes in a thread-local object's destructor",
    ),
    harmless(
        "pass",
        "destructor status",
        "ends with another status in a library's destructor",
    ),
    harmless(
        "pass",
        "destructor crash",
        "crashes in a library's destructor",
    ),
];

/// Faults outside of passes.
pub(super) const ELSEWHERE: &[Fault] = &[
    fatal("before", "segv", "crashes in an instrument"),
    fatal("before", "exit", "calls `exit(0)` in an instrument"),
    fatal("before", "_exit", "calls `_exit(0)` in an instrument"),
    fatal(
        "before",
        "thread",
        "crashes on a thread that it created in an instrument",
    ),
    fatal("after", "segv", "crashes in an instrument after a pass"),
    fatal(
        "after",
        "_exit",
        "calls `_exit(0)` in an instrument after a pass",
    ),
    fatal("failed", "segv", "crashes in an instrument's `pass_failed`"),
    fatal(
        "failed",
        "exit",
        "calls `exit(0)` in an instrument's `pass_failed`",
    ),
    fatal(
        "failed",
        "_exit",
        "calls `_exit(0)` in an instrument's `pass_failed`",
    ),
    fatal("destroy", "segv", "crashes in an instrument's `destroy`"),
    fatal(
        "destroy",
        "_exit",
        "calls `_exit(0)` in an instrument's `destroy`",
    ),
    harmless(
        "destroy",
        "chdir",
        "changes the current directory in an instrument's `destroy`",
    ),
    fatal("infer", "segv", "crashes in an op definition"),
    fatal("infer", "exit", "calls `exit(0)` in an op definition"),
    fatal("infer", "_exit", "calls `_exit(0)` in an op definition"),
    fatal(
        "infer",
        "quick_exit",
        "calls `quick_exit(0)` in an op definition",
    ),
    denied(
        "infer",
        "exec",
        "replaces the process with another program in an op definition",
    ),
    fatal("infer", "kill", "is killed in an op definition"),
    fatal("evaluate", "segv", "crashes when it evaluates an op"),
    fatal(
        "evaluate",
        "exit",
        "calls `exit(0)` when it evaluates an op",
    ),
    fatal(
        "evaluate",
        "_exit",
        "calls `_exit(0)` when it evaluates an op",
    ),
    fatal("decompose", "segv", "crashes when it decomposes an op"),
    fatal(
        "decompose",
        "exit",
        "calls `exit(0)` when it decomposes an op",
    ),
    fatal(
        "decompose",
        "_exit",
        "calls `_exit(0)` when it decomposes an op",
    ),
    fatal("constructor", "segv", "crashes in a constructor"),
    fatal("constructor", "exit", "calls `exit(0)` in a constructor"),
    fatal("constructor", "_exit", "calls `_exit(0)` in a constructor"),
    fatal(
        "constructor",
        "thread",
        "crashes on a thread that it created in a constructor",
    ),
    fatal("constructor", "kill", "is killed in a constructor"),
    fatal(
        "constructor",
        "hang",
        "blocks forever in a constructor (`--timeout 2`)",
    ),
    fatal(
        "constructor",
        "close from 3",
        "closes file descriptors in a constructor",
    ),
    harmless(
        "constructor",
        "chdir",
        "changes the current directory in a constructor",
    ),
    harmless("constructor", "print", "prints in a constructor"),
    fatal("load", "segv", "crashes in its entry function"),
    fatal("load", "exit", "calls `exit(0)` in its entry function"),
];

/// Faults in the plugin's table.
pub(super) const TABLE: &[Fault] = &[
    fatal("table", "rejects", "rejects the host"),
    fatal(
        "table",
        "rejects without a word",
        "rejects the host without a reason",
    ),
    fatal(
        "table",
        "rejects at length",
        "rejects the host with a reason at an invalid address",
    ),
    fatal(
        "table",
        "table that is nowhere",
        "returns a table at an invalid address",
    ),
    fatal(
        "table",
        "table that isn't aligned",
        "returns a misaligned table",
    ),
    fatal(
        "table",
        "table of no size",
        "has a `struct_size` of 0 bytes",
    ),
    fatal(
        "table",
        "table of a great size",
        "has a `struct_size` of 2³⁰ bytes",
    ),
    fatal("table", "no passes", "has a null pass list"),
    fatal("table", "a million passes", "has a pass count of 2²⁰"),
    fatal(
        "table",
        "passes that are nowhere",
        "has a pass list at an invalid address",
    ),
    fatal("table", "passes of no size", "has a pass stride of 0 bytes"),
    fatal("table", "no name", "has a pass without a name"),
    fatal(
        "table",
        "a name that is nowhere",
        "has a name at an invalid address",
    ),
    fatal("table", "an endless name", "has a name of 2⁶⁴ bytes"),
    fatal(
        "table",
        "a name that isn't UTF-8",
        "has a name that isn't UTF-8",
    ),
    fatal(
        "table",
        "another name",
        "has a pass that the manifest lacks",
    ),
    fatal("table", "no function", "has a pass without a function"),
    fatal("table", "no op", "lacks an op of the manifest"),
    fatal("table", "another op", "has another op than the manifest"),
    fatal("table", "no create", "has an instrument without `create`"),
];

/// Faults in the file.
pub(super) const FILE: &[Fault] = &[
    fatal("file", "empty", "is empty"),
    fatal("file", "text", "is a text file"),
    fatal("file", "half", "is truncated to half"),
    fatal("file", "header", "is truncated in the header"),
    fatal("file", "last byte", "lacks its last byte"),
    fatal("file", "zeros", "is zero-filled in the middle"),
    fatal("file", "magic", "has another magic number"),
    fatal("file", "machine", "is for another architecture"),
    fatal("file", "class", "is for 32 bits"),
    fatal("file", "program", "is an executable"),
    fatal("file", "no entry", "has no entry symbol"),
    fatal("file", "no manifest", "has no manifest"),
    fatal("file", "major", "was built for another ABI"),
    fatal("file", "minor", "needs a newer ABI"),
    fatal("file", "ir", "was built for another IR"),
    fatal("file", "toml", "has a manifest that isn't valid TOML"),
    fatal("file", "utf8", "has a manifest that isn't UTF-8"),
    fatal("file", "endless", "has a manifest without a NUL terminator"),
    fatal("file", "kind", "has an unknown pass kind in the manifest"),
    fatal(
        "file",
        "name",
        "has a pass name without a namespace in the manifest",
    ),
];
