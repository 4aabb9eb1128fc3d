/* A plugin in C that terminates or corrupts the process, for the tests of crash reports. The environment variable FAULT
 * selects the fault; without it, the plugin does nothing. The fault occurs in the pass, or in another part of the plugin
 * that AT selects: "constructor", "load" (the entry), "table", "create", "before" or another callback of the instrument,
 * "infer", "evaluate" or "decompose" of the op. With ONLY, functions without an op of that name are skipped. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "passdock.h"

static volatile int zero;
static volatile int *volatile nowhere;

static int fall(void) { return nowhere[2]; }

static int sink(volatile int depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    return zero == 0 ? sink(depth + 1) + room[0] : 0;
}

static void *falls(void *state) {
    fall();
    return state;
}

static void *exits(void *state) {
    exit(0);
    return state;
}

static void *sinks(void *state) {
    sink(0);
    return state;
}

static void *stays(void *state) {
    for (;;) pause();
    return state;
}

/* Waits until the output file is replaced. */
static void *falls_late(void *state) {
    struct stat before, now;
    stat("out.ir", &before);
    do stat("out.ir", &now);
    while (now.st_ino == before.st_ino);
    return falls(state);
}

/* Ignores SIGTERM, and writes the process's id to a file. */
static void hang_all_the_same(void) {
    FILE *file = fopen("worker.part", "w");
    signal(SIGTERM, SIG_IGN);
    setpgid(0, getpgid(getppid()));
    fprintf(file, "%d", (int)getpid());
    fclose(file);
    rename("worker.part", "worker.pid");
    stays(NULL);
}

static void no_more(int resource) {
    struct rlimit limit;
    getrlimit(resource, &limit);
    limit.rlim_cur = 0;
    setrlimit(resource, &limit);
}

static void status_at_exit(void) { _exit(9); }

static void good_at_exit(void) { _exit(0); }

static void fall_at_exit(void) { fall(); }

static void hang_at_exit(void) { stays(NULL); }

static void fall_with(void *state) { falls(state); }

static void end_with(int signal) { _exit(signal == 0); }

static int is(const char *fault) {
    const char *selected = getenv("FAULT");
    return selected != NULL && strcmp(selected, fault) == 0;
}

/* Whether this part of the plugin has the fault. */
static int is_at(const char *part) {
    const char *selected = getenv("AT");
    return strcmp(selected == NULL ? "pass" : selected, part) == 0;
}

/* Runs when the process exits. */
__attribute__((destructor)) static void end(void) {
    if (is("destructor status")) _exit(9);
    if (is("destructor crash")) fall();
}

static void say_its_file(void) {
    Dl_info found = {0};
    dladdr((const void *)&zero, &found), fprintf(stderr, "loaded from %s\n", found.dli_fname);
}

static void on_a_thread(void *(*work)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    if (work != stays && work != falls_late) pthread_join(thread, NULL);
}

/* Leaves a child that holds all open files except the standard streams. */
static void leave_a_child(void) {
    if (fork() != 0) return;
    close(0), close(1), close(2);
    usleep(600000);
    _exit(0);
}

/* Starts a child that runs for a long time and holds all open files. */
static void start_another(void) {
    if (fork() == 0) {
        sleep(600);
        _exit(0);
    }
}

/* Disables the alternate stack of signal handlers. */
static void take_handlers_stack(void) {
    stack_t none;
    memset(&none, 0, sizeof none);
    none.ss_flags = SS_DISABLE;
    none.ss_size = 1 << 16;
    sigaltstack(&none, NULL);
}

static void never_wait(void) {
    int fd;
    for (fd = 0; fd < 3; fd++) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* Redirects all open files to a log, as after a double close whose descriptors were reused. */
static void lead_files_to_a_log(void) {
    struct stat known;
    int fd, log = open("printed", O_WRONLY | O_CREAT, 0666);
    for (fd = 3; fd < 1024; fd++)
        if (fd != log && fstat(fd, &known) == 0 && S_ISREG(known.st_mode)) dup2(log, fd);
}

static void spoil_descriptors(void) {
    int fd;
    if (is("files to a log")) lead_files_to_a_log();
    if (is("close 0 to 2"))
        for (fd = 0; fd < 3; fd++) close(fd);
    if (is("close all"))
        for (fd = 0; fd < 1024; fd++) close(fd);
    if (is("close from 3"))
        for (fd = 3; fd < 1024; fd++) close(fd);
    if (is("stdout to a file")) dup2(open("printed", O_WRONLY | O_CREAT, 0666), 1);
}

static void spoil(void) {
    extern int __cxa_atexit(void (*)(void *), void *, void *);
    extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
    extern void *__dso_handle;
    sigset_t all;
    if (is("print")) printf("printed by the plugin\n");
    if (is("dladdr")) say_its_file();
    if (is("atexit status")) atexit(status_at_exit);
    if (is("atexit crash")) atexit(fall_at_exit);
    if (is("atexit hang")) atexit(hang_at_exit);
    if (is("static destructor")) __cxa_atexit(fall_with, NULL, &__dso_handle);
    if (is("thread destructor")) __cxa_thread_atexit_impl(fall_with, NULL, &__dso_handle);
    if (is("thread stays")) on_a_thread(stays);
    if (is("thread, late")) on_a_thread(falls_late);
    if (is("chdir") && chdir("/") != 0) abort();
    if (is("umask")) umask(0777);
    if (is("rounding")) fesetround(FE_UPWARD);
    if (is("locale")) setlocale(LC_ALL, "C.UTF-8");
    if (is("handler")) signal(SIGUSR1, end_with);
    if (is("no files")) no_more(RLIMIT_NOFILE);
    if (is("no bytes")) no_more(RLIMIT_FSIZE);
    if (is("block signals")) {
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
    }
    if (is("fork returns")) fork();
    if (is("child stays")) leave_a_child();
    if (is("fork")) start_another();
    spoil_descriptors();
    if (is("streams never wait")) never_wait();
}

static void die(void) {
    char *volatile block;
    char *volatile again;
    if (is("segv")) fall();
    if (is("bus")) raise(SIGBUS);
    if (is("abort")) abort();
    if (is("fpe")) zero = raise(SIGFPE);
    if (is("ill")) __builtin_trap();
    if (is("stack")) sink(0);
    if (is("stack, no other")) take_handlers_stack(), sink(0);
    if (is("exit")) exit(0);
    if (is("exit 3")) exit(3);
    if (is("quick_exit")) quick_exit(0);
    if (is("_exit")) _exit(0);
    if (is("pthread_exit")) pthread_exit(NULL);
    if (is("exec")) execl("/bin/true", "true", (char *)NULL);
    if (is("kill")) kill(getpid(), SIGKILL);
#ifdef __linux__
    if (is("rename, kill")) prctl(PR_SET_NAME, "pool"), kill(getpid(), SIGKILL);
#endif
    if (is("segv, and no model")) unlink("m.ir"), fall();
    if (is("overrun")) memset(again = block = malloc(24), 0x41, (size_t)(1 << 17) + (size_t)zero);
    if (is("term")) kill(getpid(), SIGTERM), sleep(9);
    if (is("usr1")) raise(SIGUSR1);
    if (is("alarm")) ualarm(20000, 0), stays(NULL);
    if (is("stop")) raise(SIGSTOP);
    if (is("hang")) stays(NULL);
    if (is("hang all the same")) hang_all_the_same();
    if (is("spin"))
        while (!zero) continue;
    if (is("free twice")) {
        again = block = malloc(100);
        free(block);
        free(again);
    }
    if (is("thread")) on_a_thread(falls);
    if (is("thread exit")) on_a_thread(exits);
    if (is("thread stack")) on_a_thread(sinks);
    if (is("atexit, exit 3")) atexit(good_at_exit), exit(3);
    if (is("child takes over") && fork() != 0) _exit(0);
    if (is("handled segv")) signal(SIGSEGV, end_with), fall();
    if (is("child holds on")) leave_a_child(), fall();
    if (is("fork and hang")) start_another(), stays(NULL);
    if (is("fork and _exit")) start_another(), _exit(3);
    spoil();
}

/* The fault of parts other than the pass. */
static passdock_status at(const char *part) {
    if (!is_at(part)) return PASSDOCK_OK;
    if (is("status 77")) return 77;
    die();
    return PASSDOCK_OK;
}

__attribute__((constructor)) static void begin(void) { at("constructor"); }

/* Whether a function is skipped. */
static int is_spared(const passdock_host *host, const passdock_function_ref *function) {
    const char *only = getenv("ONLY");
    passdock_symbol_id name;
    passdock_op_id op;
    if (only == NULL) return 0;
    name = host->symbols->find(function->view->symbols, passdock_text(only));
    for (op = 0; op < function->view->ops.len; op++) {
        const passdock_op *found = passdock_get_op(function->view, op);
        if (found != NULL && found->name == name) return 0;
    }
    return 1;
}

/* Returns the number of ops of a function, without the terminator. */
static uint32_t ops(const passdock_function_ref *function) {
    passdock_op_id op;
    uint32_t count = 0;
    for (op = 0; op < function->view->ops.len; op++) {
        const passdock_op *found = passdock_get_op(function->view, op);
        if (found != NULL && found->results.len > 0) count++;
    }
    return count;
}

/* Replaces the first op with its operand. */
static passdock_status take_one_out(const passdock_host *host, const passdock_function_ref *function) {
    passdock_op_id op;
    for (op = 0; op < function->view->ops.len; op++) {
        const passdock_op *found = passdock_get_op(function->view, op);
        passdock_value_id operand = passdock_operand(function->view, op, 0);
        if (found != NULL && found->results.len == 1 && operand != PASSDOCK_NONE)
            return host->functions->replace_op_with(function->handle, op, &operand, 1);
    }
    return PASSDOCK_OK;
}

/* A correct pass: sets an attribute of the first `onnx.Relu`. */
static passdock_status edit(const passdock_host *host, const passdock_function_ref *function) {
    const passdock_function_view *view = function->view;
    passdock_symbol_id relu = host->symbols->find(view->symbols, passdock_text("onnx.Relu"));
    passdock_op_id op;
    for (op = 0; op < view->ops.len; op++) {
        const passdock_op *record = passdock_get_op(view, op);
        passdock_attr_desc attr;
        if (record == NULL || record->name != relu) continue;
        memset(&attr, 0, sizeof attr);
        attr.struct_size = sizeof attr;
        attr.kind = PASSDOCK_ATTR_INT;
        attr.name = host->symbols->intern(view->symbols, passdock_text("seen"));
        attr.bits = 1;
        return host->functions->set_attr(function->handle, op, &attr);
    }
    return PASSDOCK_OK;
}

/* A pass that rewrites each op with one result by a rule, and crashes on an `onnx.Sigmoid`. */
static passdock_status rewrite_each(const passdock_host *host, passdock_context *context, const passdock_function_ref *function) {
    const passdock_function_view *view = function->view;
    passdock_symbol_id fatal = host->symbols->find(view->symbols, passdock_text("onnx.Sigmoid"));
    passdock_str rule = passdock_text("c_mark");
    passdock_op_id op;
    for (op = 0; op < view->ops.len; op++) {
        const passdock_op *record = passdock_get_op(view, op);
        passdock_attr_desc attr;
        if (record == NULL || record->results.len != 1) continue;
        if (host->context->may_rewrite(context, rule) != PASSDOCK_OK) break;
        if (record->name == fatal) fall();
        memset(&attr, 0, sizeof attr);
        attr.struct_size = sizeof attr;
        attr.kind = PASSDOCK_ATTR_INT;
        attr.name = host->symbols->intern(view->symbols, passdock_text("seen"));
        if (host->functions->set_attr(function->handle, op, &attr) != PASSDOCK_OK) return PASSDOCK_STATUS_FAILED;
        host->context->rewrote(context, rule);
    }
    return PASSDOCK_OK;
}

static passdock_status work(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_function_ref *function,
                            const passdock_module_ref *module) {
    (void)state;
    (void)module;
    if (is_spared(host, function)) return PASSDOCK_OK;
    at("pass");
    if (is("segv, fpe below 4 ops")) {
        if (ops(function) < 4) raise(SIGFPE);
        fall();
    }
    if (is("segv the second time")) {
        static int times;
        if (times++ > 0) fall();
        return take_one_out(host, function);
    }
    if (is("segv below 3 ops") && ops(function) < 3) fall();
    if (is_at("failed")) return PASSDOCK_STATUS_FAILED;
    if (is("status 77")) return 77;
    if (is("scribble and fail")) {
        memset((void *)function->view->ops.base, 0xff, function->view->ops.len * sizeof(passdock_op));
        return PASSDOCK_STATUS_FAILED;
    }
    if (is("scribble")) memset((void *)function->view->ops.base, 0, function->view->ops.len * sizeof(passdock_op));
    if (is("segv in a rewrite")) return rewrite_each(host, context, function);
    if (is("edit")) return edit(host, function);
    if (is("fail after chdir")) return chdir("/") == 0 ? PASSDOCK_STATUS_FAILED : PASSDOCK_OK;
    return PASSDOCK_OK;
}

static passdock_status infer(const passdock_host *host, void *state, passdock_op_call *call,
                             const passdock_function_ref *function, passdock_op_id op) {
    (void)host;
    (void)state;
    (void)call;
    (void)function;
    (void)op;
    return at("infer");
}

static passdock_status evaluate(const passdock_host *host, void *state, passdock_op_call *call,
                                const passdock_function_ref *function, passdock_op_id op) {
    (void)host;
    (void)state;
    (void)call;
    (void)function;
    (void)op;
    return at("evaluate");
}

static passdock_status decompose(const passdock_host *host, void *state, passdock_op_call *call,
                                 const passdock_function_ref *function, passdock_op_id op) {
    (void)host;
    (void)state;
    (void)call;
    (void)function;
    (void)op;
    return at("decompose");
}

static passdock_status create(const passdock_host *host, void *state, passdock_context *context, void **out) {
    (void)host;
    (void)state;
    (void)context;
    *out = (void *)&zero;
    return at("create");
}

static void destroy(const passdock_host *host, void *instance, passdock_context *context) {
    (void)host;
    (void)instance;
    (void)context;
    at("destroy");
}

static passdock_status enter(const passdock_host *host, void *instance, passdock_context *context) {
    (void)host;
    (void)instance;
    (void)context;
    return at("enter");
}

static passdock_status before(const passdock_host *host, void *instance, passdock_context *context,
                              const passdock_module_ref *module, const passdock_pass_info *pass) {
    (void)host;
    (void)instance;
    (void)context;
    (void)module;
    (void)pass;
    return at("before");
}

static passdock_status after(const passdock_host *host, void *instance, passdock_context *context,
                             const passdock_module_ref *module, const passdock_pass_info *pass) {
    (void)host;
    (void)instance;
    (void)context;
    (void)module;
    (void)pass;
    return at("after");
}

static passdock_status failed(const passdock_host *host, void *instance, passdock_context *context,
                              const passdock_module_ref *module, const passdock_pass_info *pass) {
    (void)host;
    (void)instance;
    (void)context;
    (void)module;
    (void)pass;
    return at("failed");
}

PASSDOCK_MANIFEST("crash.toml");

static passdock_pass_entry pass;
static passdock_op_entry op;
static passdock_instrument_entry instrument;
static passdock_plugin plugin;

/* Corrupts the table. */
static void spoil_table(void) {
    if (is("table of no size")) plugin.struct_size = 0;
    if (is("table of a great size")) plugin.struct_size = 1u << 30;
    if (is("no passes")) plugin.passes = NULL;
    if (is("a million passes")) plugin.pass_count = 1u << 20;
    if (is("passes that are nowhere")) plugin.passes = (void *)4096;
    if (is("passes of no size")) plugin.pass_stride = 0;
    if (is("no name")) pass.name.ptr = NULL;
    if (is("a name that is nowhere")) pass.name.ptr = (const void *)1;
    if (is("an endless name")) pass.name.len = (size_t)-1;
    if (is("a name that isn't UTF-8")) pass.name = passdock_text("c.\xff");
    if (is("another name")) pass.name = passdock_text("c.transform.Lives");
    if (is("no function")) pass.run_function = NULL;
    if (is("no op")) plugin.op_count = 0;
    if (is("another op")) op.name = passdock_text("crash.Another");
    if (is("no create")) instrument.create = NULL;
}

const passdock_plugin *passdock_plugin_v1(const passdock_host *host, passdock_attach *attach) {
    (void)host;
    if (is("rejects")) {
        attach->reason = passdock_text("no license found");
        return NULL;
    }
    if (is("rejects without a word")) return NULL;
    if (is("rejects at length")) {
        attach->reason.ptr = (const void *)1;
        attach->reason.len = (size_t)-1;
        return NULL;
    }
    if (is("table that is nowhere")) return (const void *)8;
    if (is("table that isn't aligned")) return (const void *)((const char *)&plugin + 1);
    at("load");
    pass.name = passdock_text("c.transform.Crash");
    pass.run_function = work;
    op.name = passdock_text("crash.Op");
    op.since = 1;
    op.min_operands = 1;
    op.max_operands = 1;
    op.max_results = 1;
    op.infer = infer;
    if (is_at("evaluate")) op.evaluate = evaluate, op.traits = PASSDOCK_TRAIT_PURE;
    if (is_at("decompose")) op.decompose = decompose;
    instrument.name = passdock_text("crash.watch");
    instrument.create = create;
    instrument.destroy = destroy;
    instrument.enter_pass_ctx = enter;
    instrument.run_before_pass = before;
    instrument.run_after_pass = after;
    instrument.pass_failed = failed;
    plugin.struct_size = sizeof plugin;
    plugin.pass_count = 1;
    plugin.passes = &pass;
    plugin.pass_stride = sizeof pass;
    plugin.op_count = 1;
    plugin.ops = &op;
    plugin.op_stride = sizeof op;
    plugin.instrument_count = 1;
    plugin.instruments = &instrument;
    plugin.instrument_stride = sizeof instrument;
    if (is_at("table")) spoil_table();
    return &plugin;
}
