// The part of libcurl's stable C interface that the transport uses, declared here, so that no
// header of libcurl has to be installed. The library is loaded when it is first needed:
// Foundation's own networking on Linux needs the same libcurl.so.4, so that it is there wherever
// that runs. Source: https://curl.se/libcurl/c/ (curl_easy_setopt, curl_multi_poll,
// curl_multi_wakeup, curl_easy_pause).

#ifndef COneWayCurl_h
#define COneWayCurl_h

#include <stddef.h>

// Receives a piece of a head or a body; returns its size, or OWC_PAUSE, or anything else to abort.
typedef size_t (*owc_write)(char *bytes, size_t size, size_t count, void *context);

// Opens a socket for an address; returns OWC_NO_SOCKET to refuse it.
typedef int (*owc_open)(void *context, int purpose, void *address);

static const int OWC_NO_SOCKET = -1;

typedef enum {
    OWC_PAUSE = 0x10000001,
    // Codes of an ended transfer (CURLcode).
    OWC_OK = 0,
    OWC_UNSUPPORTED_PROTOCOL = 1,
    OWC_URL_MALFORMAT = 3,
    OWC_COULDNT_RESOLVE_PROXY = 5,
    OWC_COULDNT_RESOLVE_HOST = 6,
    OWC_COULDNT_CONNECT = 7,
    OWC_WEIRD_REPLY = 8,
    OWC_PARTIAL_FILE = 18,
    OWC_HTTP2 = 16,
    OWC_WRITE_ERROR = 23,
    OWC_OUT_OF_MEMORY = 27,
    OWC_OPERATION_TIMEDOUT = 28,
    OWC_SSL_CONNECT_ERROR = 35,
    OWC_GOT_NOTHING = 52,
    OWC_SEND_ERROR = 55,
    OWC_RECV_ERROR = 56,
    OWC_SSL_CERTPROBLEM = 58,
    OWC_PEER_FAILED_VERIFICATION = 60,
    OWC_SSL_CACERT_BADFILE = 77,
    OWC_SSL_PINNEDPUBKEYNOTMATCH = 90,
    OWC_HTTP2_STREAM = 92,
    OWC_TOO_LARGE_HEAD = 100,
} owc_code;

// Loads libcurl. Returns whether there is one of version 7.68 or newer. Thread-safe.
int owc_load(void);

// A set of transfers (curl_multi).
void *owc_multi_new(void);
// Waits for activity, at most so many milliseconds, or until owc_multi_wake.
void owc_multi_wait(void *multi, int milliseconds);
// Ends a wait from another thread.
void owc_multi_wake(void *multi);
// Performs what can be done without waiting.
void owc_multi_perform(void *multi);
// Returns the next transfer that ended, and its code; NULL if there is none.
void *owc_multi_ended(void *multi, int *code);
void owc_multi_add(void *multi, void *easy);
void owc_multi_remove(void *multi, void *easy);
void owc_multi_free(void *multi);

// A handle of transfers (curl_easy), one after another. The error buffer has 256 bytes.
void *owc_easy_new(char *error_buffer, owc_write on_header, owc_write on_body);
// Sets the next transfer. Header lines are owned by the transfer's list.
void owc_easy_prepare(
    void *easy, const char *url, const char *method, const char *body, long body_size, void *headers, void *context);
// Has a transfer ask before it connects to an address, and connect without a proxy.
void owc_easy_check_addresses(void *easy, owc_open open, void *context);
// The 4 or 16 bytes of an address that owc_open receives; NULL if it has neither.
const unsigned char *owc_address_bytes(void *address, size_t *count);
// Opens the socket for an address.
int owc_address_socket(void *address);
// Sets files in PEM format, the password of the key, and the address of the proxy; NULL leaves each as it is.
void owc_easy_connect_by(
    void *easy, const char *authorities, const char *certificate, const char *key, const char *password, const char *proxy);
// Receives again after OWC_PAUSE.
void owc_easy_resume(void *easy);
void owc_easy_free(void *easy);
void *owc_list_append(void *list, const char *line);
void owc_list_free(void *list);
const char *owc_error_text(int code);

#endif
