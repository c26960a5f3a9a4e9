#!/usr/bin/env bash
# Times `Demo mirror` beside rclone (20,000 files of 6 KB) and curl (three files of 500 MB), from one nginx, in turns.
#
#   Tests/Benchmarks/mirror.sh [RUNS [FOLDER]]    5 runs by default; FOLDER receives the copies, /dev/shm by default
#
# Each is timed until what it wrote is on the disk of FOLDER, which only our mirror waits for by itself. Linux only. Needs nginx,
# rclone, curl, Python 3 and GNU time, 5 GB in /dev/shm, and the port 8125.
set -euo pipefail
cd "$(dirname "$0")/../.."

runs=${1:-5}
base=${2:-/dev/shm}
port=8125
address=http://127.0.0.1:$port

swift build -c release --product Demo
demo=$(swift build -c release --show-bin-path)/Demo

served=$(mktemp -d /dev/shm/served.XXXXXX)
copies=$(mktemp -d "$base/copies.XXXXXX")
trap 'nginx -c "$served/nginx.conf" -s quit 2>/dev/null || true; rm -rf "$served" "$copies"' EXIT
mkdir "$served/small" "$served/large"
python3 - "$served" <<'PYTHON'
import os, sys, time
# Dates of the last minutes prove nothing about later changes, so that the server would be asked.
past = time.time() - 3600
def write(path, count, times=1):
    with open(path, "wb") as file:
        for _ in range(times): file.write(os.urandom(count))
    os.utime(path, (past, past))
for number in range(20_000): write(f"{sys.argv[1]}/small/{number:05}.txt", 6_000)
for number in range(3): write(f"{sys.argv[1]}/large/{number}.bin", 1_000_000, 500)
PYTHON
cat >"$served/nginx.conf" <<NGINX
worker_processes 2;
pid $served/nginx.pid;
error_log $served/error.log;
events { worker_connections 1024; }
http {
    access_log off;
    sendfile on;
    keepalive_requests 1000000;
    server { listen 127.0.0.1:$port; root $served; autoindex on; }
}
NGINX
chmod 755 "$served"
nginx -c "$served/nginx.conf"

# Runs a command, and sets `spent` to its milliseconds and `kilobytes` to the most memory that it used.
timed() {
    local begin
    sync -f "$copies"
    begin=$(date +%s%N)
    command time -q -o "$served/kilobytes" -f %M "$@" >/dev/null 2>"$served/errors" || { cat "$served/errors" >&2; exit 1; }
    sync -f "$copies"
    spent=$((($(date +%s%N) - begin) / 1000000))
    kilobytes=$(cat "$served/kilobytes")
}

# Prints a case: ours, the other's, the ratio, and our memory.
row() { awk -v a="$2" -v b="$4" -v m="$5" -v n="$1" -v o="$3" 'BEGIN { printf "%-12s %6d ms  %-6s %6d ms  ratio %.2f  %d MB\n", n, a, o, b, a / b, m / 1024 }'; }

small() {
    local copy=(rclone copy --transfers 16 --checkers 16 --http-url "$address/small/" :http: "$copies/theirs")
    for case in first again; do
        timed "$demo" mirror "$address/small/" "$copies/ours" --concurrency 16
        local ours=$spent memory=$kilobytes
        timed "${copy[@]}"
        row "$case" "$ours" rclone "$spent" "$memory"
    done
}

large() {
    timed "$demo" mirror "$address/large/" "$copies/ours" --concurrency 3
    local ours=$spent memory=$kilobytes
    rm -rf "$copies/ours"
    timed curl -sS -Z --create-dirs --output-dir "$copies/theirs" --remote-name-all "$address"/large/{0,1,2}.bin
    row "3 x 500 MB" "$ours" curl "$spent" "$memory"
}

for _ in $(seq "$runs"); do
    small
    rm -rf "$copies/ours" "$copies/theirs"
    large
    rm -rf "$copies/ours" "$copies/theirs"
done
