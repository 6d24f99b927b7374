#!/usr/bin/env python3
"""Print a pump's status, and then its events: http_client.py ADDRESS [DEVICE]

ADDRESS is the one that 'pumpctl page --code' prints, as http://127.0.0.1:8080/#CODE
"""
import json
import sys
import urllib.error
import urllib.request

if len(sys.argv) < 2:
    sys.exit(__doc__)
page, code = sys.argv[1].split("#")
device = (sys.argv + ["pump"])[2]
headers = {"Content-Type": "application/json"}
# Without a handler for proxies, the token goes to the page alone.
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(path, body=None):
    """Return the response. The page sends something every 2 seconds, so a silence of 10 seconds is an error."""
    data = None if body is None else json.dumps(body).encode()
    try:
        return opener.open(urllib.request.Request(f"{page}api/v1/{path}", data, headers), timeout=10)
    except urllib.error.HTTPError as error:
        sys.exit(json.load(error)["detail"])


headers["Authorization"] = "Bearer " + json.load(ask("session", {"code": code}))["token"]
print(*json.load(ask(f"devices/{device}/commands", {"name": "status"}))["reply"], flush=True)
event = ""
for line in ask("events"):
    field, _, value = line.decode().strip().partition(": ")
    if field == "event":
        event = value
    elif field == "data":
        print(event, value, flush=True)
sys.exit("the page has closed the stream")
