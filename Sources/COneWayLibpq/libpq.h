/* The part of libpq's interface that this package calls. The interface is stable for all versions of libpq.so.5 from 14 on
   and is documented at https://www.postgresql.org/docs/current/libpq.html. Declared here, so that building needs the
   library only, without its development files. */

#ifndef ONEWAY_LIBPQ_H
#define ONEWAY_LIBPQ_H

#include <stddef.h>

typedef unsigned int Oid;
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

/* Statuses */

typedef enum { CONNECTION_OK = 0, CONNECTION_BAD = 1 } ConnStatusType;

typedef enum {
    PGRES_POLLING_FAILED = 0,
    PGRES_POLLING_READING = 1,
    PGRES_POLLING_WRITING = 2,
    PGRES_POLLING_OK = 3
} PostgresPollingStatusType;

typedef enum {
    PGRES_COMMAND_OK = 1,
    PGRES_TUPLES_OK = 2,
    PGRES_COPY_IN = 4,
    PGRES_BAD_RESPONSE = 5,
    PGRES_FATAL_ERROR = 7,
    PGRES_PIPELINE_SYNC = 10
} ExecStatusType;

typedef enum {
    PQTRANS_IDLE = 0,
    PQTRANS_ACTIVE = 1,
    PQTRANS_INTRANS = 2,
    PQTRANS_INERROR = 3,
    PQTRANS_UNKNOWN = 4
} PGTransactionStatusType;

typedef enum { PQERRORS_VERBOSE = 2 } PGVerbosity;

/* Connections */

typedef struct {
    char *keyword;
    char *envvar;
    char *compiled;
    char *val;
    char *label;
    char *dispchar;
    int dispsize;
} PQconninfoOption;

typedef void (*PQnoticeReceiver)(void *arg, const PGresult *res);

PQconninfoOption *PQconndefaults(void);
PQconninfoOption *PQconninfoParse(const char *conninfo, char **errmsg);
void PQconninfoFree(PQconninfoOption *options);
PGconn *PQconnectStartParams(const char *const *keywords, const char *const *values, int expand_dbname);
PostgresPollingStatusType PQconnectPoll(PGconn *conn);
void PQfinish(PGconn *conn);
ConnStatusType PQstatus(const PGconn *conn);
PGTransactionStatusType PQtransactionStatus(const PGconn *conn);
char *PQerrorMessage(const PGconn *conn);
char *PQhostaddr(const PGconn *conn);
int PQsocket(const PGconn *conn);
int PQbackendPID(const PGconn *conn);
PGVerbosity PQsetErrorVerbosity(PGconn *conn, PGVerbosity verbosity);
PQnoticeReceiver PQsetNoticeReceiver(PGconn *conn, PQnoticeReceiver receiver, void *arg);
int PQsetnonblocking(PGconn *conn, int arg);

/* Statements */

int PQsendQuery(PGconn *conn, const char *query);
int PQsendQueryParams(
    PGconn *conn, const char *command, int nParams, const Oid *paramTypes, const char *const *paramValues,
    const int *paramLengths, const int *paramFormats, int resultFormat);
int PQsendPrepare(PGconn *conn, const char *stmtName, const char *query, int nParams, const Oid *paramTypes);
int PQsendQueryPrepared(
    PGconn *conn, const char *stmtName, int nParams, const char *const *paramValues, const int *paramLengths,
    const int *paramFormats, int resultFormat);
int PQenterPipelineMode(PGconn *conn);
int PQpipelineSync(PGconn *conn);
int PQexitPipelineMode(PGconn *conn);
int PQflush(PGconn *conn);
int PQconsumeInput(PGconn *conn);
int PQisBusy(PGconn *conn);
PGresult *PQgetResult(PGconn *conn);
int PQputCopyData(PGconn *conn, const char *buffer, int nbytes);
int PQputCopyEnd(PGconn *conn, const char *errormsg);

/* Results */

void PQclear(PGresult *res);
ExecStatusType PQresultStatus(const PGresult *res);
char *PQresultErrorMessage(const PGresult *res);
char *PQresultErrorField(const PGresult *res, int fieldcode);
int PQntuples(const PGresult *res);
int PQnfields(const PGresult *res);
int PQfformat(const PGresult *res, int column_number);
char *PQcmdTuples(PGresult *res);
char *PQgetvalue(const PGresult *res, int row_number, int column_number);
int PQgetlength(const PGresult *res, int row_number, int column_number);
int PQgetisnull(const PGresult *res, int row_number, int column_number);

/* Notifications */

typedef struct pgNotify {
    char *relname;
    int be_pid;
    char *extra;
    struct pgNotify *next;
} PGnotify;

PGnotify *PQnotifies(PGconn *conn);
void PQfreemem(void *ptr);

#endif
