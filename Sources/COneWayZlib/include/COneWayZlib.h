// The part of zlib's stable C interface that decompresses, declared here, so that no header of zlib
// has to be installed. The library is loaded when it is first needed: libcurl needs the same
// libz.so.1. Source: https://zlib.net/manual.html (inflateInit2, inflate, inflateReset,
// inflateEnd).

#ifndef COneWayZlib_h
#define COneWayZlib_h

#include <stddef.h>

typedef enum {
    OWZ_OK = 0,
    OWZ_STREAM_END = 1,
    // Nothing could be done without more input, or more room.
    OWZ_BUFFER_ERROR = -5,
    OWZ_MEMORY_ERROR = -4,
} owz_code;

// What a stream's first bytes are.
typedef enum {
    // A header of gzip or of zlib, whichever is found.
    OWZ_WITH_HEADER = 15 + 32,
    OWZ_WITHOUT_HEADER = -15,
} owz_format;

// Loads zlib. Returns whether there is one. Thread-safe.
int owz_load(void);

// Returns a decompressor, after owz_load; NULL if there is no memory.
void *owz_new(owz_format format);
// Reads from the input and writes to the output what it can. The counts are what there is before,
// and what is left after the call.
owz_code owz_inflate(
    void *stream, const unsigned char *input, unsigned int *input_count, unsigned char *output,
    unsigned int *output_count);
// Makes ready for another stream of the same format.
void owz_reset(void *stream);
void owz_free(void *stream);

#endif
