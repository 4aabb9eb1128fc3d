//! The faults of the table: what a plugin does, by the place where it does it.

/// What a plugin does.
pub(super) struct Fault {
    /// As the table says it.
    pub(super) what: &'static str,
    /// Where the plugin does it.
    pub(super) place: &'static str,
    /// What `dies.c` calls it; of the place `file` it is a change of the file.
    pub(super) name: &'static str,
    /// Whether the run succeeds all the same.
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

/// What happens while a pass runs.
pub(super) const PASS: &[Fault] = &[
    harmless("pass", "", "nothing of this"),
    deadly("pass", "segv", "reads where nothing is"),
    deadly("pass", "bus", "reads what can't be reached"),
    deadly("pass", "fpe", "divides by zero"),
    deadly("pass", "ill", "does what is no instruction"),
    deadly("pass", "abort", "calls `abort`"),
    deadly("pass", "free twice", "frees memory twice"),
    deadly("pass", "stack", "uses up its stack"),
    deadly(
        "pass",
        "stack, no other",
        "uses up its stack, and took the other one away",
    ),
    deadly("pass", "exit", "calls `exit(0)`"),
    deadly("pass", "quick_exit", "calls `quick_exit(0)`"),
    deadly("pass", "_exit", "calls `_exit(0)`"),
    deadly(
        "pass",
        "atexit, exit 3",
        "calls `exit(3)`, and makes that 0 (`atexit`)",
    ),
    deadly("pass", "pthread_exit", "calls `pthread_exit`"),
    deadly("pass", "exec", "puts another program in its place"),
    deadly("pass", "handled segv", "crashes, and ends with 0 over it"),
    deadly("pass", "kill", "is killed"),
    deadly(
        "pass",
        "rename, kill",
        "is killed, and had named its thread",
    ),
    deadly("pass", "term", "is asked to end (SIGTERM)"),
    deadly("pass", "usr1", "is ended by SIGUSR1"),
    deadly("pass", "alarm", "is ended by an alarm"),
    deadly("pass", "hang", "waits for ever (`--timeout 2`)"),
    deadly("pass", "spin", "computes for ever (`--timeout 2`)"),
    deadly("pass", "stop", "stops itself (`--timeout 2`)"),
    deadly("pass", "thread", "crashes on a thread of its own"),
    deadly(
        "pass",
        "thread exit",
        "calls `exit(0)` on a thread of its own",
    ),
    deadly(
        "pass",
        "thread stack",
        "uses up the stack of a thread of its own",
    ),
    deadly(
        "pass",
        "child holds on",
        "crashes, and leaves a process behind",
    ),
    harmless("pass", "child stays", "leaves a process behind"),
    harmless("pass", "fork returns", "returns twice (`fork`)"),
    deadly("pass", "status 77", "answers a status that there isn't"),
    deadly("pass", "scribble", "writes zeros where it may only read"),
    deadly(
        "pass",
        "scribble and fail",
        "writes where it may only read, and fails",
    ),
    deadly("pass", "fail after chdir", "changes directory and fails"),
    deadly("pass", "no files", "lets the process open no more files"),
    deadly("pass", "no bytes", "lets the process write no more"),
    deadly("pass", "close all", "closes all descriptors"),
    deadly(
        "pass",
        "close from 3",
        "closes all but the standard streams",
    ),
    harmless("pass", "close 0 to 2", "closes the standard streams"),
    harmless(
        "pass",
        "streams never wait",
        "has no standard stream wait (`O_NONBLOCK`)",
    ),
    harmless(
        "pass",
        "files to a log",
        "has its log at the numbers of files that it closed",
    ),
    harmless(
        "pass",
        "stdout to a file",
        "leads standard output elsewhere",
    ),
    harmless("pass", "print", "prints"),
    harmless("pass", "chdir", "changes directory"),
    harmless("pass", "umask", "changes the mode of new files"),
    harmless("pass", "rounding", "changes how numbers are rounded"),
    harmless("pass", "locale", "changes the locale"),
    harmless("pass", "handler", "handles a signal"),
    harmless("pass", "block signals", "blocks all signals"),
    harmless("pass", "thread stays", "leaves a thread running"),
    harmless(
        "pass",
        "atexit status",
        "ends with another status when the process ends (`atexit`)",
    ),
    harmless(
        "pass",
        "atexit crash",
        "crashes when the process ends (`atexit`)",
    ),
    harmless(
        "pass",
        "atexit hang",
        "hangs when the process ends (`atexit`)",
    ),
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

/// What happens elsewhere.
pub(super) const ELSEWHERE: &[Fault] = &[
    deadly("before", "segv", "crashes in an instrument"),
    deadly("before", "exit", "calls `exit(0)` in an instrument"),
    deadly("before", "_exit", "calls `_exit(0)` in an instrument"),
    deadly(
        "before",
        "thread",
        "crashes on a thread of its own in an instrument",
    ),
    deadly("after", "segv", "crashes in an instrument after a pass"),
    deadly(
        "after",
        "_exit",
        "calls `_exit(0)` in an instrument after a pass",
    ),
    deadly(
        "failed",
        "segv",
        "crashes in an instrument that hears of a failure",
    ),
    deadly(
        "failed",
        "exit",
        "calls `exit(0)` in an instrument that hears of a failure",
    ),
    deadly(
        "failed",
        "_exit",
        "calls `_exit(0)` in an instrument that hears of a failure",
    ),
    deadly("destroy", "segv", "crashes in an instrument's end"),
    deadly(
        "destroy",
        "_exit",
        "calls `_exit(0)` in an instrument's end",
    ),
    harmless(
        "destroy",
        "chdir",
        "changes directory in an instrument's end",
    ),
    deadly("infer", "segv", "crashes in an op's definition"),
    deadly("infer", "exit", "calls `exit(0)` in an op's definition"),
    deadly("infer", "_exit", "calls `_exit(0)` in an op's definition"),
    deadly(
        "infer",
        "quick_exit",
        "calls `quick_exit(0)` in an op's definition",
    ),
    deadly(
        "infer",
        "exec",
        "puts another program in its place in an op's definition",
    ),
    deadly("infer", "kill", "is killed in an op's definition"),
    deadly("evaluate", "segv", "crashes where it evaluates an op"),
    deadly(
        "evaluate",
        "exit",
        "calls `exit(0)` where it evaluates an op",
    ),
    deadly(
        "evaluate",
        "_exit",
        "calls `_exit(0)` where it evaluates an op",
    ),
    deadly("decompose", "segv", "crashes where it decomposes an op"),
    deadly(
        "decompose",
        "exit",
        "calls `exit(0)` where it decomposes an op",
    ),
    deadly(
        "decompose",
        "_exit",
        "calls `_exit(0)` where it decomposes an op",
    ),
    deadly("constructor", "segv", "crashes in a constructor"),
    deadly("constructor", "exit", "calls `exit(0)` in a constructor"),
    deadly("constructor", "_exit", "calls `_exit(0)` in a constructor"),
    deadly(
        "constructor",
        "thread",
        "crashes on a thread of its own in a constructor",
    ),
    deadly("constructor", "kill", "is killed in a constructor"),
    deadly(
        "constructor",
        "hang",
        "waits for ever in a constructor (`--timeout 2`)",
    ),
    deadly(
        "constructor",
        "close from 3",
        "closes descriptors in a constructor",
    ),
    harmless("constructor", "chdir", "changes directory in a constructor"),
    harmless("constructor", "print", "prints in a constructor"),
    deadly("load", "segv", "crashes in its entry"),
    deadly("load", "exit", "calls `exit(0)` in its entry"),
];

/// What is wrong with the table of the plugin.
pub(super) const TABLE: &[Fault] = &[
    deadly("table", "refuses", "refuses the host"),
    deadly(
        "table",
        "refuses without a word",
        "refuses the host without a word",
    ),
    deadly(
        "table",
        "refuses at length",
        "refuses the host with a reason that is nowhere",
    ),
    deadly(
        "table",
        "table that is nowhere",
        "answers a table that is nowhere",
    ),
    deadly(
        "table",
        "table that isn't aligned",
        "answers a table at an odd address",
    ),
    deadly(
        "table",
        "table of no size",
        "says that its table has 0 bytes",
    ),
    deadly(
        "table",
        "table of a great size",
        "says that its table has 2³⁰ bytes",
    ),
    deadly("table", "no passes", "has no list of passes"),
    deadly("table", "a million passes", "says that it has 2²⁰ passes"),
    deadly(
        "table",
        "passes that are nowhere",
        "has a list of passes that is nowhere",
    ),
    deadly("table", "passes of no size", "says that a pass has 0 bytes"),
    deadly("table", "no name", "has a pass without a name"),
    deadly(
        "table",
        "a name that is nowhere",
        "has a name that is nowhere",
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
        "has another pass than its manifest",
    ),
    deadly(
        "table",
        "another kind",
        "has a pass of another kind than its manifest",
    ),
    deadly(
        "table",
        "a kind that isn't",
        "has a pass of a kind that there isn't",
    ),
    deadly("table", "no function", "has a pass without a function"),
    deadly("table", "no op", "lacks an op of its manifest"),
    deadly("table", "another op", "has another op than its manifest"),
    deadly("table", "no create", "has an instrument that can't be made"),
];

/// What is wrong with the file.
pub(super) const FILE: &[Fault] = &[
    deadly("file", "empty", "is empty"),
    deadly("file", "text", "is a text"),
    deadly("file", "half", "is cut off in the middle"),
    deadly("file", "header", "is cut off in its header"),
    deadly("file", "last byte", "lacks its last byte"),
    deadly("file", "zeros", "has a middle of zeros"),
    deadly("file", "magic", "has another magic number"),
    deadly("file", "machine", "is for another machine"),
    deadly("file", "class", "is for 32 bits"),
    deadly("file", "program", "is a program"),
    deadly("file", "no entry", "has no entry"),
    deadly("file", "no manifest", "has no manifest"),
    deadly("file", "major", "was built for another ABI"),
    deadly("file", "minor", "needs a newer ABI"),
    deadly("file", "ir", "was built for another IR"),
    deadly("file", "toml", "has a manifest that is no TOML"),
    deadly("file", "utf8", "has a manifest that isn't UTF-8"),
    deadly("file", "endless", "has a manifest without an end"),
    deadly(
        "file",
        "kind",
        "has a pass of a kind that there isn't, in the manifest",
    ),
    deadly(
        "file",
        "name",
        "has a pass without a namespace, in the manifest",
    ),
];
