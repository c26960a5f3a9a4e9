#include <sqlite3.h>

/* A virtual table over rows in memory: what SQLite knows of it, and whose rows they are. */
typedef struct {
    sqlite3_vtab base;
    void *rows;
} sync_rows_vtab;

/* A cursor of such a table, which stands at a place among the rows. */
typedef struct {
    sqlite3_vtab_cursor base;
    void *rows;
    sqlite3_int64 place;
    sqlite3_int64 count;
} sync_rows_cursor;
