/* The tables of the host, and symbols. */
#include "suite.h"

/* Whether a table covers that of this header, and has all of its functions. */
static int is_complete(const void *table, size_t size) {
    const uint32_t *head = (const uint32_t *)table;
    void *const *functions = (void *const *)((const char *)table + 8);
    size_t i;
    if (table == NULL || head[0] < size || head[1] != 0) return 0;
    for (i = 0; i < (size - 8) / sizeof *functions; i++) {
        if (functions[i] == NULL) return 0;
    }
    return 1;
}

void check_host(const passdock_host *host) {
    const void *loops = host->get_extension(host, passdock_text(PASSDOCK_LOOPS_EXTENSION));
    passdock_str empty = {NULL, 0};
    CHECK(101, host->struct_size >= sizeof *host && host->reserved == 0);
    CHECK(102, is_complete(host->symbols, sizeof *host->symbols));
    CHECK(102, is_complete(host->functions, sizeof *host->functions));
    CHECK(102, is_complete(host->modules, sizeof *host->modules));
    CHECK(102, is_complete(host->context, sizeof *host->context));
    CHECK(102, is_complete(host->ops, sizeof *host->ops));
    CHECK(102, is_complete(host->definitions, sizeof *host->definitions));
    CHECK(102, is_complete(host->analyses, sizeof *host->analyses));
    CHECK(103, host->abi.major == PASSDOCK_ABI_MAJOR && host->ir.major == PASSDOCK_IR_MAJOR);
    CHECK(104, host->name.len > 0 && host->version.len > 0);
    CHECK(105, host->get_extension(host, passdock_text("conformance.none/1")) == NULL);
    CHECK(105, host->get_extension(host, empty) == NULL);
    CHECK(105, host->get_extension(host, passdock_text(PASSDOCK_LOOPS_EXTENSION)) == loops);
}

typedef struct elsewhere {
    const passdock_host *host;
    const passdock_symbols *symbols;
    passdock_symbol_id known, interned;
    passdock_str text;
} elsewhere;

static void use_symbols(void *state) {
    elsewhere *e = (elsewhere *)state;
    e->known = e->host->symbols->find(e->symbols, passdock_text("main"));
    e->interned = e->host->symbols->intern(e->symbols, passdock_text("conformance thread"));
    e->text = e->host->symbols->text(e->symbols, e->interned);
}

void check_symbols(const passdock_host *host, const passdock_symbols *symbols) {
    static const char *const known[] = {"", "return", "yield", "if", "for", "while", "tuple", "tuple_get", "index"};
    const passdock_symbol_api *api = host->symbols;
    passdock_str with_nul = {"a\0b", 3}, not_utf8 = {"\xff", 1}, text;
    passdock_symbol_id one = api->intern(symbols, passdock_text("conformance one")), more;
    elsewhere e = {NULL, NULL, 0, 0, {NULL, 0}};
    char name[32];
    unsigned i;

    CHECK(201, one != PASSDOCK_NONE && one >= PASSDOCK_SYMBOL_FIRST);
    CHECK(201, api->intern(symbols, passdock_text("conformance one")) == one);
    text = api->text(symbols, one);
    CHECK(201, same_text(text, "conformance one"));
    CHECK(202, api->find(symbols, passdock_text("conformance one")) == one);
    CHECK(202, api->find(symbols, passdock_text("conformance none")) == PASSDOCK_NONE);
    CHECK(202, api->find(symbols, passdock_text("conformance none")) == PASSDOCK_NONE);
    CHECK(203, api->text(symbols, PASSDOCK_NONE).len == 0 && api->text(symbols, PASSDOCK_NONE - 1).len == 0);
    CHECK(204, api->intern(symbols, not_utf8) == PASSDOCK_NONE && api->find(symbols, not_utf8) == PASSDOCK_NONE);
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        CHECK(205, same_text(api->text(symbols, i), known[i]));
        CHECK(205, api->intern(symbols, passdock_text(known[i])) == i);
    }
    more = api->intern(symbols, with_nul);
    CHECK(206, more != PASSDOCK_NONE && more != api->intern(symbols, passdock_text("a")));
    CHECK(206, api->text(symbols, more).len == 3 && memcmp(api->text(symbols, more).ptr, "a\0b", 3) == 0);
    for (i = 0; i < 1000; i++) {
        name[0] = (char)('a' + i % 26);
        name[1] = (char)('a' + i / 26 % 26);
        name[2] = (char)('a' + i / 676);
        strcpy(name + 3, " conformance");
        api->intern(symbols, passdock_text(name));
    }
    CHECK(207, api->text(symbols, one).ptr == text.ptr && same_text(text, "conformance one"));
    e.host = host;
    e.symbols = symbols;
    on_thread(use_symbols, &e);
    CHECK(208, e.known == api->find(symbols, passdock_text("main")));
    CHECK(208, e.interned == api->find(symbols, passdock_text("conformance thread")));
    CHECK(208, same_text(e.text, "conformance thread"));
}
