#define _GNU_SOURCE
#include "COneWayFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

int owf_sync_file_system(int descriptor) {
#if defined(__linux__)
    return syncfs(descriptor);
#else
    (void)descriptor;
    sync();
    return 0;
#endif
}

void owf_begin_write_back(int descriptor, long long offset, long long count) {
#if defined(__linux__)
    // Only a head start: a file system may ignore it, and an error of the disk shows when the file
    // system is synced.
    (void)sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
#else
    (void)descriptor, (void)offset, (void)count;
#endif
}

int owf_rename_to_free(int from, const char *name, int to, const char *new_name) {
#if defined(__linux__) && defined(SYS_renameat2)
    // 1 is RENAME_NOREPLACE, which not every C library declares.
    return (int)syscall(SYS_renameat2, from, name, to, new_name, 1U);
#elif defined(__APPLE__)
    return renameatx_np(from, name, to, new_name, RENAME_EXCL);
#else
    (void)from, (void)name, (void)to, (void)new_name;
    errno = ENOSYS;
    return -1;
#endif
}
