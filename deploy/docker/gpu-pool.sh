#!/bin/sh
# Example, not run by its authors. A pool `gpu` whose runs are containers on a host with GPUs; the OCR server runs
# beside them (`pagemill serve PROFILE`). Needs: pip install prefect-docker; PREFECT_API_URL; the image pagemill.
set -eu
prefect work-pool create gpu --type docker --base-job-template "$(dirname "$0")/gpu-pool.json"
prefect work-queue create scheduled --pool gpu --priority 1
prefect work-queue create backfill --pool gpu --priority 10 --limit 1
exec prefect worker start --pool gpu --type docker --limit 1
