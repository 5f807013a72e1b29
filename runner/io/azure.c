/*
 * What is signed is date and place, not the method, the query or the body: TLS keeps those.
 */
#include "io/azure.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/base64.h"
#include "io/hmac.h"

#define SIGNED_MAX (8 * KIB)

_Static_assert(sizeof("SharedKeyLite :") + AZURE_ACCOUNT_MAX + BASE64_SIZE(HMAC_BYTES) <=
                       AZURE_AUTHORIZATION_MAX,
               "a signature may be cut");

static int set_account(struct azure *azure, const char *account, struct err *err)
{
	size_t length = strspn(account, "abcdefghijklmnopqrstuvwxyz0123456789");

	if (!length || account[length] || length >= AZURE_ACCOUNT_MAX)
		return err_set(err, ERR_PLAN,
		               "'%.64s' is no storage account's name (letters a-z and digits)",
		               account);
	memset(azure, 0, sizeof(*azure));
	memcpy(azure->account, account, length);
	return 0;
}

int azure_use_key(struct azure *azure, const char *account, const char *key, struct err *err)
{
	if (set_account(azure, account, err))
		return -1;
	if (!base64_decode(key, azure->key, sizeof(azure->key), &azure->key_bytes) ||
	    !azure->key_bytes)
		return err_set(err, ERR_PLAN,
		               "the key of the account '%s' is no base64 (give it as the portal "
		               "shows it, without a line break in it)",
		               account);
	return 0;
}

int azure_use_sas(struct azure *azure, const char *account, const char *sas, struct err *err)
{
	const char *token = sas + (*sas == '?');

	if (set_account(azure, account, err))
		return -1;
	for (const char *p = token; *p; p++)
		if (!isgraph((unsigned char)*p) || *p == '#')
			return err_set(err, ERR_PLAN, "the SAS has a letter that no SAS has");
	if (!strstr(token, "sig=") || strlen(token) >= sizeof(azure->sas))
		return err_set(err, ERR_PLAN,
		               "the SAS is none: it has no sig=, or is too long (give the token, "
		               "not the URL)");
	memcpy(azure->sas, token, strlen(token) + 1);
	return 0;
}

void azure_date(time_t at, char out[AZURE_DATE_SIZE])
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
	                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	struct tm tm;

	gmtime_r(&at, &tm);
	snprintf(out, AZURE_DATE_SIZE, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday],
	         tm.tm_mday, months[tm.tm_mon], (tm.tm_year + 1900) % 10000, tm.tm_hour, tm.tm_min,
	         tm.tm_sec);
}

void azure_sign(const struct azure *azure, const char *path, size_t path_bytes, const char *date,
                char out[AZURE_AUTHORIZATION_MAX])
{
	char text[SIGNED_MAX], signature[BASE64_SIZE(HMAC_BYTES)];
	unsigned char mac[HMAC_BYTES];
	int length = snprintf(text, sizeof(text), "%s\n/%s%.*s", date, azure->account,
	                      (int)path_bytes, path);

	assert(length > 0 && (size_t)length < sizeof(text));
	hmac_sha256(azure->key, azure->key_bytes, text, (size_t)length, mac);
	base64_encode(mac, sizeof(mac), signature);
	snprintf(out, AZURE_AUTHORIZATION_MAX, "SharedKeyLite %s:%s", azure->account, signature);
}
