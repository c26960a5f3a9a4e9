/*
 The part of SQLite's C interface that this package calls.

 SQLite's interface is stable and documented (https://www.sqlite.org/c3ref/intro.html), so no header needs to be
 installed to build. The library is linked by its name: the system's `sqlite3` on Apple platforms, `libsqlite3.so.0`
 on Linux, which the official Swift images contain. Version 3.38 or later.
*/
#ifndef COneWaySQLite_h
#define COneWaySQLite_h

#ifdef __cplusplus
extern "C" {
#endif

/* MARK: Types */

typedef long long int sqlite3_int64;
typedef unsigned long long int sqlite3_uint64;
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_value sqlite3_value;
typedef void (*sqlite3_destructor_type)(void *);

/* MARK: Result codes, https://www.sqlite.org/rescode.html */

#define SQLITE_OK 0
#define SQLITE_BUSY 5
#define SQLITE_LOCKED 6
#define SQLITE_READONLY 8
#define SQLITE_INTERRUPT 9
#define SQLITE_FULL 13
#define SQLITE_CANTOPEN 14
#define SQLITE_CONSTRAINT 19
#define SQLITE_MISUSE 21
#define SQLITE_NOTADB 26
#define SQLITE_ROW 100
#define SQLITE_DONE 101
#define SQLITE_CONSTRAINT_PRIMARYKEY 1555
#define SQLITE_CONSTRAINT_UNIQUE 2067

/* MARK: Connections */

#define SQLITE_OPEN_READONLY 0x00000001
#define SQLITE_OPEN_READWRITE 0x00000002
#define SQLITE_OPEN_CREATE 0x00000004
#define SQLITE_OPEN_NOMUTEX 0x00008000
#define SQLITE_OPEN_EXRESCODE 0x02000000
#define SQLITE_FCNTL_HAS_MOVED 20
#define SQLITE_TRACE_STMT 0x01
#define SQLITE_CHECKPOINT_TRUNCATE 3

int sqlite3_open(const char *filename, sqlite3 **db);
int sqlite3_open_v2(const char *filename, sqlite3 **db, int flags, const char *vfs);
int sqlite3_close_v2(sqlite3 *db);
int sqlite3_exec(
    sqlite3 *db, const char *sql, int (*callback)(void *, int, char **, char **), void *context, char **message);
int sqlite3_extended_errcode(sqlite3 *db);
int sqlite3_system_errno(sqlite3 *db);
const char *sqlite3_errmsg(sqlite3 *db);
int sqlite3_db_config(sqlite3 *db, int operation, ...);
int sqlite3_get_autocommit(sqlite3 *db);
int sqlite3_total_changes(sqlite3 *db);
sqlite3_int64 sqlite3_changes64(sqlite3 *db);
const char *sqlite3_db_filename(sqlite3 *db, const char *schema);
int sqlite3_db_readonly(sqlite3 *db, const char *schema);
int sqlite3_table_column_metadata(
    sqlite3 *db, const char *schema, const char *table, const char *column, const char **declaredType,
    const char **collation, int *isMandatory, int *isPrimaryKey, int *isAutoincremented);
int sqlite3_file_control(sqlite3 *db, const char *schema, int operation, void *argument);
int sqlite3_wal_checkpoint_v2(sqlite3 *db, const char *schema, int mode, int *logFrames, int *checkpointedFrames);
void sqlite3_interrupt(sqlite3 *db);
int sqlite3_busy_handler(sqlite3 *db, int (*callback)(void *, int), void *context);
void sqlite3_progress_handler(sqlite3 *db, int instructions, int (*callback)(void *), void *context);
int sqlite3_trace_v2(
    sqlite3 *db, unsigned mask, int (*callback)(unsigned, void *, void *, void *), void *context);
int sqlite3_auto_extension(void (*entry)(void));
int sqlite3_sleep(int milliseconds);
void sqlite3_free(void *memory);

#define SQLITE_DBCONFIG_DEFENSIVE 1010
#define SQLITE_DBCONFIG_DQS_DML 1013
#define SQLITE_DBCONFIG_TRUSTED_SCHEMA 1017

/* Swift cannot call functions with variable arguments. */
static inline int oneway_sqlite3_set_defensive(sqlite3 *db, int isDefensive) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, isDefensive, (int *)0);
}

static inline int oneway_sqlite3_set_trusted_schema(sqlite3 *db, int isTrusted) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, isTrusted, (int *)0);
}

static inline int oneway_sqlite3_set_double_quoted_texts(sqlite3 *db, int isAllowed) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, isAllowed, (int *)0);
}

/* MARK: The file system, https://www.sqlite.org/c3ref/vfs.html */

typedef struct sqlite3_vfs sqlite3_vfs;
typedef void (*sqlite3_syscall_ptr)(void);

struct sqlite3_vfs {
    int iVersion;
    int szOsFile;
    int mxPathname;
    sqlite3_vfs *pNext;
    const char *zName;
    void *pAppData;
    /* Methods that this package does not call. */
    void (*methods[13])(void);
    int (*xSetSystemCall)(sqlite3_vfs *, const char *name, sqlite3_syscall_ptr call);
};

sqlite3_vfs *sqlite3_vfs_find(const char *name);

/* MARK: Files, https://www.sqlite.org/c3ref/io_methods.html */

#define SQLITE_FCNTL_FILE_POINTER 7

typedef struct sqlite3_file sqlite3_file;
typedef struct sqlite3_io_methods sqlite3_io_methods;

struct sqlite3_file {
    const sqlite3_io_methods *pMethods;
};

/* The methods up to the one that is called; from version 2 on, there is a wal-index. */
struct sqlite3_io_methods {
    int iVersion;
    int (*xClose)(sqlite3_file *);
    int (*xRead)(sqlite3_file *, void *, int, sqlite3_int64);
    int (*xWrite)(sqlite3_file *, const void *, int, sqlite3_int64);
    int (*xTruncate)(sqlite3_file *, sqlite3_int64);
    int (*xSync)(sqlite3_file *, int);
    int (*xFileSize)(sqlite3_file *, sqlite3_int64 *);
    int (*xLock)(sqlite3_file *, int);
    int (*xUnlock)(sqlite3_file *, int);
    int (*xCheckReservedLock)(sqlite3_file *, int *);
    int (*xFileControl)(sqlite3_file *, int, void *);
    int (*xSectorSize)(sqlite3_file *);
    int (*xDeviceCharacteristics)(sqlite3_file *);
    int (*xShmMap)(sqlite3_file *, int, int, int, void volatile **);
};

/* MARK: Statements */

#define SQLITE_PREPARE_PERSISTENT 0x01

int sqlite3_prepare_v3(
    sqlite3 *db, const char *sql, int byteCount, unsigned int flags, sqlite3_stmt **statement, const char **tail);
int sqlite3_step(sqlite3_stmt *statement);
int sqlite3_reset(sqlite3_stmt *statement);
int sqlite3_finalize(sqlite3_stmt *statement);
sqlite3 *sqlite3_db_handle(sqlite3_stmt *statement);
char *sqlite3_expanded_sql(sqlite3_stmt *statement);
int sqlite3_stmt_readonly(sqlite3_stmt *statement);

int sqlite3_bind_parameter_count(sqlite3_stmt *statement);
int sqlite3_bind_null(sqlite3_stmt *statement, int index);
int sqlite3_bind_int64(sqlite3_stmt *statement, int index, sqlite3_int64 value);
int sqlite3_bind_double(sqlite3_stmt *statement, int index, double value);
int sqlite3_bind_text(
    sqlite3_stmt *statement, int index, const char *text, int byteCount, sqlite3_destructor_type destructor);
int sqlite3_bind_text64(
    sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 byteCount, sqlite3_destructor_type destructor,
    unsigned char encoding);
int sqlite3_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, int byteCount, sqlite3_destructor_type destructor);
int sqlite3_bind_blob64(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 byteCount,
    sqlite3_destructor_type destructor);

#define SQLITE_INTEGER 1
#define SQLITE_FLOAT 2
#define SQLITE_TEXT 3
#define SQLITE_BLOB 4
#define SQLITE_NULL 5

int sqlite3_column_count(sqlite3_stmt *statement);
const char *sqlite3_column_name(sqlite3_stmt *statement, int column);
int sqlite3_column_type(sqlite3_stmt *statement, int column);
sqlite3_int64 sqlite3_column_int64(sqlite3_stmt *statement, int column);
double sqlite3_column_double(sqlite3_stmt *statement, int column);
const unsigned char *sqlite3_column_text(sqlite3_stmt *statement, int column);
const void *sqlite3_column_blob(sqlite3_stmt *statement, int column);
int sqlite3_column_bytes(sqlite3_stmt *statement, int column);
sqlite3_value *sqlite3_column_value(sqlite3_stmt *statement, int column);

/* MARK: Functions and collations */

#define SQLITE_UTF8 1
#define SQLITE_DIRECTONLY 0x000080000
#define SQLITE_DETERMINISTIC 0x000000800

int sqlite3_create_function_v2(
    sqlite3 *db, const char *name, int argumentCount, int flags, void *context,
    void (*function)(sqlite3_context *, int, sqlite3_value **), void (*step)(sqlite3_context *, int, sqlite3_value **),
    void (*final)(sqlite3_context *), void (*destructor)(void *));
int sqlite3_create_collation_v2(
    sqlite3 *db, const char *name, int encoding, void *context,
    int (*compare)(void *, int, const void *, int, const void *), void (*destructor)(void *));
void *sqlite3_user_data(sqlite3_context *call);
sqlite3_int64 sqlite3_value_int64(sqlite3_value *value);
double sqlite3_value_double(sqlite3_value *value);
void *sqlite3_aggregate_context(sqlite3_context *call, int size);
int sqlite3_value_bytes(sqlite3_value *value);
const void *sqlite3_value_blob(sqlite3_value *value);
int sqlite3_value_type(sqlite3_value *value);

void sqlite3_result_null(sqlite3_context *call);
void sqlite3_result_int(sqlite3_context *call, int value);
void sqlite3_result_error(sqlite3_context *call, const char *message, int length);
void sqlite3_result_error_nomem(sqlite3_context *call);
void sqlite3_result_text(sqlite3_context *call, const char *text, int length, sqlite3_destructor_type destructor);
void sqlite3_result_int64(sqlite3_context *call, sqlite3_int64 value);
void sqlite3_result_double(sqlite3_context *call, double value);
void sqlite3_result_text64(
    sqlite3_context *call, const char *text, sqlite3_uint64 byteCount, sqlite3_destructor_type destructor,
    unsigned char encoding);
void sqlite3_result_blob64(
    sqlite3_context *call, const void *bytes, sqlite3_uint64 byteCount, sqlite3_destructor_type destructor);

/* MARK: Virtual tables, https://www.sqlite.org/vtab.html */

typedef struct sqlite3_vtab sqlite3_vtab;
typedef struct sqlite3_vtab_cursor sqlite3_vtab_cursor;
typedef struct sqlite3_index_info sqlite3_index_info;
typedef struct sqlite3_module sqlite3_module;

struct sqlite3_vtab {
    const sqlite3_module *pModule;
    int nRef;
    char *zErrMsg;
};

struct sqlite3_vtab_cursor {
    sqlite3_vtab *pVtab;
};

struct sqlite3_index_info {
    int nConstraint;
    struct sqlite3_index_constraint {
        int iColumn;
        unsigned char op;
        unsigned char usable;
        int iTermOffset;
    } *aConstraint;
    int nOrderBy;
    struct sqlite3_index_orderby {
        int iColumn;
        unsigned char desc;
    } *aOrderBy;
    struct sqlite3_index_constraint_usage {
        int argvIndex;
        unsigned char omit;
    } *aConstraintUsage;
    int idxNum;
    char *idxStr;
    int needToFreeIdxStr;
    int orderByConsumed;
    double estimatedCost;
    sqlite3_int64 estimatedRows;
    int idxFlags;
    sqlite3_uint64 colUsed;
};

/* Of version 1: SQLite reads no member after `xRename`. */
struct sqlite3_module {
    int iVersion;
    int (*xCreate)(sqlite3 *, void *, int, const char *const *, sqlite3_vtab **, char **);
    int (*xConnect)(sqlite3 *, void *, int, const char *const *, sqlite3_vtab **, char **);
    int (*xBestIndex)(sqlite3_vtab *, sqlite3_index_info *);
    int (*xDisconnect)(sqlite3_vtab *);
    int (*xDestroy)(sqlite3_vtab *);
    int (*xOpen)(sqlite3_vtab *, sqlite3_vtab_cursor **);
    int (*xClose)(sqlite3_vtab_cursor *);
    int (*xFilter)(sqlite3_vtab_cursor *, int, const char *, int, sqlite3_value **);
    int (*xNext)(sqlite3_vtab_cursor *);
    int (*xEof)(sqlite3_vtab_cursor *);
    int (*xColumn)(sqlite3_vtab_cursor *, sqlite3_context *, int);
    int (*xRowid)(sqlite3_vtab_cursor *, sqlite3_int64 *);
    int (*xUpdate)(sqlite3_vtab *, int, sqlite3_value **, sqlite3_int64 *);
    int (*xBegin)(sqlite3_vtab *);
    int (*xSync)(sqlite3_vtab *);
    int (*xCommit)(sqlite3_vtab *);
    int (*xRollback)(sqlite3_vtab *);
    int (*xFindFunction)(
        sqlite3_vtab *, int, const char *, void (**)(sqlite3_context *, int, sqlite3_value **), void **);
    int (*xRename)(sqlite3_vtab *, const char *);
};

int sqlite3_create_module_v2(
    sqlite3 *db, const char *name, const sqlite3_module *module, void *context, void (*destructor)(void *));
int sqlite3_declare_vtab(sqlite3 *db, const char *sql);

/* A virtual table over rows in memory: SQLite's part, and the rows. */
typedef struct {
    sqlite3_vtab base;
    void *rows;
} sync_rows_vtab;

/* A cursor of such a table: SQLite's part, the rows, and the position among them. */
typedef struct {
    sqlite3_vtab_cursor base;
    void *rows;
    sqlite3_int64 place;
    sqlite3_int64 count;
} sync_rows_cursor;

#ifdef __cplusplus
}
#endif

#endif
