#!/usr/bin/env python3
"""Check the HTTP interface by real programs: check.py PROGRAMS [PART…]

PROGRAMS is the folder of pumpctl, pumpctld and pumpctl-page. The parts, all of them by default, are

    answers    every route and almost every error, each answer compared with packaging/schema/http.openapi.json
    page       the curl lines of docs/http.md give the answers that the page shows, and its Python program works
    proxy      nginx with the block of docs/http.md lets a program log in and read events

The part 'renew' checks nothing: it writes the answers of this run, and Examples/http_client.py, to docs/http.md.
"""

import sys

import answers
import page
import proxy
import rig

PARTS = {"answers": answers.check, "page": page.check, "proxy": proxy.check}

for name in sys.argv[2:] or PARTS:
    with rig.Rig.in_folder(sys.argv[1]) as bench:
        print(f"{name}: {(PARTS | {'renew': page.renew})[name](bench)}", flush=True)
