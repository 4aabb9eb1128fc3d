/* A plugin in C that reaches beyond its process, for the tests of the sandbox. The environment variable ATTEMPTS names
 * system calls, separated by commas. For each, the plugin prints the error that it returns, or "allowed". AT selects where
 * they are called: "pass", "constructor", "thread" or "atexit". PROCESS is the id of another process. */
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

static const char *attempt;

static const char *selected(const char *variable, const char *otherwise) {
    const char *value = getenv(variable);
    return value == NULL ? otherwise : value;
}

static int is(const char *name) { return strcmp(attempt, name) == 0; }

static void *nothing(void *state) { return state; }

/* Returns the result of a call: 0 or more if it succeeded, or an error number below 0. */
static long done(long result) { return result < 0 ? -errno : result; }

static long try_once(void) {
    pid_t other = atoi(selected("PROCESS", "1"));
    char own[4096], link[4096], memory[64], environment[64];
    struct rlimit limit;
    char *const true_command[] = {"/bin/true", NULL};
    snprintf(own, sizeof own, "%s/own", selected("TMPDIR", "/tmp"));
    snprintf(link, sizeof link, "%s/link", selected("TMPDIR", "/tmp"));
    snprintf(memory, sizeof memory, "/proc/%d/mem", getppid());
    snprintf(environment, sizeof environment, "/proc/%d/environ", getppid());
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
        limit.rlim_cur = limit.rlim_max;
        return done(setrlimit(RLIMIT_CORE, &limit));
    }
    if (is("limit of another process")) {
        limit.rlim_cur = limit.rlim_max = 1;
        return done(prlimit(other, RLIMIT_NOFILE, &limit, NULL));
    }
    if (is("use memory")) {
        int block;
        for (block = 0; block < 32; block++) {
            char *memory = malloc(16 << 20);
            if (memory == NULL) return -ENOMEM;
            memset(memory, 1, 16 << 20);
            usleep(10000);
        }
        return 0;
    }
    if (is("wait")) return done(usleep(3000000));
    if (is("read limit")) return done(getrlimit(RLIMIT_NOFILE, &limit));
    if (is("mount")) return done(mount("none", "/mnt", "tmpfs", 0, NULL));
    if (is("unmount")) return done(umount("/mnt"));
    if (is("chroot")) return done(chroot("/"));
    if (is("file system")) return done(syscall(SYS_fsopen, "tmpfs", 0));
    if (is("unshare")) return done(unshare(CLONE_NEWUSER));
    if (is("join namespace")) return done(setns(0, 0));
    if (is("clone namespace")) return done(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    if (is("change mode")) return done(chmod("mine", 0600));
    if (is("change owner")) return done(chown("mine", getuid(), getgid()));
    if (is("change times")) return done(utimensat(AT_FDCWD, "mine", NULL, 0));
    if (is("truncate")) return done(truncate("mine", 0));
    if (is("terminal input")) return done(ioctl(2, TIOCSTI, "x"));
    if (is("shared memory")) return done(shmget(IPC_PRIVATE, 1, 0600));
    if (is("io_uring")) return done(syscall(SYS_io_uring_setup, 1, NULL));
    if (is("bpf")) return done(syscall(SYS_bpf, 0, NULL, 0));
    if (is("keys")) return done(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
    if (is("new system call")) return done(syscall(4096));
    if (is("read a file")) return done(open("mine", O_RDONLY));
    if (is("list a directory")) return done(open(".", O_RDONLY | O_DIRECTORY));
    if (is("write a file")) return done(open("mine", O_WRONLY));
    if (is("create a file")) return done(open("new", O_WRONLY | O_CREAT | O_EXCL, 0600));
    if (is("create a directory")) return done(mkdir("directory", 0700));
    if (is("create a link")) return done(symlink("mine", "link"));
    if (is("create a hard link")) return done(linkat(AT_FDCWD, "mine", AT_FDCWD, "hard link", 0));
    if (is("create a pipe")) return done(mkfifo("pipe", 0600));
    if (is("rename a file")) return done(rename("mine", "renamed"));
    if (is("remove a file")) return done(unlink(access("mine", F_OK) == 0 ? "mine" : "renamed"));
    if (is("create a temporary file")) return done(open(own, O_RDWR | O_CREAT, 0600));
    if (is("create a temporary link")) return done(symlink("/etc/passwd", link));
    if (is("read the memory of its parent")) return done(open(memory, O_RDONLY));
    if (is("read the environment of its parent")) return done(open(environment, O_RDONLY));
    return 0;
}

static void try_all(void) {
    char names[4096];
    snprintf(names, sizeof names, "%s", selected("ATTEMPTS", ""));
    for (attempt = strtok(names, ","); attempt != NULL; attempt = strtok(NULL, ",")) {
        long result = try_once();
        fprintf(stderr, "attempt: %s: %s\n", attempt, result < 0 ? strerrorname_np((int)-result) : "allowed");
    }
}

static void *try_in_thread(void *state) {
    try_all();
    return state;
}

static int at(const char *place) { return strcmp(selected("AT", "pass"), place) == 0; }

__attribute__((constructor)) static void construct(void) {
    if (at("constructor")) try_all();
}

static passdock_status work(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_module_ref *module) {
    pthread_t thread;
    (void)host, (void)state, (void)context, (void)module;
    if (at("pass")) try_all();
    if (at("atexit")) {
        atexit(try_all);
        exit(0);
    }
    if (at("thread") && pthread_create(&thread, NULL, try_in_thread, NULL) == 0) pthread_join(thread, NULL);
    return PASSDOCK_OK;
}

/* The permissions, as a TOML list. */
#ifndef PERMISSIONS
#define PERMISSIONS "[]"
#endif

PASSDOCK_MANIFEST_TEXT("name = 'sandbox'\nversion = '0.1.0'\npermissions = " PERMISSIONS "\n"
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
