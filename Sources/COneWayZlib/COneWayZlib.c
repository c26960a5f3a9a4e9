#include "COneWayZlib.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

// z_stream of zlib.h, whose layout is part of the binary interface of version 1.
typedef struct {
    const unsigned char *next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *(*zalloc)(void *, unsigned int, unsigned int);
    void (*zfree)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} z_stream;

static struct {
    int (*inflateInit2_)(z_stream *, int, const char *, int);
    int (*inflate)(z_stream *, int);
    int (*inflateReset)(z_stream *);
    int (*inflateEnd)(z_stream *);
} zlib;

static int is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
#define FIND(name) if (!(*(void **)&zlib.name = dlsym(library, #name))) return
    FIND(inflateInit2_); FIND(inflate); FIND(inflateReset); FIND(inflateEnd);
#undef FIND
    is_loaded = 1;
}

int owz_load(void) {
    pthread_once(&once, load);
    return is_loaded;
}

void *owz_new(owz_format format) {
    z_stream *stream = calloc(1, sizeof *stream);
    // The version is the one whose layout is declared above.
    if (stream && zlib.inflateInit2_(stream, format, "1.2.0", sizeof *stream) == OWZ_OK) return stream;
    free(stream);
    return 0;
}

owz_code owz_inflate(
    void *stream, const unsigned char *input, unsigned int *input_count, unsigned char *output,
    unsigned int *output_count
) {
    z_stream *z = stream;
    z->next_in = input;
    z->avail_in = *input_count;
    z->next_out = output;
    z->avail_out = *output_count;
    int code = zlib.inflate(z, 0);
    *input_count = z->avail_in;
    *output_count = z->avail_out;
    return code;
}

void owz_reset(void *stream) { zlib.inflateReset(stream); }

void owz_free(void *stream) {
    zlib.inflateEnd(stream);
    free(stream);
}

#else

// Elsewhere the system's networking decompresses.
int owz_load(void) { return 0; }

#endif
