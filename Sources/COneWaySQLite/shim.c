#include "COneWaySQLite.h"

/* SwiftPM compiles C targets only with a source file; the functions are in SQLite's library. */
