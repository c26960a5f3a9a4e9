#define _GNU_SOURCE
#include "COneWayFiles.h"

#include <unistd.h>

int owf_sync_file_system(int descriptor) {
#if defined(__linux__)
    return syncfs(descriptor);
#else
    (void)descriptor;
    sync();
    return 0;
#endif
}
