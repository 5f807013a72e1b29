#include "base/base64.h"

#include <string.h>

#define LAST_GROUP_MAX 2 /* = at the end */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const void *data, size_t bytes, char *out)
{
	const unsigned char *in = data;

	for (size_t i = 0; i < bytes; i += 3, out += 4) {
		unsigned b = i + 1 < bytes ? in[i + 1] : 0u, c = i + 2 < bytes ? in[i + 2] : 0u;
		unsigned group = (unsigned)in[i] << 16 | b << 8 | c;

		for (unsigned d = 0; d < 4; d++)
			out[d] = digits[group >> (18 - 6 * d) & 63];
		if (i + 1 >= bytes)
			out[2] = '=';
		if (i + 2 >= bytes)
			out[3] = '=';
	}
	*out = '\0';
}

bool base64_decode(const char *text, unsigned char *out, size_t room, size_t *bytes)
{
	size_t length = strspn(text, digits);
	size_t padding = strspn(text + length, "=");
	unsigned bits = 0, n_bits = 0;

	if (text[length + padding] || (length + padding) % 4 || padding > LAST_GROUP_MAX ||
	    length * 6 / 8 > room)
		return false;
	*bytes = 0;
	for (size_t i = 0; i < length; i++) {
		bits = bits << 6 | (unsigned)(strchr(digits, text[i]) - digits);
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			out[(*bytes)++] = (unsigned char)(bits >> n_bits);
		}
	}
	return true;
}
