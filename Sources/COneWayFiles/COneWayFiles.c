#define _GNU_SOURCE
#include "COneWayFiles.h"

#include <errno.h>
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
