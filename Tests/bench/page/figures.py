#!/usr/bin/env python3
"""Measure the page's speed with a simulated pump and pumpctld on this machine, and print it next to the goals below.

    figures.py [MINUTES]

With MINUTES, a page also stays open for so long, and the growth of its memory is measured. Run it on an idle machine;
$PUMPCTL_PROGRAMS is the folder of the programs, by default that of the debug build.
"""

import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))

from bench import Bench, wait_until
from playwright.sync_api import expect, sync_playwright

ROUNDS = 50
# Fills a chart of four series with an hour of values, a second apart. Returns the median time in milliseconds of five
# drawings, and the number of points in the shortest line. A chart is drawn at most once a second, hence the pauses.
CHART = """async () => {
  const folder = document.querySelector("script").src.replace("main.js", "");
  const { bench, now } = await import(folder + "bench.js");
  const { charts } = await import(folder + "chart.js");
  const keys = ["a", "b", "c", "d"];
  bench.families.four = { state: keys.map((key) => ({ key, label: key, unit: "V", type: "number" })) };
  const device = bench.devices.four = { name: "four", family: "four", link: "up", values: {} };
  const parts = [];
  // Not in the screen, which the page makes anew when the list of devices changes.
  const section = charts(device, bench.families.four, parts);
  document.body.append(section);
  for (let second = 3600; second >= 0; second -= 1) {
    keys.forEach((key, index) => { device.values[key] = { value: 12 + Math.sin(second / 100 + index), read: now() - second * 1000 }; });
    parts.forEach((part) => part());
  }
  const times = [];
  for (let round = 0; round < 5; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const begin = performance.now();
    parts.forEach((part) => part());
    document.body.getBoundingClientRect();
    times.push(performance.now() - begin);
  }
  delete bench.devices.four;
  return [times.sort((a, b) => a - b)[2], Math.min(...[...section.querySelectorAll("path")].map((one) => one.getAttribute("d").split("L").length))];
}"""


def tell(work: str, value: str, goal: str) -> None:
    print(f"{work:60} {value:>24}   {goal}", flush=True)


def milliseconds(times: list[float]) -> str:
    times = sorted(times)
    return f"{statistics.median(times) * 1000:.0f} ms, p99 {times[int(len(times) * 0.99)] * 1000:.0f} ms"


def figures(minutes: float, browser, bench: Bench) -> None:
    address = f"http://127.0.0.1:{bench.address[1]}/"
    paints = []
    for _ in range(5):
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
        paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000)
        context.close()
    tell("first paint, cold cache", milliseconds(paints), "≤ 300 ms")

    page = browser.new_page()
    page.goto(f"{address}#{bench.code()}")
    expect(page.locator("#connection")).to_have_text("connected")
    page.evaluate("location.hash = '#/device/pump'")
    state = page.locator("[data-key=state] .value")
    expect(state).to_have_text("off")

    page.evaluate("[...document.querySelectorAll('form button')].find((one) => one.textContent === 'temp').form.id = 'temp'")
    times = []
    for _ in range(ROUNDS):
        page.wait_for_function("() => !document.querySelector('#temp button').disabled && document.querySelector('#temp .outcome').dataset.busy !== 'yes'")
        count = len(bench.line.lines)
        begin = page.evaluate("(() => { const begin = Date.now(); document.querySelector('#temp button').click(); return begin; })()") / 1000
        times.append(wait_until(lambda: [line[0] for line in bench.line.lines[count:] if line[1:3] == ("host", "TEMP")], "a command")[0] - begin)
    tell("press until the line is on the wire", milliseconds(times), "median ≤ 50 ms")

    page.evaluate("""() => {
      window.changes = [];
      const state = document.querySelector("[data-key=state] .value");
      new MutationObserver(() => changes.push([Date.now() / 1000, state.textContent])).observe(state, { childList: true, characterData: true, subtree: true });
    }""")
    times = []
    for number in range(ROUNDS):
        count, wanted = len(bench.line.lines), "off" if number % 2 else "on"
        page.evaluate("() => { changes.length = 0; }")
        bench.control_pump("press")
        said = wait_until(lambda: [line[0] for line in bench.line.lines[count:] if line[2].startswith("MANUAL")], "an event")[0]
        page.wait_for_function("wanted => changes.some(([, text]) => text === wanted)", arg=wanted)
        times.append(page.evaluate("wanted => changes.find(([, text]) => text === wanted)[0]", wanted) - said)
    tell("event of the device until it is shown", milliseconds(times), "median ≤ 60 ms, p99 ≤ 250 ms")

    duration, points = page.evaluate(CHART)
    tell(f"a chart of 4 series with {points} points", f"{duration:.0f} ms", "≤ 50 ms")

    if minutes:
        page.reload()
        expect(state).to_have_text("off")
        browser_session = page.context.new_cdp_session(page)

        def heap() -> float:
            browser_session.send("HeapProfiler.collectGarbage")
            return browser_session.send("Runtime.getHeapUsage")["usedSize"] / 1e6

        # The first minute is not measured: the page and the browser still allocate.
        page.wait_for_timeout(60_000)
        before, end = heap(), time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            bench.control_pump("press")
            page.wait_for_timeout(20_000)
        after = heap()
        tell(f"memory after {minutes:g} minutes, a press each 20 s", f"{before:.1f} MB, {after - before:+.1f} MB", "± 2 MB")


def main(minutes: float = 0) -> None:
    with Bench() as bench, sync_playwright() as playwright:
        bench.start_daemon()
        bench.start_page()
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        expect.set_options(timeout=60_000)
        figures(minutes, browser, bench)
        browser.close()


main(*map(float, sys.argv[1:]))
