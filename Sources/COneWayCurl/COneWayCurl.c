#include "COneWayCurl.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <pthread.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

// Options are a number plus the kind of their value (curl.h: CURLOPTTYPE_LONG 0, _OBJECTPOINT
// 10000, _FUNCTIONPOINT 20000, _OFF_T 30000).
enum {
    OPT_WRITEDATA = 10001, OPT_URL = 10002, OPT_ERRORBUFFER = 10010, OPT_HTTPHEADER = 10023,
    OPT_SSLCERT = 10025, OPT_KEYPASSWD = 10026, OPT_CAINFO = 10065, OPT_SSLKEY = 10087, OPT_NOPROXY = 10177, OPT_PROXY_CAINFO = 10246,
    OPT_HEADERDATA = 10029, OPT_CUSTOMREQUEST = 10036, OPT_COPYPOSTFIELDS = 10165,
    OPT_PROXY = 10004, OPT_OPENSOCKETDATA = 10164, OPT_OPENSOCKETFUNCTION = 20163,
    OPT_WRITEFUNCTION = 20011, OPT_HEADERFUNCTION = 20079,
    OPT_NOPROGRESS = 43, OPT_NOBODY = 44, OPT_FOLLOWLOCATION = 52, OPT_NOSIGNAL = 99, OPT_BUFFERSIZE = 98,
    OPT_HTTP_VERSION = 84, OPT_CONNECTTIMEOUT = 78, OPT_PROTOCOLS = 181, OPT_SUPPRESS_CONNECT_HEADERS = 265,
    OPT_HTTP_CONTENT_DECODING = 158, OPT_TCP_KEEPALIVE = 213, OPT_POSTFIELDSIZE_LARGE = 30120,
    HTTP_VERSION_2TLS = 4,
    MULTIOPT_MAXCONNECTS = 6,
    PROTO_HTTP_HTTPS = 3,
};

typedef struct { int msg; void *easy; union { void *whatever; int result; } data; } message;
// What libcurl is about to connect to (curl.h: struct curl_sockaddr).
typedef struct { int family; int type; int protocol; unsigned int size; struct sockaddr address; } socket_address;
typedef struct { int age; const char *version; unsigned int version_num; } version_info;

static struct {
    int (*global_init)(long);
    version_info *(*version)(int);
    void *(*easy_init)(void);
    int (*easy_setopt)(void *, int, ...);
    int (*easy_pause)(void *, int);
    void (*easy_cleanup)(void *);
    const char *(*easy_strerror)(int);
    void *(*slist_append)(void *, const char *);
    void (*slist_free_all)(void *);
    void *(*multi_init)(void);
    int (*multi_setopt)(void *, int, ...);
    int (*multi_add_handle)(void *, void *);
    int (*multi_remove_handle)(void *, void *);
    int (*multi_perform)(void *, int *);
    int (*multi_poll)(void *, void *, unsigned int, int, int *);
    int (*multi_wakeup)(void *);
    message *(*multi_info_read)(void *, int *);
    int (*multi_cleanup)(void *);
} curl;

static int is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
#define FIND(name) if (!(*(void **)&curl.name = dlsym(library, "curl_" #name))) return
    FIND(global_init); FIND(easy_init); FIND(easy_setopt); FIND(easy_pause); FIND(easy_cleanup);
    FIND(easy_strerror); FIND(slist_append); FIND(slist_free_all); FIND(multi_init); FIND(multi_setopt);
    FIND(multi_add_handle); FIND(multi_remove_handle); FIND(multi_perform); FIND(multi_poll); FIND(multi_wakeup);
    FIND(multi_info_read); FIND(multi_cleanup);
#undef FIND
    if (!(*(void **)&curl.version = dlsym(library, "curl_version_info"))) return;
    version_info *info = curl.version(0);
    if (!info || info->version_num < 0x074400) return;
    if (curl.global_init(3)) return;
    is_loaded = 1;
}

int owc_load(void) {
    pthread_once(&once, load);
    return is_loaded;
}

void *owc_multi_new(void) {
    void *multi = curl.multi_init();
    if (multi) curl.multi_setopt(multi, MULTIOPT_MAXCONNECTS, 32L);
    return multi;
}

void owc_multi_wait(void *multi, int milliseconds) {
    int count = 0;
    curl.multi_poll(multi, 0, 0, milliseconds, &count);
}

void owc_multi_wake(void *multi) { curl.multi_wakeup(multi); }

void owc_multi_perform(void *multi) {
    int running = 0;
    curl.multi_perform(multi, &running);
}

void *owc_multi_ended(void *multi, int *code) {
    int left = 0;
    message *found;
    while ((found = curl.multi_info_read(multi, &left))) {
        if (found->msg != 1) continue;
        *code = found->data.result;
        return found->easy;
    }
    return 0;
}

void owc_multi_add(void *multi, void *easy) { curl.multi_add_handle(multi, easy); }
void owc_multi_remove(void *multi, void *easy) { curl.multi_remove_handle(multi, easy); }
void owc_multi_free(void *multi) { curl.multi_cleanup(multi); }

void *owc_easy_new(char *error_buffer, owc_write on_header, owc_write on_body) {
    void *easy = curl.easy_init();
    if (!easy) return 0;
    curl.easy_setopt(easy, OPT_NOSIGNAL, 1L);
    curl.easy_setopt(easy, OPT_NOPROGRESS, 1L);
    curl.easy_setopt(easy, OPT_ERRORBUFFER, error_buffer);
    // Redirects are the client's business, and so is every time limit.
    curl.easy_setopt(easy, OPT_FOLLOWLOCATION, 0L);
    curl.easy_setopt(easy, OPT_CONNECTTIMEOUT, 86400L);
    curl.easy_setopt(easy, OPT_PROTOCOLS, (long)PROTO_HTTP_HTTPS);
    curl.easy_setopt(easy, OPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl.easy_setopt(easy, OPT_TCP_KEEPALIVE, 1L);
    curl.easy_setopt(easy, OPT_HTTP_VERSION, (long)HTTP_VERSION_2TLS);
    curl.easy_setopt(easy, OPT_BUFFERSIZE, 65536L);
    // Whoever decompresses must know whether a body came to its end, and libcurl does not tell.
    curl.easy_setopt(easy, OPT_HTTP_CONTENT_DECODING, 0L);
    curl.easy_setopt(easy, OPT_HEADERFUNCTION, on_header);
    curl.easy_setopt(easy, OPT_WRITEFUNCTION, on_body);
    return easy;
}

void owc_easy_prepare(
    void *easy, const char *url, const char *method, const char *body, long body_size, void *headers, void *context
) {
    curl.easy_setopt(easy, OPT_URL, url);
    if (body) {
        curl.easy_setopt(easy, OPT_POSTFIELDSIZE_LARGE, (int64_t)body_size);
        curl.easy_setopt(easy, OPT_COPYPOSTFIELDS, body);
    }
    curl.easy_setopt(easy, OPT_CUSTOMREQUEST, method);
    // Otherwise libcurl waits for a body.
    curl.easy_setopt(easy, OPT_NOBODY, strcmp(method, "HEAD") ? 0L : 1L);
    curl.easy_setopt(easy, OPT_HTTPHEADER, headers);
    curl.easy_setopt(easy, OPT_HEADERDATA, context);
    curl.easy_setopt(easy, OPT_WRITEDATA, context);
}

void owc_easy_check_addresses(void *easy, owc_open open, void *context) {
    // A proxy would connect to addresses that nobody checks.
    curl.easy_setopt(easy, OPT_PROXY, "");
    curl.easy_setopt(easy, OPT_OPENSOCKETFUNCTION, open);
    curl.easy_setopt(easy, OPT_OPENSOCKETDATA, context);
}

const unsigned char *owc_address_bytes(void *address, size_t *count) {
    socket_address *found = address;
    switch (found->family) {
    case AF_INET:
        *count = 4;
        return (const unsigned char *)&((struct sockaddr_in *)&found->address)->sin_addr;
    case AF_INET6:
        *count = 16;
        return (const unsigned char *)&((struct sockaddr_in6 *)&found->address)->sin6_addr;
    default:
        *count = 0;
        return 0;
    }
}

int owc_address_socket(void *address) {
    socket_address *found = address;
    return socket(found->family, found->type | SOCK_CLOEXEC, found->protocol);
}

void owc_easy_connect_by(
    void *easy, const char *authorities, const char *certificate, const char *key, const char *password, const char *proxy
) {
    if (authorities) {
        curl.easy_setopt(easy, OPT_CAINFO, authorities);
        curl.easy_setopt(easy, OPT_PROXY_CAINFO, authorities);
    }
    if (certificate) {
        curl.easy_setopt(easy, OPT_SSLCERT, certificate);
        // Without a password, OpenSSL would wait for someone to type it at the terminal.
        curl.easy_setopt(easy, OPT_KEYPASSWD, password ? password : "");
    }
    if (key) curl.easy_setopt(easy, OPT_SSLKEY, key);
    if (proxy) {
        curl.easy_setopt(easy, OPT_PROXY, proxy);
        // The exceptions of the environment are those of its own proxy.
        curl.easy_setopt(easy, OPT_NOPROXY, "");
    }
}

void owc_easy_resume(void *easy) { curl.easy_pause(easy, 0); }
void owc_easy_free(void *easy) { curl.easy_cleanup(easy); }
void *owc_list_append(void *list, const char *line) { return curl.slist_append(list, line); }
void owc_list_free(void *list) { curl.slist_free_all(list); }
const char *owc_error_text(int code) { return curl.easy_strerror(code); }

#else

// Elsewhere the transport is URLSession's.
int owc_load(void) { return 0; }

#endif
