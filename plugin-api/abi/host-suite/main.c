/* Runs a command that loads the host suite into a host, and reports which rules the host keeps.
 * docs/host-suite.md describes its use. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <process.h>
#else
#include <sys/wait.h>
#include <unistd.h>
#endif

typedef struct rule {
    int number;
    const char *sentence;
    int passed, failed;
} rule;

#define RULE(number, sentence) {number, sentence, 0, 0},
static rule rules[] = {
#include "rules.h"
};
#undef RULE
#define RULE_COUNT (sizeof rules / sizeof *rules)

enum { PUT_IS_DROPPED = 827, CREATED_IS_DESTROYED = 909, MAX_FAILURES = 200, MAX_EVENTS = 256 };

/* The failures, as lines of the report. */
static char failures[MAX_FAILURES][600];
static unsigned failure_count;
/* How often each thing began and ended: analyses and instances, by number. */
static int begun[2][MAX_EVENTS], ended[2][MAX_EVENTS];

static rule *find_rule(int number) {
    size_t i;
    for (i = 0; i < RULE_COUNT; i++) {
        if (rules[i].number == number) return &rules[i];
    }
    fprintf(stderr, "rules.h has no rule %d\n", number);
    exit(2);
}

/* Reads a line: `pass NUMBER`, `FAIL NUMBER WHERE: CONDITION`, or an event. */
static void read_line(const char *line) {
    static const char *const events[] = {"put", "create", "drop", "destroy"};
    char word[16];
    int number, i;
    if (sscanf(line, "%15s %d", word, &number) != 2) return;
    if (strcmp(word, "pass") == 0) find_rule(number)->passed = 1;
    if (strcmp(word, "FAIL") == 0) {
        find_rule(number)->failed = 1;
        if (failure_count < MAX_FAILURES) {
            snprintf(failures[failure_count++], sizeof *failures, "%s", line + strlen("FAIL "));
        }
    }
    for (i = 0; i < 4 && number >= 0 && number < MAX_EVENTS; i++) {
        if (strcmp(word, events[i]) == 0) (i < 2 ? begun : ended)[i % 2][number]++;
    }
}

/* Decides a rule about things that begin and end equally often. */
static void pair_events(int number, int kind) {
    rule *r = find_rule(number);
    int i;
    for (i = 0; i < MAX_EVENTS; i++) {
        if (begun[kind][i] > 0) r->passed = 1;
        if (begun[kind][i] == ended[kind][i]) continue;
        r->failed = 1;
        if (failure_count < MAX_FAILURES) {
            snprintf(failures[failure_count++], sizeof *failures, "%d number %d: %d begun, %d ended\n", number, i,
                     begun[kind][i], ended[kind][i]);
        }
    }
}

static int run_command(char **command) {
#ifdef _WIN32
    return (int)_spawnvp(_P_WAIT, command[0], (const char *const *)command);
#else
    int status;
    pid_t child = fork();
    if (child == 0) {
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
#endif
}

static void print_failures(int number) {
    unsigned i;
    for (i = 0; i < failure_count; i++) {
        if (atoi(failures[i]) == number) printf("           %s", strchr(failures[i], ' ') + 1);
    }
}

/* Prints all rules. Returns how many the host doesn't keep. */
static unsigned print_rules(void) {
    unsigned passed = 0, failed = 0, unreached = 0;
    size_t i;
    for (i = 0; i < RULE_COUNT; i++) {
        const rule *r = &rules[i];
        const char *verdict = r->failed ? "FAIL" : r->passed ? "pass" : "NOT REACHED";
        printf("%s %d %s\n", verdict, r->number, r->sentence);
        print_failures(r->number);
        passed += !r->failed && r->passed;
        failed += r->failed != 0;
        unreached += !r->failed && !r->passed;
    }
    printf("%u rules passed, %u failed, %u were not reached\n", passed, failed, unreached);
    return failed + unreached;
}

int main(int argc, char **argv) {
    char line[600], setting[1024];
    FILE *report;
    int status;
    if (argc < 3) {
        fprintf(stderr, "usage: %s REPORT COMMAND [ARGUMENT...]\n", argv[0]);
        return 2;
    }
    /* The plugin appends to the file. */
    report = fopen(argv[1], "w");
    if (report == NULL || fclose(report) != 0) {
        perror(argv[1]);
        return 2;
    }
    snprintf(setting, sizeof setting, "PASSDOCK_HOST_SUITE=%s", argv[1]);
    putenv(setting);
    status = run_command(argv + 2);
    report = fopen(argv[1], "r");
    if (report == NULL) {
        perror(argv[1]);
        return 2;
    }
    while (fgets(line, sizeof line, report) != NULL) read_line(line);
    fclose(report);
    pair_events(PUT_IS_DROPPED, 0);
    pair_events(CREATED_IS_DESTROYED, 1);
    if (status != 0) printf("the command exited with status %d\n", status);
    return print_rules() == 0 && status == 0 ? 0 : 1;
}
