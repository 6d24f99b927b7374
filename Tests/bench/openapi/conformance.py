#!/usr/bin/env python3
"""Check pumpctl-page against http.openapi.json by schemathesis: conformance.py PROGRAMS SCHEMATHESIS [N]

PROGRAMS is the folder of the programs, SCHEMATHESIS the command, and N the number of examples for each operation:
1000 unless given, with which some 9,000 requests are sent in 20 minutes.
SEEDS=1234 repeats the run of that seed.

Every answer must be one that packaging/schema/http.openapi.json describes, and of the 5xx only 503 and 504 may occur.
Five operations are left out: the stream of events and the peer do not end, ending the session would end the run, and a
test of a firmware and a measurement take long. check.py, ../page/peer.py and ../page/trials.py use them.
"""

import collections
import json
import os
import pathlib
import random
import subprocess
import sys

import rig

# The accepted statuses of valid and of invalid requests. A valid request may be refused too, for example because it
# names an unknown device.
SETTINGS = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "404", "409", "429", "503", "504"]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415", "421"]

# A wrong code is answered after a second.
[[operations]]
include-operation-id = "logIn"
generation.max-examples = 20
"""


def statuses(path: pathlib.Path) -> collections.Counter:
    """Count the statuses of all responses in a report."""
    counts: collections.Counter = collections.Counter()

    def search(value) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("status_code"), int):
                counts[value["status_code"]] += 1
            for member in value.values():
                search(member)
        elif isinstance(value, list):
            for member in value:
                search(member)

    with open(path, encoding="utf-8") as file:
        for line in file:
            search(json.loads(line))
    return counts


def main() -> int:
    programs, schemathesis = sys.argv[1], os.path.abspath(sys.argv[2])
    count = sys.argv[3] if len(sys.argv) > 3 else "1000"
    seed = os.environ.get("SEEDS", "").rstrip("+") or str(random.randrange(1 << 31))
    with rig.Rig.in_folder(programs) as bench:
        bench.start_all()
        settings = bench.folder / "schemathesis.toml"
        settings.write_text(SETTINGS)
        report = bench.folder / "report.ndjson"
        command = [
            schemathesis, "--config-file", str(settings), "run", bench.address + "/api/v1/openapi.json",
            "--header", f"Authorization: Bearer {bench.log_in()}", "--phases", "examples,coverage,fuzzing,stateful",
            *(word for name in ("events", "logOut", "verify", "latency", "peer") for word in ("--exclude-operation-id", name)),
            "--mode", "all", "--checks", "all",
            # This check allows no exceptions, but 503 and 504 are right answers. The other 5xx are looked for below.
            "--exclude-checks", "not_a_server_error",
            "--max-examples", count, "--seed", seed, "--workers", "4", "--request-timeout", "60",
            "--generation-database", "none", "--continue-on-failure", "--report", "ndjson", "--report-ndjson-path", str(report),
        ]
        print("seed", seed, flush=True)
        # schemathesis writes a cache to its working folder.
        status = subprocess.run(
            command, env={**os.environ, "NO_COLOR": "1"}, cwd=bench.folder, check=False).returncode
        counts = statuses(report)
        print(sum(counts.values()), "answers:", ", ".join(f"{count} × {code}" for code, count in sorted(counts.items())))
        wrong = [code for code in counts if code >= 500 and code not in (503, 504)]
        if wrong or bench.processes["page"].poll() is not None:
            print("statuses that must not be:", wrong, bench.log("page"))
            return 1
        return status


sys.exit(main())
