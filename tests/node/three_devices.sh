#!/usr/bin/env bash
# The story of ./run as a test: three_devices.sh PROGRAM FOLDER. Exit code 0: all came out as it must.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/common.sh
. scripts/three-devices.sh
witan=$1 demo=$2
deployThree
tellStory
compareThree
strangerProof
stopDevices
