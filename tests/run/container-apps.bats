# The plan of the Job of Azure Container Apps, on three directories in place of its mounts.
# side by side
load lib.bash

plan_of_job() {
	"$PYTHON" - "$repo/manifests/azure-container-apps/job.yaml" <<-'END'
		import sys, yaml
		job = yaml.safe_load(open(sys.argv[1]))
		print(job["properties"]["configuration"]["secrets"][0]["value"])
	END
}

@test "the plan of the Job runs: the container's own file system, an EmptyDir, a share" {
	mkdir "$T/scratch" "$T/cache" "$T/data"
	plan < <(plan_of_job | sed "s|/scratch|$T/scratch|; s|/cache|$T/cache|; s|/data|$T/data|")
	measure --set=size=4MiB --set=ramp_time=0 --set=runtime=50ms --set=iodepth=4 \
		--set=numjobs=1 --set=tests.own-latency.interval=10ms \
		--set=tests.latency.interval=10ms
	holds '[.tests[].name] | length == 27 and .[3] == "own-randread-4KiB" and
		(map(select(startswith("mounted-cache-"))) | length == 8) and
		.[26] == "mounted-data-write-64KiB"'
	holds '[.tests[:3][].name] == ["own-latency", "latency-cache", "latency-data"]'
	holds '.tests[:3] | all(.kind == "probe" and .read.ios == 10)'
	holds '.tests | all(.status == "ok")'
}
