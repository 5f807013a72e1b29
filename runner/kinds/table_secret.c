#include "kinds/table_secret.h"

#include <string.h>

#include "io/host.h"

#define KEY_VARIABLE     "AZURE_STORAGE_KEY"
#define SAS_VARIABLE     "AZURE_STORAGE_SAS_TOKEN"
#define ACCOUNT_VARIABLE "AZURE_STORAGE_ACCOUNT"
#define SECRET_MAX       (2 * AZURE_SAS_MAX)

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/* The first line of the file, or the variable where the plan names none; "": there is none. */
static int read_secret(const char *file, const char *name, char out[SECRET_MAX], struct err *err)
{
	if (!file[0]) {
		snprintf(out, SECRET_MAX, "%s", variable(name));
		return 0;
	}
	host_read_line(file, out, SECRET_MAX);
	return out[0] ? 0 : err_set(err, ERR_PLAN, "'%s' is empty or cannot be read", file);
}

static int read_secrets(struct azure *azure, const struct plan_table *plan, const char *account,
                        struct err *err)
{
	char key[SECRET_MAX], sas[SECRET_MAX];

	if (read_secret(plan->key_file, KEY_VARIABLE, key, err) ||
	    read_secret(plan->sas_file, SAS_VARIABLE, sas, err))
		return -1;
	/* a file is what the plan says, a variable is what happens to be there */
	if (plan->key_file[0] || (key[0] && !plan->sas_file[0]))
		return azure_use_key(azure, account, key, err);
	if (sas[0])
		return azure_use_sas(azure, account, sas, err);
	return err_set(err, ERR_PLAN,
	               "no key and no SAS for account '%s' (name a key_file or sas_file, or "
	               "set " KEY_VARIABLE " or " SAS_VARIABLE ")",
	               account);
}

static int set_base(struct table_service *service, const struct plan_table *plan,
                    const char *account, struct err *err)
{
	size_t length;

	if (plan->endpoint[0])
		snprintf(service->base, sizeof(service->base), "%s", plan->endpoint);
	else
		snprintf(service->base, sizeof(service->base),
		         "https://%.64s.table.core.windows.net", account);
	length = strlen(service->base);
	while (length && service->base[length - 1] == '/')
		service->base[--length] = '\0';
	if (strpbrk(service->base, "?#@ ") ||
	    http_url_show(service->base, false, service->host, err))
		return err_set(
		        err, ERR_PLAN,
		        "the endpoint is no URL such as https://ACCOUNT.table.core.windows.net");
	return 0;
}

int table_service_init(struct table_service *service, const struct test *test, struct err *err)
{
	const struct plan_table *plan = &test->table;
	const char *account = plan->account[0] ? plan->account : variable(ACCOUNT_VARIABLE);

	*service = (struct table_service){
	        .ca_file = test->ca_file[0] ? test->ca_file : NULL,
	        .timeout_ns = test->timeout_ns,
	        .retries = plan->retries,
	};
	if (!account[0])
		return err_set(err, ERR_PLAN,
		               "no storage account (say account, or set " ACCOUNT_VARIABLE ")");
	if (read_secrets(&service->azure, plan, account, err) ||
	    set_base(service, plan, account, err))
		return -1;
	service->place = (struct table_place){service->base, plan->name};
	return 0;
}
