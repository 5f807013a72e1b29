/*
 * What peers tell each other: lines of KEY=VALUE. A value has no line break.
 */
#ifndef PVCBENCH_MESSAGE_H
#define PVCBENCH_MESSAGE_H

#include "base/base.h"

#define MESSAGE_MAX 1024

/* Add a line to the text in out, of `size` bytes; what does not fit is cut. */
void message_add(char *out, size_t size, const char *key, const char *value);
void message_add_uint(char *out, size_t size, const char *key, uint64_t value);

/* The value of a key into out; false, and "", where there is none or it does not fit. */
bool message_get(const char *text, const char *key, char *out, size_t size);
bool message_get_uint(const char *text, const char *key, uint64_t *value);

#endif
