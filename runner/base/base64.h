/*
 * Base64 (RFC 4648, section 4): bytes as text and back.
 */
#ifndef PVCBENCH_BASE64_H
#define PVCBENCH_BASE64_H

#include "base/base.h"

#define BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4 + 1) /* of the text, with its NUL */

void base64_encode(const void *data, size_t bytes, char *out);

/* The bytes of text into out[room], how many in *bytes; false: it is none, or does not fit. */
bool base64_decode(const char *text, unsigned char *out, size_t room, size_t *bytes);

#endif
