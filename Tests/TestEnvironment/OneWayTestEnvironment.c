#include "OneWayTestEnvironment.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Without a limit, swift-testing begins all tests at once. Hundreds of open databases, pipes and
   sockets then exceed the number of files that a process may have open, which is 256 on macOS and
   1,024 on most Linux machines. A limit that the environment gives is kept. */
__attribute__((constructor)) static void limitConcurrentTests(void) {
    long width = 2 * sysconf(_SC_NPROCESSORS_ONLN);
    char text[24];
    /* Tests that wait for other processes leave the processors idle. */
    snprintf(text, sizeof text, "%ld", width > 8 ? width : 8);
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", text, 0);
}
