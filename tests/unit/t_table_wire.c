/* links: kinds/table_wire.c */
#include "kinds/table_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct table_place place = {"http://127.0.0.1:10002/devstoreaccount1", "t01"};

static void test_entity(void **state)
{
	char bytes[256];
	struct wire wire = wire_of(bytes, sizeof(bytes));

	(void)state;
	wire_entity(&wire, &place, "d'1 \xc3\xa9", "a/b-._~");
	assert_string_equal(bytes, "http://127.0.0.1:10002/devstoreaccount1/"
	                           "t01(PartitionKey='d%27%271%20%C3%A9',RowKey='a%2Fb-._~')");
	assert_int_equal(wire.used, strlen(bytes));
	assert_false(wire.cut);
}

static void test_query(void **state)
{
	char bytes[512];
	struct wire wire = wire_of(bytes, sizeof(bytes));

	(void)state;
	wire_query(&wire, &place,
	           &(struct table_query){.partition = "p1",
	                                 .below = "0005",
	                                 .keys_only = true,
	                                 .next_partition = "1!8!a b",
	                                 .next_row = "1!4!="});
	assert_string_equal(bytes, "http://127.0.0.1:10002/devstoreaccount1/t01()?$top=1000"
	                           "&$filter=PartitionKey%20eq%20'p1'%20and%20RowKey%20lt%20'0005'"
	                           "&$select=PartitionKey,RowKey"
	                           "&NextPartitionKey=1%218%21a%20b&NextRowKey=1%214%21%3D");
	wire_reset(&wire);
	wire_query(&wire, &place, &(struct table_query){.top = 1, .next_partition = "x"});
	assert_string_equal(bytes, "http://127.0.0.1:10002/devstoreaccount1/t01()?$top=1"
	                           "&NextPartitionKey=x");
}

static void test_batch(void **state)
{
	char bytes[2048], type[128];
	struct wire wire = wire_of(bytes, sizeof(bytes)), of_type = wire_of(type, sizeof(type));

	(void)state;
	wire_batch_begin(&wire, 255);
	wire_batch_delete(&wire, 255, &place, "p1", "1");
	wire_batch_put(&wire, 255, &place, "p1", "2", "{\"a\":1}");
	wire_batch_end(&wire, 255);
	assert_string_equal(
	        bytes,
	        "--batch_00000000000000ff\r\n"
	        "Content-Type: multipart/mixed; boundary=changeset_00000000000000ff\r\n"
	        "\r\n"
	        "--changeset_00000000000000ff\r\n"
	        "Content-Type: application/http\r\n"
	        "Content-Transfer-Encoding: binary\r\n"
	        "\r\n"
	        "DELETE http://127.0.0.1:10002/devstoreaccount1/t01(PartitionKey='p1',RowKey='1') "
	        "HTTP/1.1\r\n"
	        "Accept: application/json\r\n"
	        "If-Match: *\r\n"
	        "\r\n"
	        "\r\n"
	        "--changeset_00000000000000ff\r\n"
	        "Content-Type: application/http\r\n"
	        "Content-Transfer-Encoding: binary\r\n"
	        "\r\n"
	        "PUT http://127.0.0.1:10002/devstoreaccount1/t01(PartitionKey='p1',RowKey='2') "
	        "HTTP/1.1\r\n"
	        "Content-Type: application/json\r\n"
	        "Accept: application/json;odata=minimalmetadata\r\n"
	        "DataServiceVersion: 3.0\r\n"
	        "\r\n"
	        "{\"a\":1}\r\n"
	        "--changeset_00000000000000ff--\r\n"
	        "--batch_00000000000000ff--\r\n");
	wire_batch_type(&of_type, 255);
	assert_string_equal(type, "multipart/mixed; boundary=batch_00000000000000ff");
}

static void test_cut(void **state)
{
	char bytes[64];

	(void)state;
	for (size_t room = 1; room < sizeof(bytes); room++) {
		struct wire wire = wire_of(bytes, room);

		memset(bytes + room, 'x', sizeof(bytes) - room);
		wire_entity(&wire, &place, "partition'", "row");
		assert_true(wire.cut);
		assert_true(wire.used < room);
		assert_int_equal(strlen(bytes), wire.used);
		assert_int_equal(bytes[room], 'x');
		wire_reset(&wire);
		assert_false(wire.cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_entity),
	        cmocka_unit_test(test_query),
	        cmocka_unit_test(test_batch),
	        cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
