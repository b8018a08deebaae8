/* Fails the first allocation of one place in a program, for tests/faults/run: LD_PRELOAD puts these before the C library's.
 *
 * A place is the chain of the INNER last callers within the program itself. With FAULT_LIST=FILE each new place is appended to the file,
 * in hexadecimal; with FAULT_AT=PLACE the first allocation from that place fails, and a line goes to FAULT_HIT. Both begin with the
 * handler of SIGABRT, which is the program's first statement: before it, the language's runtime aborts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 32, INNER = 8, PLACES = 1 << 16 };

static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static uintptr_t first, last;
static uint64_t wanted, seen[PLACES];
static const char *list;
static int ready, wants, spent;
static __thread int busy;

/* The first object is the program. */
static int object(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
            first = info->dlpi_addr + part->p_vaddr;
            last = first + part->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void begin(void) {
    void *frames[4];
    busy = 1;
    next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    next_posix_memalign = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    backtrace(frames, 4);
    dl_iterate_phdr(object, NULL);
    list = getenv("FAULT_LIST");
    const char *at = getenv("FAULT_AT");
    wanted = at ? strtoull(at, NULL, 16) : 0;
    wants = list || wanted;
    busy = 0;
}

static void append(const char *path, uint64_t place) {
    char line[20];
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
    int length = snprintf(line, sizeof line, "%016llx\n", (unsigned long long)place);
    if (file >= 0) {
        if (write(file, line, (size_t)length) < 0) { /* The list is then shorter. */ }
        close(file);
    }
}

static int fails(void) {
    if (!ready || busy) return 0;
    busy = 1;
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES), within = 0, fail = 0;
    uint64_t place = 14695981039346656037ull;
    for (int i = 0; i < count; i++) {
        uintptr_t frame = (uintptr_t)frames[i];
        if (frame < first || frame >= last || within == INNER) continue;
        place = (place ^ (frame - first)) * 1099511628211ull;
        within++;
    }
    place |= 1;
    if (within && wanted) {
        fail = place == wanted && !__atomic_exchange_n(&spent, 1, __ATOMIC_SEQ_CST);
        if (fail) append(getenv("FAULT_HIT"), place);
    } else if (within) {
        for (uint64_t at = place % PLACES, tries = 0; tries < PLACES; at = (at + 1) % PLACES, tries++) {
            uint64_t empty = 0;
            if (__atomic_compare_exchange_n(&seen[at], &empty, place, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
                append(list, place);
                break;
            }
            if (empty == place) break;
        }
    }
    busy = 0;
    if (fail) errno = ENOMEM;
    return fail;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    static int (*next)(int, const struct sigaction *, struct sigaction *);
    if (!next) next = (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT, "sigaction");
    if (number == SIGABRT && action) ready = wants;
    return next(number, action, old);
}

void *malloc(size_t size) {
    extern void *__libc_malloc(size_t);
    return fails() ? NULL : next_malloc ? next_malloc(size) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    extern void *__libc_calloc(size_t, size_t);
    return fails() ? NULL : next_calloc ? next_calloc(count, size) : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    extern void *__libc_realloc(void *, size_t);
    return fails() ? NULL : next_realloc ? next_realloc(old, size) : __libc_realloc(old, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    return fails() ? ENOMEM : next_posix_memalign(out, alignment, size);
}
