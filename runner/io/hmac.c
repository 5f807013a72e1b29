#include "io/hmac.h"

#include <assert.h>
#include <openssl/hmac.h>
#include <string.h>

void hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t data_bytes,
                 unsigned char out[HMAC_BYTES])
{
	unsigned length = 0;
	const void *done = HMAC(EVP_sha256(), key, (int)key_bytes, data, data_bytes, out, &length);

	assert(done && length == HMAC_BYTES);
}

void hmac_text(const char *key, const char *text, char out[HMAC_TEXT_SIZE])
{
	unsigned char mac[HMAC_BYTES];

	hmac_sha256(key, strlen(key), text, strlen(text), mac);
	for (unsigned i = 0; i < HMAC_BYTES; i++)
		snprintf(out + 2 * i, 3, "%02x", mac[i]);
}

bool hmac_equal(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned char differs = 0;

	if (strlen(b) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return !differs;
}
