/*
 * Azurite takes boundaries of the forms batch_ID and changeset_ID and absolute URLs only, Azure
 * takes any: these are what both take. A DELETE without If-Match is refused by Azure alone.
 */
#include "kinds/table_wire.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void wire_reset(struct wire *wire)
{
	wire->used = 0;
	wire->cut = false;
	wire->bytes[0] = '\0';
}

void wire_append(struct wire *wire, const char *fmt, ...)
{
	size_t left = wire->room - wire->used;
	va_list args;
	int length;

	va_start(args, fmt);
	length = vsnprintf(wire->bytes + wire->used, left, fmt, args);
	va_end(args);
	wire->cut |= length < 0 || (size_t)length >= left;
	wire->used += length < 0 ? 0 : min_u64((uint64_t)length, left - 1);
}

static void put(struct wire *wire, char c)
{
	if (wire->used + 1 == wire->room) {
		wire->cut = true;
		return;
	}
	wire->bytes[wire->used++] = c;
	wire->bytes[wire->used] = '\0';
}

static void escape(struct wire *wire, unsigned char c)
{
	static const char digits[] = "0123456789ABCDEF";

	if (isalnum(c) || (c && strchr("-._~", c))) {
		put(wire, (char)c);
		return;
	}
	put(wire, '%');
	put(wire, digits[c >> 4]);
	put(wire, digits[c & 15]);
}

void wire_escape(struct wire *wire, const char *text)
{
	for (; *text; text++)
		escape(wire, (unsigned char)*text);
}

/* A text as OData has it: in quotes, those in it doubled. */
static void append_literal(struct wire *wire, const char *text)
{
	put(wire, '\'');
	for (; *text; text++) {
		escape(wire, (unsigned char)*text);
		if (*text == '\'')
			escape(wire, '\'');
	}
	put(wire, '\'');
}

void wire_entity(struct wire *wire, const struct table_place *place, const char *partition,
                 const char *row)
{
	wire_append(wire, "%s/%s(PartitionKey=", place->base, place->table);
	append_literal(wire, partition);
	wire_append(wire, ",RowKey=");
	append_literal(wire, row);
	wire_append(wire, ")");
}

static void append_filter(struct wire *wire, const struct table_query *query)
{
	wire_append(wire, "&$filter=PartitionKey%%20eq%%20");
	append_literal(wire, query->partition);
	wire_append(wire, "%%20and%%20RowKey%%20lt%%20");
	append_literal(wire, query->below);
}

static void append_next(struct wire *wire, const char *name, const char *value)
{
	if (!value)
		return;
	wire_append(wire, "&%s=", name);
	wire_escape(wire, value);
}

void wire_query(struct wire *wire, const struct table_place *place, const struct table_query *query)
{
	wire_append(wire, "%s/%s()?$top=%u", place->base, place->table,
	            query->top ? query->top : TABLE_PAGE_MAX);
	if (query->partition)
		append_filter(wire, query);
	if (query->keys_only)
		wire_append(wire, "&$select=PartitionKey,RowKey");
	append_next(wire, "NextPartitionKey", query->next_partition);
	append_next(wire, "NextRowKey", query->next_row);
}

/* ---- a batch ---- */

void wire_batch_type(struct wire *wire, uint64_t id)
{
	wire_append(wire, "multipart/mixed; boundary=batch_%016" PRIx64, id);
}

void wire_batch_begin(struct wire *wire, uint64_t id)
{
	wire_append(wire,
	            "--batch_%016" PRIx64 "\r\n"
	            "Content-Type: multipart/mixed; boundary=changeset_%016" PRIx64 "\r\n\r\n",
	            id, id);
}

static void begin_operation(struct wire *wire, uint64_t id, const char *method)
{
	wire_append(wire,
	            "--changeset_%016" PRIx64 "\r\n"
	            "Content-Type: application/http\r\n"
	            "Content-Transfer-Encoding: binary\r\n\r\n"
	            "%s ",
	            id, method);
}

void wire_batch_delete(struct wire *wire, uint64_t id, const struct table_place *place,
                       const char *partition, const char *row)
{
	begin_operation(wire, id, "DELETE");
	wire_entity(wire, place, partition, row);
	wire_append(wire, " HTTP/1.1\r\nAccept: application/json\r\nIf-Match: *\r\n\r\n\r\n");
}

void wire_batch_put(struct wire *wire, uint64_t id, const struct table_place *place,
                    const char *partition, const char *row, const char *entity)
{
	begin_operation(wire, id, "PUT");
	wire_entity(wire, place, partition, row);
	wire_append(wire,
	            " HTTP/1.1\r\n"
	            "Content-Type: application/json\r\n"
	            "Accept: application/json;odata=minimalmetadata\r\n"
	            "DataServiceVersion: 3.0\r\n\r\n"
	            "%s\r\n",
	            entity);
}

void wire_batch_end(struct wire *wire, uint64_t id)
{
	wire_append(wire, "--changeset_%016" PRIx64 "--\r\n--batch_%016" PRIx64 "--\r\n", id, id);
}
