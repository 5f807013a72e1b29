#include "peers/message.h"

#include <errno.h>
#include <string.h>

void message_add(char *out, size_t size, const char *key, const char *value)
{
	size_t used = strlen(out);

	if (used + strlen(key) + 3 > size)
		return;
	used += (size_t)snprintf(out + used, size - used, "%s=", key);
	for (; *value && used + 2 < size; value++)
		out[used++] = (unsigned char)*value < ' ' ? ' ' : *value;
	out[used++] = '\n';
	out[used] = '\0';
}

void message_add_uint(char *out, size_t size, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	message_add(out, size, key, text);
}

bool message_get(const char *text, const char *key, char *out, size_t size)
{
	size_t length = strlen(key);

	out[0] = '\0';
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t value = strcspn(line, "\n") - length - 1;

		if (strncmp(line, key, length) || line[length] != '=')
			continue;
		if (value >= size)
			return false;
		memcpy(out, line + length + 1, value);
		out[value] = '\0';
		return true;
	}
	return false;
}

bool message_get_uint(const char *text, const char *key, uint64_t *value)
{
	char digits[24], *end;

	if (!message_get(text, key, digits, sizeof(digits)) || digits[0] < '0' || digits[0] > '9')
		return false;
	errno = 0;
	*value = strtoull(digits, &end, 10);
	return !errno && !*end;
}
