/*
 * Who may ask Azure's Table service: SharedKeyLite, which signs each request with the account's
 * key, or a shared access signature (SAS), a token that is part of each URL.
 *
 * Neither key nor token is in any message.
 */
#ifndef PVCBENCH_AZURE_H
#define PVCBENCH_AZURE_H

#include "base/err.h"

#define AZURE_ACCOUNT_MAX       64
#define AZURE_KEY_BYTES_MAX     128
#define AZURE_SAS_MAX           1024
#define AZURE_DATE_SIZE         40
#define AZURE_AUTHORIZATION_MAX 160

struct azure {
	char account[AZURE_ACCOUNT_MAX];
	unsigned char key[AZURE_KEY_BYTES_MAX];
	size_t key_bytes;        /* 0: by the token */
	char sas[AZURE_SAS_MAX]; /* without the leading ? */
};

/* The key as the portal shows it, in base64. The error is of class ERR_PLAN, as below. */
int azure_use_key(struct azure *azure, const char *account, const char *key, struct err *err);

/* A token as the portal shows it, with or without the leading ?. */
int azure_use_sas(struct azure *azure, const char *account, const char *sas, struct err *err);

/* "Sun, 06 Nov 1994 08:49:37 GMT", in any locale. */
void azure_date(time_t at, char out[AZURE_DATE_SIZE]);

/*
 * The value of Authorization for a request with this x-ms-date. path is that of the URL as it is
 * sent, escapes included, without the query, which is not signed.
 */
void azure_sign(const struct azure *azure, const char *path, size_t path_bytes, const char *date,
                char out[AZURE_AUTHORIZATION_MAX]);

#endif
