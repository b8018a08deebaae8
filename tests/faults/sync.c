/* Tells what is synced and when, for a test of durability: LD_PRELOAD puts these before the C library's.
 *
 * Each sync appends a line to SYNC_LOG. Of a file: `file INODE LINKS SIZE`, with the number of names that it has at that moment. Of a
 * folder: `folder INODE`, with the inode that SYNC_NAME has in it, or 0. So the order of syncs and renames is seen, though renames need
 * not go through the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void tell(int fd) {
    struct stat own, named;
    const char *log = getenv("SYNC_LOG"), *name = getenv("SYNC_NAME");
    FILE *out = log && name && fstat(fd, &own) == 0 ? fopen(log, "a") : NULL;
    if (!out) return;
    if (S_ISDIR(own.st_mode)) {
        int found = fstatat(fd, name, &named, 0) == 0;
        fprintf(out, "folder %llu\n", found ? (unsigned long long)named.st_ino : 0);
    } else {
        fprintf(out, "file %llu %llu %llu\n", (unsigned long long)own.st_ino, (unsigned long long)own.st_nlink, (unsigned long long)own.st_size);
    }
    fclose(out);
}

int fsync(int fd) {
    tell(fd);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd) {
    tell(fd);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
