#!/usr/bin/env bash
# The goldens are strictly valid for every version of Kubernetes whose schema is there:
# K8S_SCHEMAS names a folder of 1.NN.0.json, else ../shared/k8s-schemas. What kubectl
# renders is compared with the goldens by render.sh, so that none is needed here.
# shellcheck source=tests/manifests/lib.bash
source "$(dirname "$0")/lib.bash"

schemas=${K8S_SCHEMAS:-../shared/k8s-schemas}
[[ -d $schemas ]] || skip_all "no schemas of Kubernetes here (K8S_SCHEMAS names a folder)"
/usr/bin/python3 tests/manifests/schema.py "$schemas" tests/manifests/golden/*.yaml
