/*
 * The field table of a hop; docs/hops.md is printed from it.
 */
#include "plan/chains.h"

const struct field plan_hop_fields[] = {
        {.name = "url",
         .type = FIELD_CUSTOM,
         .offset = offsetof(struct plan_hop, url),
         .parse = plan_url_parse,
         .pattern = PLAN_URL_PATTERN,
         .allowed = PLAN_URL_ALLOWED,
         .help = "Where the hop before it finds this one; the first is called by the test itself."},
        {.name = PLAN_SINK_HEADERS,
         .help = "Headers of the request to `url`, a mapping of names to values. Those of a later "
                 "hop travel through the hops before it. `Authorization` and its like take a value "
                 "only with a `${NAME}` in it."},
};
const size_t plan_n_hop_fields = ARRAY_SIZE(plan_hop_fields);
