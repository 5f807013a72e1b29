/*
 * HMAC-SHA256: what proves that somebody knows a secret without telling it. The only user of
 * libcrypto.
 */
#ifndef PVCBENCH_HMAC_H
#define PVCBENCH_HMAC_H

#include "base/base.h"

#define HMAC_BYTES     32
#define HMAC_TEXT_SIZE (2 * HMAC_BYTES + 1)

void hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t data_bytes,
                 unsigned char out[HMAC_BYTES]);

/* The same of texts, as lower case hexadecimal digits. */
void hmac_text(const char *key, const char *text, char out[HMAC_TEXT_SIZE]);

/* Whether two texts are equal, in a time that does not tell where they differ. */
bool hmac_equal(const char *a, const char *b);

#endif
