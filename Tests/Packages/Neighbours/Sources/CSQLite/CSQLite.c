#include "CSQLite.h"

int csqlite_neighbour(void) {
    return 1;
}
