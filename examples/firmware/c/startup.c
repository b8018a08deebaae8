/*
 * Start-up of a Cortex-M4F in C, and what newlib's printf stands on: output and the end of the program by
 * semihosting, which QEMU and debug probes speak.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The linker script's. */
extern uint32_t data_source, data_start, data_end, bss_start, bss_end, heap_start, heap_end, stack_top;

int main(void);
void reset(void);
void _exit(int status) __attribute__((noreturn));
void *_sbrk(ptrdiff_t more);
int _write(int file, const char *text, int length);

enum { SYS_OPEN = 0x01, SYS_WRITE = 0x05, SYS_EXIT_EXTENDED = 0x20 };
enum { STOPPED_APPLICATION_EXIT = 0x20026 };

static int semihosting(int operation, const void *arguments)
{
    register int code __asm__("r0") = operation;
    register const void *block __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(code) : "r"(block) : "memory");
    return code;
}

void _exit(int status)
{
    const uint32_t reason[2] = {STOPPED_APPLICATION_EXIT, (uint32_t)status};
    semihosting(SYS_EXIT_EXTENDED, reason);
    for (;;) {
    }
}

/* End the run with a status of its own after a fault. */
static void fault(void)
{
    _exit(70);
}

/* All files are the host's standard output, which has this name. */
int _write(int file, const char *text, int length)
{
    static int host = -1;

    (void)file;
    if (host < 0) {
        const uint32_t open[3] = {(uint32_t)(uintptr_t)":tt", 4, 3};
        host = semihosting(SYS_OPEN, open);
    }
    {
        const uint32_t write[3] = {(uint32_t)host, (uint32_t)(uintptr_t)text, (uint32_t)length};
        return length - semihosting(SYS_WRITE, write);
    }
}

/* printf takes memory for a float's digits. */
void *_sbrk(ptrdiff_t more)
{
    static char *end = (char *)&heap_start;
    char *const before = end;

    if (more > (char *)&heap_end - end) {
        errno = ENOMEM;
        return (void *)-1;
    }
    end += more;
    return before;
}

/* Stubs that newlib refers to: there are no files, no terminals and no other programs. */
int _close(int file);
int _fstat(int file, void *status);
int _isatty(int file);
int _lseek(int file, int offset, int from);
int _read(int file, char *text, int length);
int _kill(int program, int signal);
int _getpid(void);

static int none(void)
{
    errno = ENOSYS;
    return -1;
}

int _close(int file)
{
    (void)file;
    return none();
}

int _fstat(int file, void *status)
{
    (void)file;
    (void)status;
    return none();
}

int _isatty(int file)
{
    (void)file;
    return 0;
}

int _lseek(int file, int offset, int from)
{
    (void)file;
    (void)offset;
    (void)from;
    return none();
}

int _read(int file, char *text, int length)
{
    (void)file;
    (void)text;
    (void)length;
    return none();
}

int _kill(int program, int signal)
{
    (void)program;
    (void)signal;
    return none();
}

int _getpid(void)
{
    return 1;
}

void reset(void)
{
    volatile uint32_t *const coprocessors = (volatile uint32_t *)0xe000ed88u;
    const uint32_t *from = &data_source;
    uint32_t *to;

    /* The floating-point unit is off after a reset. */
    *coprocessors |= 0xfu << 20;
    __asm__ volatile("dsb\n\tisb");
    for (to = &data_start; to < &data_end; to++) {
        *to = *from++;
    }
    for (to = &bss_start; to < &bss_end; to++) {
        *to = 0;
    }
    _exit(main());
}

/* The stack's top, and the handlers of the sixteen exceptions of the core; nothing enables an interrupt. */
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, 0, 0, 0, 0, (const void *)fault, (const void *)fault, 0,
    (const void *)fault, (const void *)fault,
};
