/* What if the process is killed, or the disk is full, at the n-th call that changes a file?
 *
 * Preloaded (LD_PRELOAD), this stands before the C library's calls. It counts those that change files
 * under one folder, in a file that is mapped and so outlives the process; at the n-th it kills the
 * process (kill), writes half and kills it (tear), or says from there on that the disk is full (full).
 * Settings: TROUBLE_UNDER (the folder, absolute), TROUBLE_COUNT (the file of the counter, 8 bytes),
 * TROUBLE_AT (n, from 1), TROUBLE (none, kill, tear, full).
 *
 * Calls that programs make without the C library pass unseen. What a SIGKILL leaves is the same before
 * and behind a sync, so that a rename made so stands between two calls that are seen.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NONE, KILL, TEAR, FULL };

static const char *under;
static size_t under_length;
static _Atomic unsigned long *counter;
static unsigned long at;
static int trouble;

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("TROUBLE_UNDER"), *file = getenv("TROUBLE_COUNT");
    const char *number = getenv("TROUBLE_AT"), *kind = getenv("TROUBLE");
    if (!folder || !file || !number || !kind) return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) return;
    void *mapped = mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (mapped == MAP_FAILED) return;
    counter = mapped;
    under = folder;
    under_length = strlen(folder);
    at = strtoul(number, NULL, 10);
    trouble = !strcmp(kind, "kill") ? KILL : !strcmp(kind, "tear") ? TEAR : !strcmp(kind, "full") ? FULL : NONE;
}

static int is_under(const char *path) {
    return !strncmp(path, under, under_length) && (path[under_length] == '/' || !path[under_length]);
}

static int fd_is_under(int fd) {
    char link[40], path[PATH_MAX];
    if (!counter) return 0;
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    errno = before;
    if (length < 0) return 0;
    path[length] = 0;
    return is_under(path);
}

static int path_is_under(int folder, const char *name) {
    char path[PATH_MAX];
    if (!counter) return 0;
    if (name[0] == '/') return is_under(name);
    if (folder != AT_FDCWD) return fd_is_under(folder);
    long length = syscall(SYS_getcwd, path, sizeof path);
    if (length < 0) return 0;
    snprintf(path + length - 1, sizeof path - (size_t)length, "/%s", name);
    return is_under(path);
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* Counts a call; what is to become of it. */
static int next(int needs_room) {
    /* A disk that is full refuses writes alone: others are not counted then. */
    if (trouble == FULL && !needs_room) return NONE;
    unsigned long n = atomic_fetch_add(counter, 1) + 1;
    if (trouble == FULL) return at <= n ? FULL : NONE;
    if (n != at) return NONE;
    if (trouble == KILL || (trouble == TEAR && !needs_room)) die();
    return trouble;
}

static long no_room(void) {
    errno = ENOSPC;
    return -1;
}

#define WRITES(is_ours, half, whole)            \
    do {                                        \
        if (is_ours) switch (next(1)) {         \
            case TEAR: half; die(); break;      \
            case FULL: return no_room();        \
            default: break;                     \
            }                                   \
        return whole;                           \
    } while (0)

ssize_t write(int fd, const void *bytes, size_t n) {
    WRITES(fd_is_under(fd), syscall(SYS_write, fd, bytes, n / 2), syscall(SYS_write, fd, bytes, n));
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t place) {
    WRITES(fd_is_under(fd), syscall(SYS_pwrite64, fd, bytes, n / 2, place), syscall(SYS_pwrite64, fd, bytes, n, place));
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t place) {
    return pwrite64(fd, bytes, n, place);
}

ssize_t writev(int fd, const struct iovec *parts, int n) {
    WRITES(fd_is_under(fd), syscall(SYS_writev, fd, parts, n / 2), syscall(SYS_writev, fd, parts, n));
}

int ftruncate64(int fd, off64_t length) {
    struct stat now;
    int grows = fd_is_under(fd) && !fstat(fd, &now) && now.st_size < length;
    if (fd_is_under(fd)) switch (next(grows)) {
        case TEAR: die(); break;
        case FULL: return (int)no_room();
        default: break;
    }
    return (int)syscall(SYS_ftruncate, fd, length);
}

int ftruncate(int fd, off_t length) {
    return ftruncate64(fd, length);
}

int fallocate64(int fd, int mode, off64_t place, off64_t length) {
    if (fd_is_under(fd)) switch (next(1)) {
        case TEAR: die(); break;
        case FULL: return (int)no_room();
        default: break;
    }
    return (int)syscall(SYS_fallocate, fd, mode, place, length);
}

int fallocate(int fd, int mode, off_t place, off_t length) {
    return fallocate64(fd, mode, place, length);
}

int fsync(int fd) {
    if (fd_is_under(fd)) next(0);
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    if (fd_is_under(fd)) next(0);
    return (int)syscall(SYS_fdatasync, fd);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    if (path_is_under(to, new)) next(0);
    return (int)syscall(SYS_renameat2, from, old, to, new, flags);
}

int renameat(int from, const char *old, int to, const char *new) {
    return renameat2(from, old, to, new, 0);
}

int rename(const char *old, const char *new) {
    return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int unlinkat(int folder, const char *path, int flags) {
    if (path_is_under(folder, path)) next(0);
    return (int)syscall(SYS_unlinkat, folder, path, flags);
}

int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}
