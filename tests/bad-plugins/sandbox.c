/* A plugin in C that reaches beyond its process, for the tests of the sandbox. The environment variable ATTEMPT selects a
 * system call; the error that it returns is printed, "allowed" if it returns none. AT selects where it is called: "pass",
 * "constructor", "thread" or "atexit". TARGET is a path or a process id for some calls. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "passdock.h"

extern char **environ;

static const char *selected(const char *variable, const char *otherwise) {
    const char *value = getenv(variable);
    return value == NULL ? otherwise : value;
}

static int is(const char *attempt) { return strcmp(selected("ATTEMPT", ""), attempt) == 0; }

static void *nothing(void *state) { return state; }

/* Returns what a call returned: 0 or more if it succeeded, or an error number below 0. */
static long done(long result) { return result < 0 ? -errno : result; }

static long open_file(int flags) {
    return done(open(selected("TARGET", "/etc/passwd"), flags, 0600));
}

static long try_once(void) {
    const char *target = selected("TARGET", "/etc/passwd");
    pid_t other = atoi(target);
    struct rlimit limit;
    char *const true_command[] = {"/bin/true", NULL};
    if (is("tcp socket")) return done(socket(AF_INET, SOCK_STREAM, 0));
    if (is("udp socket")) return done(socket(AF_INET6, SOCK_DGRAM, 0));
    if (is("unix socket")) return done(socket(AF_UNIX, SOCK_STREAM, 0));
    if (is("netlink socket")) return done(socket(AF_NETLINK, SOCK_RAW, 0));
    if (is("socket pair")) {
        int pair[2];
        return done(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    }
    if (is("exec")) return done(execv("/bin/true", true_command));
    if (is("execveat")) {
        int fd = syscall(SYS_memfd_create, "program", 0);
        return done(syscall(SYS_execveat, fd, "", true_command, environ, 0x1000));
    }
    if (is("fork")) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        return done(child);
    }
    if (is("vfork")) {
        pid_t child = vfork();
        if (child == 0) _exit(0);
        return done(child);
    }
    if (is("clone3")) {
        unsigned long long arguments[11] = {0};
        arguments[4] = SIGCHLD;
        long child = syscall(SYS_clone3, arguments, sizeof arguments);
        if (child == 0) _exit(0);
        return done(child);
    }
    if (is("posix_spawn")) {
        pid_t child;
        int error = posix_spawn(&child, "/bin/true", NULL, NULL, true_command, environ);
        return -error;
    }
    if (is("system")) {
        int status = system("true");
        return status == 0 ? 0 : done(-1);
    }
    if (is("thread")) {
        pthread_t thread;
        int error = pthread_create(&thread, NULL, nothing, NULL);
        if (error == 0) pthread_join(thread, NULL);
        return -error;
    }
    if (is("ptrace")) return done(ptrace(PTRACE_SEIZE, other, NULL, NULL));
    if (is("read memory")) {
        char byte;
        struct iovec to = {&byte, 1}, from = {(void *)environ, 1};
        return done(process_vm_readv(other, &to, 1, &from, 1, 0));
    }
    if (is("process descriptor")) return done(syscall(SYS_pidfd_open, other, 0));
    if (is("kill")) return done(kill(other, 0));
    if (is("kill group")) return done(kill(0, 0));
    if (is("kill all")) return done(kill(-1, 0));
    if (is("tgkill")) return done(syscall(SYS_tgkill, other, other, 0));
    if (is("tkill")) return done(syscall(SYS_tkill, other, 0));
    if (is("signal itself")) return done(kill(getpid(), 0));
    if (is("raise limit")) {
        getrlimit(RLIMIT_CORE, &limit);
        limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
        return done(setrlimit(RLIMIT_CORE, &limit));
    }
    if (is("limit of another process")) {
        limit.rlim_cur = limit.rlim_max = 1;
        return done(prlimit(other, RLIMIT_NOFILE, &limit, NULL));
    }
    if (is("read limit")) return done(getrlimit(RLIMIT_NOFILE, &limit));
    if (is("mount")) return done(mount("none", "/mnt", "tmpfs", 0, NULL));
    if (is("unmount")) return done(umount("/mnt"));
    if (is("chroot")) return done(chroot("/"));
    if (is("file system")) return done(syscall(SYS_fsopen, "tmpfs", 0));
    if (is("unshare")) return done(unshare(CLONE_NEWUSER));
    if (is("join namespace")) return done(setns(0, 0));
    if (is("clone namespace")) return done(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    if (is("change mode")) return done(chmod(target, 0600));
    if (is("change owner")) return done(chown(target, 0, 0));
    if (is("change times")) return done(utimensat(AT_FDCWD, target, NULL, 0));
    if (is("truncate")) return done(truncate(target, 0));
    if (is("terminal input")) return done(ioctl(2, TIOCSTI, "x"));
    if (is("shared memory")) return done(shmget(IPC_PRIVATE, 1, 0600));
    if (is("io_uring")) return done(syscall(SYS_io_uring_setup, 1, NULL));
    if (is("bpf")) return done(syscall(SYS_bpf, 0, NULL, 0));
    if (is("keys")) return done(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
    if (is("new system call")) return done(syscall(4096));
    if (is("read file")) return open_file(O_RDONLY);
    if (is("list directory")) return open_file(O_RDONLY | O_DIRECTORY);
    if (is("write file")) return open_file(O_WRONLY);
    if (is("create file")) return open_file(O_WRONLY | O_CREAT | O_EXCL);
    if (is("remove file")) return done(unlink(target));
    if (is("create directory")) return done(mkdir(target, 0700));
    if (is("create link")) return done(symlink("/etc/passwd", target));
    if (is("create pipe")) return done(mkfifo(target, 0600));
    if (is("rename file")) {
        char to[4096];
        snprintf(to, sizeof to, "%s.renamed", target);
        return done(rename(target, to));
    }
    if (is("temporary file")) {
        char path[4096];
        snprintf(path, sizeof path, "%s/own", selected("TMPDIR", "/tmp"));
        return done(open(path, O_RDWR | O_CREAT, 0600));
    }
    if (is("temporary link")) {
        char path[4096];
        snprintf(path, sizeof path, "%s/link", selected("TMPDIR", "/tmp"));
        return done(symlink("/etc/passwd", path));
    }
    if (is("memory of its parent")) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/mem", getppid());
        return done(open(path, O_RDONLY));
    }
    if (is("environment of its parent")) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/environ", getppid());
        return done(open(path, O_RDONLY));
    }
    return 0;
}

static void attempt(void) {
    long result = try_once();
    const char *text = result < 0 ? strerrorname_np((int)-result) : "allowed";
    fprintf(stderr, "attempt: %s\n", text);
}

static void *attempt_in_thread(void *state) {
    attempt();
    return state;
}

static int at(const char *place) {
    return getenv("ATTEMPT") != NULL && strcmp(selected("AT", "pass"), place) == 0;
}

__attribute__((constructor)) static void construct(void) {
    if (at("constructor")) attempt();
}

static passdock_status work(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_module_ref *module) {
    pthread_t thread;
    (void)host, (void)state, (void)context, (void)module;
    if (at("pass")) attempt();
    if (at("atexit")) {
        atexit(attempt);
        exit(0);
    }
    if (at("thread") && pthread_create(&thread, NULL, attempt_in_thread, NULL) == 0) pthread_join(thread, NULL);
    return PASSDOCK_OK;
}

PASSDOCK_MANIFEST_TEXT("name = 'sandbox'\nversion = '0.1.0'\n"
                       "[[pass]]\nname = 'sandbox.transform.Attempt'\nkind = 'module'\n");

const passdock_plugin *passdock_plugin_v1(const passdock_host *host, passdock_attach *attach) {
    static passdock_pass_entry pass;
    static passdock_plugin plugin;
    (void)host, (void)attach;
    pass.name = passdock_text("sandbox.transform.Attempt");
    pass.run_module = work;
    plugin.struct_size = sizeof plugin;
    plugin.pass_count = 1;
    plugin.passes = &pass;
    plugin.pass_stride = sizeof pass;
    return &plugin;
}
