//! The faults in the table, grouped by where the plugin causes them.

/// A fault.
pub(super) struct Fault {
    /// Its description in the table.
    pub(super) what: &'static str,
    /// Where the plugin causes it.
    pub(super) place: &'static str,
    /// Its name in `dies.c`; for `file`, a change of the file.
    pub(super) name: &'static str,
    /// Whether the run succeeds nevertheless.
    pub(super) harmless: bool,
}

const fn deadly(place: &'static str, name: &'static str, what: &'static str) -> Fault {
    Fault {
        what,
        place,
        name,
        harmless: false,
    }
}

const fn harmless(place: &'static str, name: &'static str, what: &'static str) -> Fault {
    Fault {
        what,
        place,
        name,
        harmless: true,
    }
}

/// Faults in a pass.
pub(super) const PASS: &[Fault] = &[
    harmless("pass", "", "runs normally"),
    deadly("pass", "segv", "reads unmapped memory"),
    deadly("pass", "bus", "raises SIGBUS"),
    deadly("pass", "fpe", "divides by zero"),
    deadly("pass", "ill", "executes an illegal instruction"),
    deadly("pass", "abort", "calls `abort`"),
    deadly("pass", "free twice", "frees memory twice"),
    deadly("pass", "stack", "overflows the stack"),
    deadly(
        "pass",
        "stack, no other",
        "overflows the stack after removing the alternate signal stack",
    ),
    deadly("pass", "exit", "calls `exit(0)`"),
    deadly("pass", "quick_exit", "calls `quick_exit(0)`"),
    deadly("pass", "_exit", "calls `_exit(0)`"),
    deadly(
        "pass",
        "atexit, exit 3",
        "calls `exit(3)`, and an `atexit` handler changes the status to 0",
    ),
    deadly("pass", "pthread_exit", "calls `pthread_exit`"),
    deadly(
        "pass",
        "exec",
        "replaces the process with another program (`exec`)",
    ),
    deadly(
        "pass",
        "handled segv",
        "crashes, and a signal handler exits with 0",
    ),
    deadly("pass", "kill", "is killed (SIGKILL)"),
    deadly(
        "pass",
        "rename, kill",
        "is killed (SIGKILL) after renaming its thread",
    ),
    deadly("pass", "term", "receives SIGTERM"),
    deadly("pass", "usr1", "receives SIGUSR1"),
    deadly("pass", "alarm", "receives SIGALRM"),
    deadly("pass", "hang", "blocks forever (`--timeout 2`)"),
    deadly("pass", "spin", "loops forever (`--timeout 2`)"),
    deadly("pass", "stop", "stops itself with SIGSTOP (`--timeout 2`)"),
    deadly("pass", "thread", "crashes on a thread that it created"),
    deadly(
        "pass",
        "thread exit",
        "calls `exit(0)` on a thread that it created",
    ),
    deadly(
        "pass",
        "thread stack",
        "overflows the stack of a thread that it created",
    ),
    deadly(
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
    deadly("pass", "status 77", "returns an undefined status"),
    deadly("pass", "scribble", "writes zeros to read-only IR"),
    deadly(
        "pass",
        "scribble and fail",
        "writes to read-only IR and fails",
    ),
    deadly(
        "pass",
        "fail after chdir",
        "changes the current directory and fails",
    ),
    deadly("pass", "no files", "sets the limit of open files to 0"),
    deadly("pass", "no bytes", "sets the limit of file sizes to 0"),
    deadly("pass", "close all", "closes all file descriptors"),
    deadly(
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
    deadly("before", "segv", "crashes in an instrument"),
    deadly("before", "exit", "calls `exit(0)` in an instrument"),
    deadly("before", "_exit", "calls `_exit(0)` in an instrument"),
    deadly(
        "before",
        "thread",
        "crashes on a thread that it created in an instrument",
    ),
    deadly("after", "segv", "crashes in an instrument after a pass"),
    deadly(
        "after",
        "_exit",
        "calls `_exit(0)` in an instrument after a pass",
    ),
    deadly("failed", "segv", "crashes in an instrument's `pass_failed`"),
    deadly(
        "failed",
        "exit",
        "calls `exit(0)` in an instrument's `pass_failed`",
    ),
    deadly(
        "failed",
        "_exit",
        "calls `_exit(0)` in an instrument's `pass_failed`",
    ),
    deadly("destroy", "segv", "crashes in an instrument's `destroy`"),
    deadly(
        "destroy",
        "_exit",
        "calls `_exit(0)` in an instrument's `destroy`",
    ),
    harmless(
        "destroy",
        "chdir",
        "changes the current directory in an instrument's `destroy`",
    ),
    deadly("infer", "segv", "crashes in an op definition"),
    deadly("infer", "exit", "calls `exit(0)` in an op definition"),
    deadly("infer", "_exit", "calls `_exit(0)` in an op definition"),
    deadly(
        "infer",
        "quick_exit",
        "calls `quick_exit(0)` in an op definition",
    ),
    deadly(
        "infer",
        "exec",
        "replaces the process with another program in an op definition",
    ),
    deadly("infer", "kill", "is killed in an op definition"),
    deadly("evaluate", "segv", "crashes when it evaluates an op"),
    deadly(
        "evaluate",
        "exit",
        "calls `exit(0)` when it evaluates an op",
    ),
    deadly(
        "evaluate",
        "_exit",
        "calls `_exit(0)` when it evaluates an op",
    ),
    deadly("decompose", "segv", "crashes when it decomposes an op"),
    deadly(
        "decompose",
        "exit",
        "calls `exit(0)` when it decomposes an op",
    ),
    deadly(
        "decompose",
        "_exit",
        "calls `_exit(0)` when it decomposes an op",
    ),
    deadly("constructor", "segv", "crashes in a constructor"),
    deadly("constructor", "exit", "calls `exit(0)` in a constructor"),
    deadly("constructor", "_exit", "calls `_exit(0)` in a constructor"),
    deadly(
        "constructor",
        "thread",
        "crashes on a thread that it created in a constructor",
    ),
    deadly("constructor", "kill", "is killed in a constructor"),
    deadly(
        "constructor",
        "hang",
        "blocks forever in a constructor (`--timeout 2`)",
    ),
    deadly(
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
    deadly("load", "segv", "crashes in its entry function"),
    deadly("load", "exit", "calls `exit(0)` in its entry function"),
];

/// Faults in the plugin's table.
pub(super) const TABLE: &[Fault] = &[
    deadly("table", "refuses", "rejects the host"),
    deadly(
        "table",
        "refuses without a word",
        "rejects the host without a reason",
    ),
    deadly(
        "table",
        "refuses at length",
        "rejects the host with a reason at an invalid address",
    ),
    deadly(
        "table",
        "table that is nowhere",
        "returns a table at an invalid address",
    ),
    deadly(
        "table",
        "table that isn't aligned",
        "returns a misaligned table",
    ),
    deadly(
        "table",
        "table of no size",
        "has a `struct_size` of 0 bytes",
    ),
    deadly(
        "table",
        "table of a great size",
        "has a `struct_size` of 2³⁰ bytes",
    ),
    deadly("table", "no passes", "has a null pass list"),
    deadly("table", "a million passes", "has a pass count of 2²⁰"),
    deadly(
        "table",
        "passes that are nowhere",
        "has a pass list at an invalid address",
    ),
    deadly("table", "passes of no size", "has a pass stride of 0 bytes"),
    deadly("table", "no name", "has a pass without a name"),
    deadly(
        "table",
        "a name that is nowhere",
        "has a name at an invalid address",
    ),
    deadly("table", "an endless name", "has a name of 2⁶⁴ bytes"),
    deadly(
        "table",
        "a name that isn't UTF-8",
        "has a name that isn't UTF-8",
    ),
    deadly(
        "table",
        "another name",
        "has a pass that the manifest lacks",
    ),
    deadly(
        "table",
        "another kind",
        "has a pass of another kind than in the manifest",
    ),
    deadly(
        "table",
        "a kind that isn't",
        "has a pass of an undefined kind",
    ),
    deadly("table", "no function", "has a pass without a function"),
    deadly("table", "no op", "lacks an op of the manifest"),
    deadly("table", "another op", "has another op than the manifest"),
    deadly("table", "no create", "has an instrument without `create`"),
];

/// Faults in the file.
pub(super) const FILE: &[Fault] = &[
    deadly("file", "empty", "is empty"),
    deadly("file", "text", "is a text file"),
    deadly("file", "half", "is truncated to half"),
    deadly("file", "header", "is truncated in the header"),
    deadly("file", "last byte", "lacks its last byte"),
    deadly("file", "zeros", "is zero-filled in the middle"),
    deadly("file", "magic", "has another magic number"),
    deadly("file", "machine", "is for another architecture"),
    deadly("file", "class", "is for 32 bits"),
    deadly("file", "program", "is an executable"),
    deadly("file", "no entry", "has no entry symbol"),
    deadly("file", "no manifest", "has no manifest"),
    deadly("file", "major", "was built for another ABI"),
    deadly("file", "minor", "needs a newer ABI"),
    deadly("file", "ir", "was built for another IR"),
    deadly("file", "toml", "has a manifest that isn't valid TOML"),
    deadly("file", "utf8", "has a manifest that isn't UTF-8"),
    deadly("file", "endless", "has a manifest without a NUL terminator"),
    deadly("file", "kind", "has an unknown pass kind in the manifest"),
    deadly(
        "file",
        "name",
        "has a pass name without a namespace in the manifest",
    ),
];
