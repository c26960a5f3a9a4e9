#include "CPostgres.h"

int cpostgres_neighbour(void) {
    return 1;
}
