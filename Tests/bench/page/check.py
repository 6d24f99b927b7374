#!/usr/bin/env python3
"""Check the page in Chromium: its display of simulated devices, and the effects of its buttons.

    check.py PROGRAMS [SHOTS]

Needs Chromium and the packages of requirements.txt. Screenshots go to SHOTS, by default .build/page-shots.
"""

import gzip
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import time
import tty

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "openapi"))

import rig
from axe_playwright_python.sync_playwright import Axe
from peer import peer
from playwright.sync_api import Page, expect, sync_playwright
from trials import trials

SIZES = {"phone": (360, 780), "desk": (1440, 900)}
SCREENS = ["#/", "#/device/pump", "#/device/lamp", "#/device/storm", "#/device/peer", "#/device/phone", "#/past", "#/peer", "#/findings",
           "#/about"]
# Records in `window.alarms` the texts that a screen reader announces immediately.
ALARMS = """() => {
  window.alarms = [];
  const node = document.getElementById("alarms");
  if (!node) return;
  new MutationObserver(() => window.alarms.push(node.textContent))
    .observe(node, { childList: true, characterData: true, subtree: true });
}"""
# The time limit in milliseconds for anything that is waited for; only a page that hangs reaches it.
PATIENCE = rig.PATIENCE * 1000


class Check:
    """A browser with the page of a rig, and the flaws that were found."""

    def __init__(self, bench: rig.Rig, browser, shots: pathlib.Path) -> None:
        self.bench, self.browser, self.shots = bench, browser, shots
        self.flaws: list[str] = []
        self.count = 0
        self.requests: list[str] = []
        (bench.folder / "captures").mkdir()
        # The options with which pumpctl-page is started.
        self.options = ["--captures", str(bench.folder / "captures")]

    def new_page(self, context) -> Page:
        page = context.new_page()
        page.on("console", lambda message: self.flaws.append(f"console: {message.text}") if self.is_flaw(message.text) else None)
        page.on("pageerror", lambda error: self.flaws.append(f"error: {error}"))
        page.on("request", lambda request: self.note(request.url))
        return page

    def is_flaw(self, text: str) -> bool:
        # Messages of the browser itself are no flaws: it reports error statuses, and failed connections to the server.
        return "Failed to load resource" not in text

    def note(self, url: str) -> None:
        self.requests.append(url)
        if not url.startswith((self.bench.address.rstrip("/"), "blob:")):
            self.flaws.append(f"a request to another host: {url}")

    def log_in(self, context, *options: str) -> Page:
        page = self.new_page(context)
        page.goto(f"{self.bench.address.rstrip('/')}/#{self.bench.code(*options)}")
        expect(page.locator("#connection")).to_have_text("connected")
        assert "#/" == page.url[page.url.index("#"):], f"the code stays in the address: {page.url}"
        return page

    def open(self, page: Page, screen: str) -> None:
        page.evaluate("screen => { location.hash = screen }", screen)

    def is_there(self, page: Page, screen: str) -> None:
        """Wait until a screen is complete. In the list of devices, the kinds appear after the names."""
        expect(page.locator("main :is(h1, h2)").first).to_be_visible()
        if screen == "#/":
            expect(page.locator("h2 small").first).to_have_text("a pump")

    def looks(self, page: Page, name: str) -> None:
        """Take a screenshot, and check the rules for every screen: no horizontal scrolling, and axe finds nothing.

        axe checks the accessibility: https://github.com/dequelabs/axe-core
        """
        self.count += 1
        page.screenshot(path=self.shots / f"{name}.png", full_page=True)
        width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if width > 0:
            self.flaws.append(f"{name}: {width} px too wide")
        for violation in Axe().run(page).response["violations"]:
            nodes = "; ".join(node["html"][:120] for node in violation["nodes"][:3])
            self.flaws.append(f"{name}: {violation['id']}: {violation['help']}: {nodes}")

    # MARK: Checks

    def screens(self) -> None:
        """Every screen keeps the rules, on a phone and on a desk, in light and in dark colours."""
        for size, (width, height) in SIZES.items():
            for scheme in ("light", "dark"):
                context = self.browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce")
                page = self.log_in(context)
                for screen in SCREENS:
                    self.open(page, screen)
                    self.is_there(page, screen)
                    if screen == "#/findings":
                        expect(page.locator(".outcome")).to_contain_text("found at")
                    self.looks(page, f"{size}-{scheme}-{screen.strip('#/').replace('/', '-') or 'list'}")
                context.close()

    def model(self) -> None:
        context = self.browser.new_context()
        page = self.new_page(context)
        page.goto(self.bench.address)
        folder = page.evaluate("document.querySelector('script').src.replace('main.js', '')")
        self.flaws += page.evaluate((pathlib.Path(__file__).parent / "model.js").read_text(), folder)
        context.close()

    def weight(self) -> None:
        """The files of the page have at most 150,000 bytes, and 45,000 compressed."""
        context = self.browser.new_context()
        page = self.log_in(context)
        text = page.evaluate("""() => Promise.all(["/", ...new Set(performance.getEntriesByType("resource").map((one) => one.name)
          .filter((name) => name.includes("/page/")))].map((path) => fetch(path).then((response) => response.text())))""")
        sizes = len("".join(text).encode()), len(gzip.compress("".join(text).encode()))
        print(f"weight: {len(text)} files, {sizes[0]} bytes, {sizes[1]} compressed", flush=True)
        if sizes[0] > 150_000 or sizes[1] > 45_000:
            self.flaws.append(f"the page has {sizes} bytes")
        context.close()

    def commands(self) -> None:
        """Buttons, the slider and downloads have their effects, and show their outcomes."""
        context = self.browser.new_context(viewport={"width": 360, "height": 780})
        page = self.log_in(context)
        self.open(page, "#/device/pump")
        state, off = page.locator("[data-key=state] .value"), page.locator("button.off")
        expect(state).to_have_text("off")
        page.get_by_role("button", name="on", exact=True).click()
        expect(page.locator("form .outcome").first).to_have_text(re.compile(r"done at .*: OK, PUMP:ON"))
        expect(state).to_have_text("on")
        expect(page.locator(".last")).to_contain_text("on by page session")
        slider = page.locator("input[type=range]")
        # The speed that was read stands at the slider too, so that a key moves it on from there.
        page.get_by_role("button", name="status", exact=True).click()
        expect(page.locator("output")).to_have_text(re.compile(r"^now \d+ %$"))
        expect(slider).to_have_value(re.compile(r"^\d\d+$"))
        slider.fill("200")
        expect(page.locator("form", has=slider).locator(".outcome")).to_contain_text("done at")
        expect(page.locator("output")).to_have_text("now 200")
        expect(page.locator("figure svg[aria-label*=skin]")).to_have_attribute("aria-label", re.compile("water from .* to .*, skin from .* to "))
        self.looks(page, "phone-pump-on")
        # The picture in docs/page.md.
        page.set_viewport_size({"width": 1000, "height": 800})
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=self.shots / "page.png")
        page.set_viewport_size({"width": 360, "height": 780})
        # OFF is the first element of the screen that Tab reaches.
        page.evaluate("document.activeElement.blur()")
        page.evaluate("document.querySelector('article').setAttribute('tabindex', '-1'); document.querySelector('article').focus()")
        page.keyboard.press("Tab")
        expect(off).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".stop .outcome")).to_have_text(re.compile("confirmed by pump, asked at"))
        expect(state).to_have_text("off")
        # The slider is used although it is disabled, as when the pump has stopped and the page does not know yet. The
        # refusal is shown in words.
        expect(page.locator("form", has=slider)).to_contain_text("Possible while pump is on.")
        expect(slider).to_be_disabled()
        slider.evaluate("slider => { slider.disabled = false; slider.value = 100; slider.form.requestSubmit(); }")
        expect(page.locator("form", has=slider).locator(".outcome")).to_contain_text("The pump is off")
        expect(page.locator("output")).to_have_text("not known now")

        self.open(page, "#/device/lamp")
        led = page.locator("[data-key=led] .value")
        expect(led).to_have_text("off")
        page.get_by_role("button", name="on", exact=True).click()
        expect(led).to_have_text("on")

        self.open(page, "#/device/storm")
        page.get_by_role("button", name="get log").click()
        expect(page.locator(".content .outcome")).to_contain_text("log received at")
        expect(page.locator(".content pre")).to_be_visible()
        self.looks(page, "phone-storm-log")
        self.open(page, "#/device/peer")
        page.get_by_role("button", name="get image").click()
        expect(page.locator(".content .outcome")).to_have_text(re.compile("image received at|not received"))
        self.looks(page, "phone-peer-image")
        context.close()

    def trouble(self) -> None:
        """A pump's temperatures, its button, and its stops for safety are shown."""
        context = self.browser.new_context(viewport={"width": 360, "height": 780})
        page = self.log_in(context)
        self.open(page, "#/device/pump")
        state, on, off = (page.locator("[data-key=state] .value"), page.get_by_role("button", name="on", exact=True),
                          page.locator("button.off"))
        banners, water = page.locator(".banner"), page.locator("[data-key=water_temp_c] .level")
        for degrees, word, grade in ((14, "optimal", "good"), (20, "warming up", "warning"), (26, "too warm", "bad")):
            self.bench.control("pump", "temperature", "water", str(degrees))
            page.get_by_role("button", name="temp", exact=True).click()
            expect(water).to_have_text(word)
            expect(water).to_have_attribute("data-grade", grade)
        expect(banners).to_have_text([re.compile("water: too warm *dismiss")])
        banners.get_by_role("button", name="dismiss").click()
        expect(banners).to_have_count(0)
        self.bench.control("pump", "temperature", "water", "12")

        self.bench.control("pump", "press")
        expect(state).to_have_text("on")
        expect(page.locator(".last")).to_contain_text("last change: on by hand at")
        expect(page.locator("[data-key=last_control] .value")).to_have_text("manual")
        self.bench.control("pump", "advance", "26m")
        expect(page.locator("[data-key=remaining_min] .level")).to_have_text("less than 5 minutes")
        self.looks(page, "phone-pump-late")
        self.bench.control("pump", "advance", "5m")
        expect(state).to_have_text("error")
        expect(banners).to_contain_text([re.compile("The pump was stopped after its 30 minutes. *To do: leave the error state: press OFF; then press .on. for another 30 minutes")])
        expect(on).to_be_disabled()
        expect(page.locator("form", has=on)).to_contain_text("Possible while pump is on or off.")
        off.click()
        expect(state).to_have_text("off")
        expect(banners).to_have_count(0)

        expect(page.locator(".stop .outcome")).to_contain_text("confirmed by pump, asked at")
        on.click()
        expect(state).to_have_text("on")
        expect(page.locator(".stop .outcome")).to_have_text("")
        self.bench.control("pump", "temperature", "skin", "41")
        expect(state).to_have_text("error")
        self.looks(page, "phone-pump-hot")
        for text in ("The pump was stopped: the skin was warmer than 40.0 °C or too cold, or a thermistor is broken.", "skin: too hot"):
            expect(banners.filter(has_text=text)).to_be_visible()
        # A dismissed banner comes back when its cause occurs in the next run of the pump.
        banners.filter(has_text="skin was warmer").get_by_role("button", name="dismiss").click()
        expect(banners).to_have_count(1)
        self.open(page, "#/")
        self.bench.control("pump", "temperature", "skin", "34.5")
        page.get_by_role("button", name="OFF", exact=True).click()
        expect(page.locator(".card [data-key=state] .value").first).to_have_text("off")
        self.open(page, "#/device/pump")
        on.click()
        expect(state).to_have_text("on")
        self.bench.control("pump", "temperature", "skin", "41")
        expect(banners.filter(has_text="skin was warmer")).to_be_visible()
        expect(page.locator("#alarms")).to_contain_text("pump: ")
        self.bench.control("pump", "temperature", "skin", "34.5")
        off.click()
        expect(state).to_have_text("off")

        self.bench.control("pump", "probe", "skin", "open")
        page.get_by_role("button", name="temp", exact=True).click()
        expect(banners).to_contain_text(["skin: sensor fault; overheating may go unnoticed"])
        self.bench.control("pump", "probe", "skin", "sound")
        page.get_by_role("button", name="temp", exact=True).click()
        expect(banners).to_have_count(0)

        # A screen begins at its top: no button comes to stand where a link was pressed.
        page.evaluate("scrollTo(0, 1000)")
        page.wait_for_function("scrollY > 100")
        self.open(page, "#/device/lamp")
        page.wait_for_function("scrollY === 0")
        context.close()

    def tabs(self) -> None:
        """Twelve tabs of a browser, and two other browsers: each browser has one stream."""
        contexts = [self.browser.new_context() for _ in range(3)]
        firsts = [self.log_in(context) for context in contexts]
        # Only one tab at a time reads the record of messages. The first tab holds the lock, so the second one waits.
        expect(firsts[0].locator("#calls")).to_have_text(re.compile("^SOS(?!.*reading)"))
        firsts[0].evaluate("""() => new Promise((begin) => {
          navigator.locks.request("pumpctl-messages", () => new Promise((end) => begin(window.end = end)));
        })""")
        others, reads = [self.new_page(contexts[0])], []
        others[0].on("request", lambda request: reads.append(request.url) if "/messages?" in request.url else None)
        self.requests.clear()
        others[0].goto(self.bench.address)
        others[0].wait_for_function("() => navigator.locks.query().then((all) => all.pending.some((one) => one.name === 'pumpctl-messages'))")
        if reads:
            self.flaws.append("two tabs read the record at once")
        firsts[0].evaluate("window.end()")
        rig.wait(lambda: self.pump(others) and reads, "another tab's reading of the record")
        for _ in range(10):
            page = self.new_page(contexts[0])
            page.goto(self.bench.address)
            expect(page.locator("#connection")).to_have_text("connected")
            others.append(page)
        streams = [url for url in self.requests if url.endswith("/events")]
        if streams:
            self.flaws.append(f"{len(streams)} more streams for eleven more tabs")
        # If the tab with the stream is closed, another tab opens one.
        firsts[0].close()
        others[0].wait_for_timeout(0)
        rig.wait(lambda: self.pump(others) and any(url.endswith("/events") for url in self.requests), "another tab's stream")
        everybody = others + firsts[1:]
        for page in everybody:
            self.open(page, "#/device/pump")
            expect(page.locator("[data-key=state] .value")).to_have_text("off")
        others[0].get_by_role("button", name="on", exact=True).click()
        for page in everybody:
            expect(page.locator("[data-key=state] .value")).to_have_text("on")
        others[-1].locator("button.off").click()
        for page in everybody:
            expect(page.locator("[data-key=state] .value")).to_have_text("off")
        for context in contexts:
            context.close()

    def pump(self, pages) -> bool:
        """Have Playwright handle the browser's messages, such as requests. Returns True, for use in a condition."""
        pages[0].evaluate("1")
        return True

    def keyboard(self) -> None:
        """Everything can be reached and used by keyboard, and the focused element is visible and marked."""
        context = self.browser.new_context(viewport={"width": 360, "height": 780})
        page = self.log_in(context)
        look = """() => {
          const one = document.activeElement;
          const box = one.getBoundingClientRect();
          if (one === document.body || one.id === "title") return "no focus";
          if (getComputedStyle(one).outlineStyle === "none") return "no mark";
          const top = document.elementFromPoint(box.x + box.width / 2, box.y + Math.min(box.height, 20) / 2);
          return one.contains(top) ? "" : "hidden";
        }"""
        # Wait until the list is complete. It is not rendered again after that.
        expect(page.locator("h2 small")).to_have_text(["a pump", "an LED board", "a text and image peer", "a phone with the rescue app", "a storm sensor"])
        for screen in SCREENS:
            self.open(page, screen)
            expect(page.locator("main :is(h1, h2)").first).to_be_visible()
            if screen.startswith("#/device"):
                expect(page.locator(".link")).to_have_text("connected")
            count = page.evaluate("""() => {
              document.activeElement.blur();
              getSelection().removeAllRanges();
              return [...document.querySelectorAll("a, button, input, select, summary, [tabindex='0']")]
                .filter((one) => !one.disabled && one.checkVisibility()).length;
            }""")
            page.locator("#title").focus()
            reached = 1
            while reached < count:
                page.keyboard.press("Tab")
                problem, end = "hidden", time.monotonic() + rig.PATIENCE
                # Something that has just arrived may be above the element until the next frame.
                while problem == "hidden" and time.monotonic() < end:
                    problem = page.evaluate(look)
                reached += 1
                if problem:
                    html = page.evaluate("document.activeElement.outerHTML.slice(0, 100)")
                    self.flaws.append(f"{screen}: element {reached} of {count} by the keyboard: {problem}: {html}")
        self.open(page, "#/device/pump")
        state = page.locator("[data-key=state] .value")
        page.get_by_role("button", name="on", exact=True).press("Enter")
        expect(state).to_have_text("on")
        slider = page.locator("input[type=range]")
        page.get_by_role("button", name="status", exact=True).press("Space")
        expect(page.locator("[data-key=speed_percent] .value")).to_have_text("70 %")
        slider.press("End")
        expect(page.locator("[data-key=speed_percent] .value")).to_have_text("100 %")
        page.locator("button.off").press("Space")
        expect(state).to_have_text("off")
        page.locator("summary", has_text="Lines").press("Enter")
        expect(page.locator(".lines")).to_be_visible()
        context.close()

    def views(self) -> None:
        """The screens are usable with large text, with the system's colours, on paper, and on a wide screen."""
        for name, size, options in (
            ("large", (360, 780), {}), ("forced", (360, 780), {"forced_colors": "active"}), ("wide", (2560, 1440), {}),
        ):
            context = self.browser.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce", **options)
            page = self.log_in(context)
            if name == "large":
                page.evaluate("document.documentElement.style.fontSize = '200%'")
            for screen in ("#/", "#/device/pump", "#/device/phone", "#/about"):
                self.open(page, screen)
                self.is_there(page, screen)
                # The advice of a failed OFF is not cut off.
                for box in page.locator(".stop .outcome:visible").all():
                    is_cut = box.evaluate("""box => {
                      const former = box.textContent;
                      box.textContent = "NOT CONFIRMED at 10:04:29: if it runs, press the button on its lid, or pull the plug.";
                      const isCut = box.scrollHeight > box.clientHeight + 1;
                      box.textContent = former;
                      return isCut;
                    }""")
                    if is_cut:
                        self.flaws.append(f"{name} {screen}: the advice of a failed OFF is cut off")
                self.looks(page, f"{name}-{screen.strip('#/').replace('/', '-') or 'list'}")
                if screen == "#/device/pump":
                    expect(page.locator("button.off")).to_be_in_viewport(ratio=1)
            context.close()
        context = self.browser.new_context(viewport={"width": 800, "height": 1100})
        page = self.log_in(context)
        self.open(page, "#/device/pump")
        page.emulate_media(media="print")
        expect(page.locator("button.off")).to_be_hidden()
        expect(page.locator("[data-key=state] .value")).to_be_visible()
        expect(page.locator(".printed")).to_contain_text("as shown at")
        self.looks(page, "paper-pump")
        context.close()

    def attention(self) -> None:
        """Notifications, the wake lock, and the service worker that keeps the page's files work."""
        context = self.browser.new_context(permissions=["notifications"])
        page = self.log_in(context)
        page.evaluate("""() => {
          window.locks = 0;
          navigator.wakeLock.request = async () => {
            window.locks += 1;
            return { released: false, release() { window.locks -= 1; } };
          };
        }""")
        page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
        self.open(page, "#/about")
        expect(page.locator("main")).to_contain_text("Notifications tell of a stop for safety")
        self.open(page, "#/device/pump")
        state, on, off = (page.locator("[data-key=state] .value"), page.get_by_role("button", name="on", exact=True),
                          page.locator("button.off"))
        on.click()
        expect(state).to_have_text("on")
        page.wait_for_function("() => window.locks === 1")
        self.bench.control("pump", "temperature", "skin", "41")
        expect(state).to_have_text("error")
        page.wait_for_function("() => window.locks === 0")
        notices = """() => navigator.serviceWorker.getRegistration().then((one) => one.getNotifications())
          .then((all) => all.map((one) => `${one.title}: ${one.body}`))"""
        told = rig.wait(lambda: page.evaluate(notices), "a notification")
        if told != ["pump: The pump was stopped: the skin was warmer than 40.0 °C or too cold, or a thermistor is broken."]:
            self.flaws.append(f"notifications: {told}")
        self.bench.control("pump", "temperature", "skin", "34.5")
        off.click()
        expect(state).to_have_text("off")
        kept = page.evaluate("""async () => {
          const names = await caches.keys();
          const files = (await Promise.all(names.map((name) => caches.open(name).then((one) => one.keys())))).flat();
          return [names.length, ...files.map((one) => new URL(one.url).pathname)];
        }""")
        if kept[0] != 1 or "/" not in kept or any(path != "/" and not path.startswith("/page/") for path in kept[1:]):
            self.flaws.append(f"the worker keeps {kept}")
        # The page opens while the server is away.
        page.reload()
        expect(page.locator("#connection")).to_have_text("connected")
        port = self.bench.port
        self.bench.end("page")
        page.reload()
        expect(page.locator("#connection")).to_contain_text("the server does not answer")
        expect(page.locator("main")).to_have_text(re.compile("can't switch a pump off now: if it runs, press the button"))
        self.bench.start_page(str(port), *self.options)
        expect(page.locator("#connection")).to_have_text("connected")
        context.close()

    def failures(self) -> None:
        """A lost server, daemon, device or session is shown, no old state is, and OFF stays possible."""
        context = self.browser.new_context(viewport={"width": 360, "height": 780})
        page = self.log_in(context)
        self.open(page, "#/device/pump")
        state, on, off = (page.locator("[data-key=state] .value"), page.get_by_role("button", name="on", exact=True),
                          page.locator("button.off"))
        connection, was = page.locator("#connection"), page.locator("[data-key=state] s")
        expect(on).to_be_enabled()
        tops = "() => ['main', 'article > dl'].map((one) => document.querySelector(one).getBoundingClientRect().top + scrollY)"
        before = page.evaluate(tops)

        # The server does not answer.
        self.bench.processes["page"].send_signal(signal.SIGSTOP)
        expect(connection).to_contain_text("not connected since")
        expect(on).to_be_disabled()
        expect(off).to_be_enabled()
        expect(state).to_have_text("unknown")
        expect(was).to_have_text("off")
        self.looks(page, "phone-not-connected")
        if (after := page.evaluate(tops)) != before:
            self.flaws.append(f"a lost connection moves the screen from {before} to {after}")
        self.bench.processes["page"].send_signal(signal.SIGCONT)
        expect(connection).to_have_text("connected")
        expect(state).to_have_text("off")

        # The daemon is away.
        self.bench.end("daemon", signal.SIGKILL)
        expect(connection).to_contain_text("pumpctld is away")
        expect(on).to_be_disabled()
        expect(state).to_have_text("unknown")
        off.click()
        expect(page.locator(".stop .outcome")).to_have_attribute("data-state", re.compile("failed|unknown"))
        expect(page.locator(".stop .outcome")).to_have_text(re.compile(r"^NOT CONFIRMED at \d\d:\d\d:\d\d: if it runs, press the button on its lid"))
        self.looks(page, "phone-daemon-away")
        if (after := page.evaluate(tops)) != before:
            self.flaws.append(f"pumpctld's end moves the screen from {before} to {after}")
        # A page that is opened while pumpctld is away offers OFF, and does not say that there is no device.
        other = self.browser.new_context()
        second = self.new_page(other)
        second.goto(f"{self.bench.address.rstrip('/')}/#{self.bench.code()}")
        expect(second.locator("#connection")).to_contain_text("pumpctld is away")
        expect(second.locator("main")).to_contain_text("Waiting for the list of devices")
        self.open(second, "#/device/pump")
        expect(second.locator("main")).to_contain_text("Waiting for the list of devices")
        expect(second.locator("button.off")).to_be_enabled()
        other.close()
        # The failure is over when the pump is known to be off.
        self.bench.start_daemon()
        expect(state).to_have_text("off")
        page.get_by_role("button", name="status", exact=True).click()
        expect(page.locator(".stop .outcome")).to_have_text("")
        self.bench.end("daemon", signal.SIGKILL)
        expect(connection).to_contain_text("pumpctld is away")
        # OFF is repeated until it is confirmed.
        off.click()
        expect(page.locator(".stop .outcome")).to_contain_text("NOT CONFIRMED YET")
        self.bench.start_daemon()
        expect(page.locator(".stop .outcome")).to_contain_text("confirmed by pump")
        expect(connection).to_have_text("connected")
        expect(state).to_have_text("off")

        # The device is away.
        self.bench.end("sim-pump")
        expect(page.locator(".link")).to_contain_text("not connected")
        expect(state).to_have_text("unknown")
        expect(was).to_have_text("off")
        expect(on).to_be_disabled()
        self.looks(page, "phone-device-away")

        # The session has ended.
        self.open(page, "#/about")
        page.get_by_role("button", name="log out").click()
        expect(page.locator("h1")).to_have_text("Log in")
        expect(page.locator("main")).to_contain_text("This page can't switch a pump off now")
        self.looks(page, "phone-log-in")
        # A new code in the address logs the same page in again.
        page.evaluate("code => { location.hash = code }", self.bench.code())
        expect(connection).to_have_text("connected")
        context.close()

    def lateness(self) -> None:
        """A page that was offline or asleep sends no command late."""
        context = self.browser.new_context()
        page = self.log_in(context)
        browser = context.new_cdp_session(page)
        self.open(page, "#/device/pump")
        state, on = page.locator("[data-key=state] .value"), page.get_by_role("button", name="on", exact=True)
        outcome = page.locator("form", has=on).locator(".outcome")
        expect(on).to_be_enabled()
        offline = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        browser.send("Network.emulateNetworkConditions", {"offline": True, **offline})
        on.click()
        expect(outcome).to_have_text(re.compile("unknown: a pump may be on"))
        browser.send("Network.emulateNetworkConditions", {"offline": False, **offline})
        expect(page.locator("#connection")).to_have_text("connected")
        expect(on).to_be_enabled()
        expect(state).to_have_text("off")

        # As after a sleep: the page was blocked for 11 s, so the pressed button belongs to a state that is 11 s old. A
        # command on a state that is older than 10 s is not sent.
        page.evaluate("""() => {
          const end = Date.now() + 11_000;
          while (Date.now() < end);
          [...document.querySelectorAll("form button")].find((one) => one.textContent === "on").click();
        }""")
        expect(outcome).to_have_text(re.compile("not sent: what was shown is older"))
        expect(page.locator("#connection")).to_have_text("connected")
        expect(state).to_have_text("off")
        context.close()

    def past(self) -> None:
        """The record of a device, and captures, are shown on a time axis."""
        context = self.browser.new_context(viewport={"width": 360, "height": 780})
        page = self.log_in(context)
        self.open(page, "#/device/pump")
        page.get_by_role("button", name="on", exact=True).click()
        self.bench.control("pump", "temperature", "skin", "41")
        expect(page.locator("[data-key=state] .value")).to_have_text("error")
        self.bench.control("pump", "temperature", "skin", "34.5")
        page.locator("button.off").click()
        expect(page.locator("[data-key=state] .value")).to_have_text("off")
        page.get_by_role("button", name="on", exact=True).click()
        expect(page.locator("[data-key=state] .value")).to_have_text("on")
        page.get_by_role("button", name="status", exact=True).click()
        expect(page.locator("[data-key=speed_percent] .value")).to_have_text(re.compile(r"\d %"))
        page.locator("button.off").click()
        expect(page.locator(".stop .outcome")).to_contain_text("confirmed by pump")
        self.bench.control("pump", "press")
        expect(page.locator(".last")).to_contain_text("by hand")
        page.locator("button.off").click()
        expect(page.locator("[data-key=state] .value")).to_have_text("off")
        self.open(page, "#/past")
        outcome, slider, play = page.locator(".outcome"), page.locator("#past-time"), page.get_by_role("button", name="play")

        def move(end: str) -> None:
            page.evaluate("""end => {
              const slider = document.getElementById("past-time");
              slider.value = slider[end];
              slider.dispatchEvent(new Event("input"));
            }""", end)

        page.locator("#past-device").select_option("pump")
        lines = page.locator(".past .lines li")
        # Values and commands, with their senders, are in the record once the recorder has written them.
        by_page = r"by page session \w+ \(pid \d+ of user \d+\): done$"
        shown = [re.compile(f" on {by_page}"), re.compile(f" off {by_page}"), re.compile(r" (on|off) by hand$"), re.compile(f" off {by_page}")]
        deadline = time.monotonic() + rig.PATIENCE
        while not (lines.count() >= 4 and re.search("off by page", lines.last.text_content())) and time.monotonic() < deadline:
            page.get_by_role("button", name="show").click()
            expect(outcome).not_to_have_text("reading …")
            if slider.count():
                move("max")
        expect(outcome).to_contain_text("the record of pump, ")
        said = lines.all_inner_texts()[-4:]
        expect(lines.filter(has_text="pump: error: The pump was stopped: the skin was warmer than 40.0 °C")).not_to_have_count(0)
        if len(said) < 4 or not all(text.search(line) for line, text in zip(said, shown)):
            self.flaws.append(f"the record says of those who have commanded: {said}")
        expect(page.locator("[data-key=state] .value")).to_have_text(re.compile("^(on|off)$"))
        expect(page.locator("[data-key=speed_percent] .value")).to_have_text("–")
        expect(page.locator("figcaption")).to_have_text(re.compile(r"^speed: [\d %to]+ water: [^:]* skin: "))
        if len({path.get_attribute("d").split()[1].split("L")[0] for path in page.locator(".plot .line").all()}) < 2:
            self.flaws.append("lines of the past lie on each other")
        self.looks(page, "phone-past-record")
        page.set_viewport_size({"width": 1440, "height": 900})
        self.looks(page, "desk-past-record")
        page.set_viewport_size({"width": 360, "height": 780})
        # A capture whose last line is incomplete, and with a text that looks like markup.
        capture = self.bench.folder / "captures/pump.capture"
        subprocess.run([self.bench.programs / "pumpctl", "--port", "sim:pump", "--capture", capture, "status"],
                       env=self.bench.environment, check=True, capture_output=True)
        text = capture.read_text() + \
            '{"time_s":9,"link":1,"event":"received","text":"x","lines":["<img src=x onerror=document.title=1>"]}\n{"time_s":9.5,'
        capture.write_text(text)
        before = len(self.requests)
        page.locator("#past-file").set_input_files(capture)
        expect(outcome).to_contain_text("the capture pump.capture, ")
        expect(outcome).to_contain_text("The last line is cut")
        move("max")
        expect(lines.filter(has_text="> STATUS")).to_have_count(1)
        expect(lines.filter(has_text="< STATUS:")).to_have_count(1)
        expect(lines.last).to_contain_text("< <img")
        self.looks(page, "phone-past-capture")
        # The capture's nine seconds are played, from its beginning.
        move("min")
        expect(lines.filter(has_text="<img")).to_have_count(0)
        page.get_by_role("combobox", name="Speed").select_option("10")
        play.click()
        expect(lines.last).to_contain_text("< <img")
        expect(page.locator(".player button")).to_have_text("play")
        page.set_viewport_size({"width": 1440, "height": 900})
        # The playing of a capture of an hour ends when the next capture is opened.
        page.evaluate("""() => {
          window.timers = new Set();
          const [begin, end] = [setInterval, clearInterval];
          window.setInterval = (...given) => {
            const timer = begin(...given);
            window.timers.add(timer);
            return timer;
          };
          window.clearInterval = (timer) => {
            window.timers.delete(timer);
            end(timer);
          };
        }""")
        page.locator("#past-file").set_input_files(
            {"name": "hour.capture", "mimeType": "", "buffer": text.replace('"time_s":9,', '"time_s":3600,').encode()})
        expect(outcome).to_contain_text("the capture hour.capture, ")
        play.click()
        page.wait_for_function("() => window.timers.size === 1")
        # Another capture is dropped onto the page, and is shown at its first mark.
        page.evaluate("""text => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([text], "dropped.capture"));
          document.getElementById("head").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }""", text)
        expect(outcome).to_contain_text("the capture dropped.capture, ")
        expect(lines.filter(has_text="is open")).to_have_count(1)
        expect(lines.filter(has_text="< STATUS:")).to_have_count(0)
        page.wait_for_function("() => window.timers.size === 0")
        self.looks(page, "desk-past-capture")
        # The capture is still there after a visit of another screen, and its title is also printed.
        self.open(page, "#/about")
        expect(page.locator("#printed")).to_contain_text("The state as shown at")
        self.open(page, "#/past")
        expect(outcome).to_contain_text("the capture dropped.capture, ")
        expect(page.locator("#printed")).to_have_text(re.compile("^The past: the capture dropped.capture, as it was at 20"))
        page.locator("#past-file").set_input_files(pathlib.Path(__file__))
        expect(outcome).to_have_text("nothing to show: Line 1 is not JSON.")
        expect(slider).to_have_count(0)
        if sent := [url for url in self.requests[before:] if "/api/" in url and not url.endswith("/captures")]:
            self.flaws.append(f"reading captures sent {sent}")
        # Captures of the server can be chosen.
        self.open(page, "#/")
        self.open(page, "#/past")
        page.get_by_label("Capture of the server").select_option("pump.capture")
        page.get_by_role("button", name="open").click()
        expect(outcome).to_contain_text("the capture pump.capture, ")
        self.looks(page, "desk-past-kept")
        page.set_viewport_size({"width": 360, "height": 780})
        self.looks(page, "phone-past-kept")
        # A record that arrives after a capture was chosen is not shown.
        held = []
        page.route("**/history*", lambda route: held.append(route))
        page.get_by_role("button", name="show").click()
        page.locator("#past-file").set_input_files(capture)
        expect(outcome).to_contain_text("the capture pump.capture, ")
        page.evaluate("""() => {
          const read = Response.prototype.json;
          Response.prototype.json = async function () {
            const json = await read.call(this);
            setTimeout(() => { window.isRead = true; });
            return json;
          };
        }""")
        held[0].fulfill(json={"rows": [{"time": "2026-01-01T00:00:00Z", "state": "on"}], "complete": True})
        page.wait_for_function("() => window.isRead")
        expect(outcome).to_contain_text("the capture pump.capture, ")
        # A sensor that is broken, and a record without values.
        page.unroute("**/history*")
        begin = "2026-01-01T00:00:00Z"
        records = [{"rows": [{"time": begin, "state": "on", "skin_temp_c": None}], "events": []},
                   {"rows": [], "events": [{"time": begin, "event": "lost"}]}]
        page.route("**/history*", lambda route: route.fulfill(json={"complete": True, "events_complete": True, **records.pop()}))
        show = page.get_by_role("button", name="show")
        show.click()
        expect(page.locator("figcaption")).to_have_text("marks: above the commands, below errors and events")
        show.click()
        expect(page.locator("dl .value")).to_have_text(["on", "sensor fault"])
        # Behind a lost link nothing is known.
        lost = {"time": "2026-01-01T00:00:01Z", "event": "disconnected", "text": "the device is gone"}
        records.append({"rows": [{"time": begin, "state": "on"}], "events": [lost]})
        show.click()
        expect(page.locator("dl .value")).to_have_text(["on"])
        move("max")
        expect(page.locator("dl .value")).to_have_text(["unknown"])
        context.close()

    def presses(self) -> None:
        """OFF can be pressed again while earlier presses have no answer."""
        context = self.browser.new_context()
        page = self.log_in(context)
        self.open(page, "#/device/pump")
        state, on, off = (page.locator("[data-key=state] .value"), page.get_by_role("button", name="on", exact=True),
                          page.locator("button.off"))
        outcome, held, ended = page.locator(".stop .outcome"), [], []
        expect(on).to_be_enabled()
        # Two presses whose requests are held back, ON, and a third press, which does not share an answer of the others.
        page.on("requestfailed", lambda request: ended.append(request.url) if request.url.endswith("/stop") else None)
        page.route("**/stop", lambda route: held.append(route), times=2)
        off.click()
        off.click()
        on.click()
        expect(state).to_have_text("on")
        off.click()
        expect(outcome).to_contain_text("confirmed by pump")
        expect(state).to_have_text("off")
        for route in held:
            route.fulfill(status=200, json={})
        # A browser opens six connections to a server at most. Presses on a pump that hangs must leave some for the
        # other devices, so only the first and the last press stay in flight.
        self.bench.processes["sim-pump"].send_signal(signal.SIGSTOP)
        for _ in range(8):
            off.click()
        deadline = time.monotonic() + rig.PATIENCE
        while len(ended) < 6 and time.monotonic() < deadline:
            page.wait_for_timeout(20)
        if len(ended) != 6:
            self.flaws.append(f"{len(ended)} of 8 stops were ended by a later one")
        self.bench.processes["sim-pump"].send_signal(signal.SIGCONT)
        expect(outcome).to_contain_text("confirmed by pump", timeout=15_000)
        context.close()

    def hostile(self) -> None:
        """Text of a device is shown as text, whatever it contains."""
        texts = ["<img src=x onerror=document.title='hacked'>", "<script>document.title='hacked'</script>", "a\u202eb", "a\x1b[2Jb"]
        master, slave = pty.openpty()
        tty.setraw(slave)
        with open(self.bench.folder / "pumpctld.toml", "a") as file:
            file.write(f'[device.other]\nendpoint = "{os.ttyname(slave)}"\nfamily = "raw"\n')
        self.bench.families["other"] = "raw"
        self.bench.end("daemon")
        self.bench.start_daemon()
        context = self.browser.new_context()
        page = self.log_in(context)
        answers: list[int] = []
        page.on("response", lambda one: answers.append(one.status) if "/devices/other/simulator" in one.url else None)
        self.open(page, "#/device/other")
        page.locator("summary", has_text="Lines").click()
        os.write(master, "".join(f"{text}\n" for text in texts).encode())
        lines = page.locator(".lines li")
        expect(lines).to_have_count(len(texts))
        for text, line in zip(reversed(texts), lines.all_inner_texts()):
            if not line.endswith(text) if text.startswith("<") else re.search("[\x1b\u202e]", line):
                self.flaws.append(f"{text!r} is shown as {line!r}")
        if page.locator("main :is(img, script)").count() or "hacked" in page.title():
            self.flaws.append("text of a device became markup")
        # The device's port is a pseudo-terminal like those of simulated devices, but no simulator is behind it.
        # After a change of the link, the page asks for the simulator three times, once a second.
        rig.wait(lambda: self.pump([page]) and len(answers) >= 3, "three questions for a simulator")
        if set(answers) != {404}:
            self.flaws.append(f"a device that is not simulated has a simulator: {answers}")
        expect(page.locator(".bench")).to_be_hidden()
        self.looks(page, "desk-hostile")
        context.close()

    def simulated(self) -> None:
        """The verbs of a simulated device can be performed by keyboard, and show their outcomes."""
        for size in SIZES.values():
            context = self.browser.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
            page = self.log_in(context)
            self.open(page, "#/device/pump")
            bench, state = page.locator(".bench"), page.locator("[data-key=state] .value")
            off = page.locator("button.off")
            expect(bench).to_be_visible()
            expect(bench).to_contain_text("This is a simulated device.")
            expect(off).to_be_in_viewport(ratio=1)
            self.looks(page, f"bench-{size[0]}")
            if size != SIZES["phone"]:
                context.close()
                continue

            def form(name: str):
                return bench.locator("form", has=page.get_by_role("button", name=name, exact=True))

            def act(name: str, *values: str) -> None:
                """Fill in the fields of a verb, and perform it, by keyboard alone."""
                for field, value in zip(form(name).locator("input, select").all(), values):
                    field.focus()
                    if field.evaluate("one => one.tagName") == "INPUT":
                        page.keyboard.press("Control+A")
                    page.keyboard.type(value)
                page.get_by_role("button", name=name, exact=True).focus()
                outcome = form(name).locator(".outcome")
                # Clear the previous outcome, which may have the same text within a second.
                outcome.evaluate("one => { one.textContent = '' }")
                page.keyboard.press("Enter")
                expect(outcome).to_contain_text("done at")

            expect(state).to_have_text("off")
            act("press")
            expect(state).to_have_text("on")
            expect(page.locator(".last")).to_contain_text("by hand at")
            act("advance", "25m")
            page.get_by_role("button", name="status", exact=True).press("Enter")
            expect(page.locator("[data-key=runtime_min] .value")).to_have_text("25 min")
            act("turn", "1")
            page.get_by_role("button", name="status", exact=True).press("Enter")
            expect(page.locator("[data-key=speed_percent] .value")).to_have_text("100 %")
            act("temperature", "skin", "41")
            expect(state).to_have_text("error")
            expect(page.locator(".banner").filter(has_text="skin was warmer")).to_be_visible()
            act("temperature", "skin", "34.5")
            act("fault", "twice@always")
            expect(bench).to_contain_text("faults: twice@always")
            self.looks(page, "bench-fault")
            page.get_by_role("button", name="temp", exact=True).press("Enter")
            act("fault", "none")
            expect(bench).not_to_contain_text("faults:")
            act("set knob", "512")
            # The simulator does not answer.
            expect(bench).to_contain_text("knob: 0.5")
            page.route("**/simulator", lambda route: route.fulfill(status=504, json={"code": "no_answer", "detail": "the simulator is silent"}))
            expect(bench).to_contain_text("The simulator's state is unknown: the simulator is silent")
            expect(bench).not_to_contain_text("knob: 0.5")
            page.unroute("**/simulator")
            expect(bench).to_contain_text("knob: 0.5")
            # An argument that the simulator refuses.
            field = form("advance").locator("input")
            field.fill("soon")
            field.press("Enter")
            expect(form("advance").locator(".outcome")).to_contain_text("not sent: ")
            off.press("Enter")
            expect(state).to_have_text("off")
            # Another device has verbs of its own.
            self.open(page, "#/device/lamp")
            expect(page.locator("[data-key=led] .value")).to_be_visible()
            expect(bench.get_by_role("button", name="light", exact=True)).to_be_enabled()
            expect(bench.get_by_role("button", name="press", exact=True)).to_have_count(0)
            # A session that may only look.
            looking = self.browser.new_context()
            only = self.log_in(looking, "--see")
            self.open(only, "#/device/pump")
            expect(only.locator(".bench button").first).to_be_disabled()
            looking.close()
            # The bench disappears when the simulator ends, and comes back with the next simulator.
            self.open(page, "#/device/storm")
            expect(bench).to_be_visible()
            self.bench.end("sim-storm")
            expect(page.locator(".link")).to_contain_text("not connected")
            expect(bench).to_be_hidden()
            self.bench.start_devices()
            expect(page.locator(".link")).to_have_text("connected")
            expect(bench).to_be_visible()
            context.close()

    def rescue(self) -> None:
        """Messages of a simulated phone, and of one whose line this check reads and writes, are shown and sent."""
        master = self.wire()
        kept = self.run("rescue", "send", "--later", "--category", "Shelter", "--at", "-33.5,-70.25", "kept <b>before</b>").split()[1]
        rig.wait(lambda: '"sent":5' in self.run("sim", "ctl", "--json", str(self.bench.folder / "phone.control"), "state"),
                 "the messages that the simulated phone has from the start")
        for size, (width, height) in SIZES.items():
            context = self.browser.new_context(
                viewport={"width": width, "height": height}, permissions=["geolocation"], reduced_motion="reduce",
                geolocation={"latitude": -12.25, "longitude": 130.5})
            page = self.log_in(context)
            page.evaluate(ALARMS)
            self.messages(page, size, master, kept)
            self.writing(page, size, master)
            context.close()

    def calls(self) -> None:
        """Calls for help that were recorded while pumpctld or the page was away are shown until they are dismissed."""
        master = self.wire()
        for index, (size, (width, height)) in enumerate(SIZES.items()):
            context = self.browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
            page = self.log_in(context)
            page.add_init_script(f"addEventListener('DOMContentLoaded', {ALARMS})")
            calls, dismiss = page.locator("#calls"), page.locator("#calls").get_by_role("button", name="dismiss")
            # The simulated phone sends its own messages whenever its port is opened.
            rows = page.locator(".messages button").filter(has_text=re.compile(rf"(text \d|heard before) {size}"))
            if index:
                # Another browser shows the calls in the record, also those that were dismissed in the first one.
                expect(calls).to_contain_text("SOS in the record: ")
                while dismiss.is_visible():
                    before = calls.inner_text()
                    dismiss.press("Enter")
                    expect(calls).not_to_have_text(before)
            expect(calls).to_have_text("SOS: none known.show dismiss")

            def tops() -> list[float]:
                """Return the position of the screen's top edge, with large text and with normal text."""
                return [page.evaluate("""size => {
                  document.documentElement.style.fontSize = size;
                  return document.querySelector("main").getBoundingClientRect().top + scrollY;
                }""", size) for size in ("200%", "")]

            before = tops()

            def store(number: int, category: str = "SOS") -> None:
                self.run("rescue", "send", "--later", "--category", category, "--at", f"{number},{10 + index}", f"text {number} {size}")

            def words(number: int, begin: str = "SOS in the record") -> str:
                return f"{begin}: someone needs help at {number}.00000° N, {10 + index}.00000° E"

            # pumpctld is away while calls are recorded. The newest message is no call.
            self.say(master, size, 70, f"heard before {size}", "Other", 8, 10 + index)
            self.open(page, "#/device/phone")
            expect(rows.first).to_contain_text("heard before")
            page.evaluate(ALARMS)
            self.bench.end("daemon")
            expect(calls).to_have_text("SOS: not known now, because a phone is not connected.show dismiss")
            store(1), store(2), store(3, "Shelter")
            self.bench.start_daemon()
            expect(calls).to_contain_text(re.compile(re.escape(words(2)) + r", written (just now|.* ago); 1 more"))
            page.wait_for_function("text => window.alarms.includes(text)", arg=f"{words(2)}; 1 more")
            expect(rows).to_contain_text([f"text 3 {size}", f"text 2 {size}", f"text 1 {size}", "heard before"])
            for screen in SCREENS:
                self.open(page, screen)
                expect(page.locator("main :is(h1, h2)").first).to_be_visible()
                expect(calls).to_contain_text(words(2))
            self.open(page, "#/")
            self.looks(page, f"{size}-calls-list")
            if (after := tops()) != before:
                self.flaws.append(f"{size}: a call for help moves the list from {before} to {after}")

            # A reloaded page announces the calls again. Their place is reserved before the families are known.
            paths = re.compile("/families$|/messages[?]")
            page.route(paths, lambda route: None)
            page.reload()
            expect(calls).to_have_text(re.compile("^SOS: .* record"))
            # Let the held requests through.
            page.unroute(paths)
            page.wait_for_function("text => window.alarms.includes(text)", arg=f"{words(2)}; 1 more")
            expect(calls).to_contain_text(words(2))
            self.open(page, "#/device/phone")
            expect(rows).to_contain_text([f"text 3 {size}", f"text 2 {size}", f"text 1 {size}"])

            # A call that comes between the rendering and the click stays.
            page.evaluate("""() => {
              window.frames_ = [];
              window.requestAnimationFrame_ = window.requestAnimationFrame;
              window.requestAnimationFrame = (work) => window.frames_.push(work);
            }""")
            self.say(master, size, 71, "the third", "SOS", 4, 10 + index)
            page.wait_for_function("text => window.alarms.includes(text)", arg=f"{words(4, 'SOS received')}; 2 more")
            dismiss.evaluate("one => one.click()")
            page.evaluate("""() => {
              window.requestAnimationFrame = window.requestAnimationFrame_;
              for (const work of window.frames_) work();
            }""")
            expect(calls).to_contain_text(re.compile(re.escape(words(4, "SOS received")) + r", at \d\d:\d\d:\d\d; 1 more"))
            calls.get_by_role("button", name="show").press("Enter")
            expect(page.locator(".message")).to_contain_text("the third")
            dismiss.press("Enter")
            expect(calls).to_contain_text(words(1))
            expect(calls).not_to_contain_text("more")

            # A call that is recorded while the page is closed. Dismissed calls do not come back.
            page.goto("about:blank")
            store(5)
            page.goto(f"{self.bench.address.rstrip('/')}/#/device/pump")
            expect(calls).to_contain_text(re.compile(re.escape(words(5)) + ".*; 1 more"))
            expect(page.locator("button.off")).to_be_in_viewport(ratio=1)
            self.looks(page, f"{size}-calls-pump")
            # The button `show` leads to the call on the phone's screen.
            calls.get_by_role("button", name="show").press("Enter")
            expect(page.locator(".message")).to_contain_text(f"text 5 {size}")
            # A press that does not become a click has no effect later.
            page.evaluate("""() => {
              for (const kind of ["pointerdown", "pointerup"]) {
                document.querySelector("#calls button:last-child").dispatchEvent(new PointerEvent(kind, { bubbles: true }));
              }
              setTimeout(() => { window.isUp = true; }, 500);
            }""")
            page.wait_for_function("() => window.isUp")
            self.say(master, size, 72, "the fourth", "SOS", 6, 10 + index)
            expect(calls).to_contain_text(words(6, "SOS received"))
            dismiss.evaluate("one => one.click()")
            for text in (words(5), words(1)):
                expect(calls).to_contain_text(text)
                dismiss.press("Enter")
            expect(calls).to_contain_text("SOS: none known.")
            # A call that is in no record is not forgotten by a reload.
            self.say(master, size, 73, "the fifth", "SOS", 7, 10 + index)
            expect(calls).to_contain_text(words(7, "SOS received"))
            page.reload()
            expect(calls).to_contain_text(words(7, "SOS received"))
            dismiss.press("Enter")
            expect(calls).to_contain_text("SOS: none known.")
            page.reload()
            expect(calls).to_have_text("SOS: none known.show dismiss")
            if alarms := page.evaluate("window.alarms"):
                self.flaws.append(f"after dismissing all calls: {alarms}")

            # After a phone was away, the record is read again. This time it has more messages than the page reads.
            records = []
            page.route("**/messages*", lambda route: records.append(route))
            page.evaluate("""async () => {
              const { bench } = await import(document.querySelector("script").src.replace("main.js", "bench.js"));
              new BroadcastChannel("pumpctl-stream").postMessage({ number: `${BigInt(bench.number) + 1n}`, kind: "link",
                data: { device: "phone", link: "up", time: new Date(bench.heard).toISOString() } });
            }""")
            expect(calls).to_have_text("SOS: reading the record …show dismiss")
            rig.wait(lambda: self.pump([page]) and records, "another reading of the record")
            records.pop().fulfill(json={"messages": [], "complete": False})
            expect(calls).to_contain_text("SOS: none among the newest messages; older ones were not read.")
            context.close()

    def wire(self) -> int:
        """Return the far end of the line of the phone `wire`, which the first call creates."""
        if "wire" not in self.bench.families:
            self.line, slave = pty.openpty()
            tty.setraw(slave)
            with open(self.bench.folder / "pumpctld.toml", "a") as file:
                file.write(f'[device.wire]\nendpoint = "{os.ttyname(slave)}"\nfamily = "rescue"\n')
            self.bench.families["wire"] = "rescue"
            self.bench.end("daemon")
            self.bench.start_daemon()
        return self.line

    def run(self, *words: str) -> str:
        """Run pumpctl, and return its standard output."""
        return subprocess.run(
            [self.bench.programs / "pumpctl", *words], env=self.bench.environment, check=True, capture_output=True, text=True).stdout

    def messages(self, page: Page, size: str, master: int, kept: str) -> None:
        """The list, the pins and the card show the messages, and a call for help is announced."""
        rows, pins, card = page.locator(".messages button"), page.locator(".map g"), page.locator(".message")
        calls = page.locator("#calls")
        self.open(page, "#/device/phone")
        expect(rows).to_have_count(1)
        expect(rows).to_have_text(re.compile(r"Shelter *not handed on yet *kept <b>before</b> *33\.50000° S, 70\.25000° W"))
        texts = ["<img src=x onerror=document.title='hacked'>", "a\u202eb\u2066c", "a\x1b[2Jb", "x" * 3000, "one\ntwo"]
        for number, text in enumerate(texts):
            self.say(master, size, number, text, "Flooding", 35.9 + number / 100, -79.0 - number / 50)
        # These are no messages: a position out of range, and text that is no JSON.
        self.say(master, size, 90, "nowhere", "Other", 91, 0)
        os.write(master, b"{no message}")
        self.say(master, size, 50, "a new kind", "</span>Storm\u202e", 35.95, -79.1)
        expect(rows).to_have_count(len(texts) + 2)
        expect(pins).to_have_count(len(texts) + 2)
        for text in rows.all_inner_texts():
            if re.search("[\x1b\u202e\u2066]", text):
                self.flaws.append(f"a row has {text!r}")
        if page.locator("main :is(img, script, b)").count() or "hacked" in page.title():
            self.flaws.append("text of a phone became markup")
        # The list begins with the newest message, so the first one to arrive is the last but one, before the kept one.
        expect(rows.nth(len(texts))).to_contain_text(texts[0])
        # Use the keyboard alone.
        rows.nth(1).focus()
        page.keyboard.press("Enter")
        expect(rows.nth(1)).to_have_attribute("aria-pressed", "true")
        expect(card).to_contain_text("one\ntwo")
        expect(card).to_contain_text(re.compile(r"35\.94000° N, 79\.08000° W.*2026-01-01 .*days ago.*not handed on yet"))
        expect(page.locator(".map .chosen")).to_have_count(1)
        expect(page.locator("#changes")).to_contain_text("Flooding. one two. 35.94000° N, 79.08000° W. 2026-01-01 ")
        expect(page.locator(f".map g[data-id='{kept}']")).to_have_count(1)
        # Pins of several kinds have several shapes.
        shapes = {pin.get_attribute("d") for pin in page.locator(".map .pin").all() if pin.is_visible()}
        if len(shapes) < 3:
            self.flaws.append(f"pins have {len(shapes)} shapes")
        page.locator(f".map g[data-id='{kept}']").click()
        expect(card).to_contain_text("kept <b>before</b>")
        # A call for help is announced, and its button shows it.
        self.say(master, size, 60, "two people\non the roof", "SOS", -35.5, 179.9)
        words = "SOS received: someone needs help at 35.50000° S, 179.90000° E"
        page.wait_for_function("words => window.alarms.includes(words)", arg=words)
        expect(calls).to_contain_text(words)
        # A message that comes again is not announced again.
        self.say(master, size, 60, "two people\non the roof", "SOS", -35.5, 179.9)
        page.get_by_role("button", name="show", exact=True).press("Enter")
        expect(card).to_contain_text("two people\non the roof")
        expect(rows).to_have_count(len(texts) + 3)
        self.looks(page, f"{size}-rescue-map")
        page.emulate_media(media="print")
        expect(rows.first).to_be_visible()
        page.emulate_media(media="screen", forced_colors="active")
        self.looks(page, f"{size}-rescue-forced")
        page.emulate_media(forced_colors="none")
        self.open(page, "#/")
        expect(calls).to_contain_text(words)
        self.looks(page, f"{size}-rescue-list")
        self.open(page, "#/device/phone")
        page.get_by_role("button", name="dismiss").press("Enter")
        # Wait until the page has read the record: it may have been opened before the server found pumpctld.
        expect(calls).to_contain_text("SOS: none known")
        # The simulated phone writes a call of its own.
        self.bench.control("phone", "write", "SOS", "the bridge is gone")
        expect(rows.first).to_contain_text("the bridge is gone")
        expect(calls).to_contain_text("SOS received: someone needs help at")
        if (count := page.evaluate("window.alarms.filter((text) => text.includes('179.90000')).length")) != 1:
            self.flaws.append(f"an SOS was announced {count} times")
        page.get_by_role("button", name="dismiss").press("Enter")

    def writing(self, page: Page, size: str, master: int) -> None:
        """A message and a call for help can be sent by the keyboard alone."""
        self.open(page, "#/device/wire")
        form, call, dialog = page.locator("form"), page.get_by_role("button", name="SOS", exact=True), page.locator("dialog")
        expect(call).to_be_enabled()
        call.press("Enter")
        expect(page.locator(".call + .outcome")).to_contain_text("not sent: an SOS needs a place")
        expect(page.get_by_label("Latitude")).to_be_focused()
        page.get_by_role("button", name="use this device's place").press("Enter")
        expect(page.get_by_label("Longitude")).to_have_value("130.500000")
        page.get_by_label("Category").select_option("Road Closure")
        text = 'the "bridge" <b>is</b>\nclosed \\ é'
        page.get_by_label("Text", exact=True).last.fill(text)
        self.read(master, 0)
        page.get_by_role("button", name="send", exact=True).press("Enter")
        expect(form.locator(".outcome")).to_have_text(re.compile(r"^sent: Road Closure, at 12\.25000° S, 130\.50000° E, \d\d:\d\d:\d\d; a phone does not confirm it$"))
        message = self.read(master)
        self.holds(message, {"content": text, "category": "Road Closure"})
        expect(page.locator(".messages button").first).to_contain_text(re.compile(r"Road Closure *handed on"))
        expect(page.get_by_label("Text", exact=True).last).to_have_value("")

        # The page asks before it sends an SOS, and Escape means no.
        for key in ("Escape", "Enter"):
            call.press("Enter")
            expect(dialog).to_contain_text("Send an SOS?")
            expect(dialog).to_contain_text("12.25000° S, 130.50000° E")
            expect(page.get_by_role("button", name="cancel")).to_be_focused()
            if key == "Escape":
                self.looks(page, f"{size}-rescue-question")
            page.keyboard.press(key)
            expect(dialog).to_be_hidden()
            expect(call).to_be_focused()
        if sent := self.read(master, 0):
            self.flaws.append(f"an SOS was sent without a yes: {sent}")
        call.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator(".call + .outcome")).to_have_text(re.compile(r"^SOS sent: Someone needs help, at 12\.25000° S, 130\.50000° E, \d\d:\d\d:\d\d; a phone does not confirm it$"))
        self.holds(self.read(master), {"content": "Someone needs help", "category": "SOS"})
        self.looks(page, f"{size}-rescue-sent")
        count = page.locator(".messages button").count()

        # The daemon does not answer, so it is unknown whether the message was sent.
        page.get_by_label("Text", exact=True).last.fill("lost")
        self.bench.processes["daemon"].send_signal(signal.SIGSTOP)
        page.get_by_role("button", name="send", exact=True).click()
        expect(form.locator(".outcome")).to_have_text(re.compile("unknown: it may have been carried out|not sent"))
        self.bench.processes["daemon"].send_signal(signal.SIGCONT)
        expect(page.locator(".messages button")).to_have_count(count)
        expect(page.get_by_role("button", name="send", exact=True)).to_be_enabled()
        self.read(master, 0)

    def say(self, master: int, size: str, number: int, content: str, category: str, latitude: float, longitude: float) -> None:
        """Send a message as the phone. Its time is at the beginning of 2026, in seconds since 2001, as the app counts.
        """
        os.write(master, json.dumps({
            "id": f"{list(SIZES).index(size):08}-0000-4000-8000-{number:012}", "content": content, "latitude": latitude,
            "longitude": longitude, "timestamp": 789_000_000 + number, "status": "synced", "category": category}).encode())

    def read(self, master: int, patience: float = rig.PATIENCE) -> dict | None:
        """Read the message that the page has sent to the phone; None if none comes within `patience` seconds."""
        data = b""
        while select.select([master], [], [], patience)[0]:
            data += os.read(master, 65536)
            try:
                return json.loads(data)
            except ValueError:
                continue
        return None

    def holds(self, message: dict, expected: dict) -> None:
        """Check the members of a message that the page has sent."""
        # 978,307,200 is the beginning of 2001, from which messages count, in seconds since 1970.
        age = time.time() - 978_307_200 - message["timestamp"]
        wrong = {
            "members": set(message) != {"id", "content", "latitude", "longitude", "timestamp", "status", "category"},
            "id": not re.fullmatch("[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", message["id"]),
            "timestamp": not -10 < age < rig.PATIENCE, "status": message["status"] != "pending_sync",
            "place": [message["latitude"], message["longitude"]] != [-12.25, 130.5],
            "expected": {name: message[name] for name in expected} != expected,
        }
        if any(wrong.values()):
            self.flaws.append(f"a sent message has wrong {[name for name, is_wrong in wrong.items() if is_wrong]}: {message}")

    def trials(self) -> None:
        trials(self)

    def peer(self) -> None:
        peer(self)

    def radio(self) -> None:
        """The page works with devices that are reached by Bluetooth Low Energy."""
        context = self.browser.new_context(viewport={"width": 360, "height": 780}, color_scheme="dark", reduced_motion="reduce")
        page = self.log_in(context)
        for name in self.bench.families:
            self.open(page, f"#/device/{name}")
            expect(page.locator(".link")).to_have_text("connected")
            expect(page.locator(".signal").first).to_contain_text("ble:00:00:5E:00:53:")
            # Over Bluetooth it can't be known whether a device is simulated.
            expect(page.locator(".bench")).to_be_hidden()
            self.looks(page, f"radio-{name}")
        context.close()
        self.commands()
        self.trouble()
        self.rescue()

    def looking(self) -> None:
        """In a session that may only look, the buttons of commands that change something are disabled."""
        context = self.browser.new_context()
        page = self.log_in(context, "--see")
        self.open(page, "#/device/pump")
        expect(page.get_by_role("button", name="status", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="on", exact=True)).to_be_disabled()
        expect(page.locator(".stop")).to_have_text("This session may only look. To stop a pump, press the button on its lid, or pull the plug.")
        expect(page.locator("button.off")).to_have_count(0)
        # A link that was used before does not end the session of this browser.
        code = self.bench.code()
        for _ in range(2):
            again = self.new_page(context)
            again.goto(f"{self.bench.address.rstrip('/')}/#{code}")
            expect(again.locator("h1")).to_have_text("Devices")
            again.close()
        context.close()

    def everybody(self) -> None:
        """ALL OFF switches off every pump, and the list says which pumps are off, and what is wrong with any device."""
        link, control = (str(self.bench.folder / name) for name in ("second", "second.control"))
        self.bench.start("sim-second", "pumpctl", "sim", "pump", "--thermistors", "0", "--link", link, "--control", control)
        rig.wait(lambda: self.bench.log("sim-second"), "the second pump")
        with open(self.bench.folder / "pumpctld.toml", "a") as file:
            file.write(f'[device.second]\nendpoint = "{link}"\nfamily = "pump"\n')
        self.bench.end("daemon")
        self.bench.families["second"] = "pump"
        self.bench.start_daemon()
        context = self.browser.new_context(viewport={"width": 360, "height": 780}, reduced_motion="reduce")
        page = self.log_in(context)
        states, answers = page.locator(".card [data-key=state] .value"), page.locator(".all .outcome")
        trouble = page.locator("#trouble")
        expect(states).to_have_text(["off", "off"])
        for name in ("pump", "second"):
            self.bench.control(name, "press")
        expect(states).to_have_text(["on", "on"])
        expect(page.locator(".card.on")).to_have_count(2)
        # The second pump has no thermistors, so nothing stops it if the skin becomes too hot.
        words = "no temperature is read; overheating may go unnoticed"
        expect(page.locator(".card .link").nth(1)).to_have_text(words)
        expect(trouble).to_have_text(f"second: {words}")
        page.mouse.wheel(0, 2000)
        expect(page.get_by_role("button", name="ALL OFF")).not_to_be_in_viewport()
        expect(trouble).to_be_in_viewport()
        self.looks(page, "phone-two-pumps")
        page.get_by_role("button", name="ALL OFF").click()
        expect(answers).to_have_text("pump: confirmed; second: confirmed")
        expect(states).to_have_text(["off", "off"])
        expect(trouble).to_have_text("")
        # A pump that is switched on again is not left out.
        self.bench.control("second", "press")
        expect(answers).to_have_text("second: on; pump: confirmed")
        # A pump that does not answer stands first.
        self.bench.processes["sim-second"].send_signal(signal.SIGSTOP)
        page.get_by_role("button", name="ALL OFF").click()
        expect(answers).to_have_text("second: asked; pump: confirmed")
        # Every browser says so, also one that has not asked, and one that is loaded anew.
        other = self.browser.new_context()
        watcher = self.log_in(other)
        self.open(watcher, "#/device/pump")
        for one in (page, watcher):
            expect(one.locator("#trouble")).to_have_text(re.compile("^second: it may be on; no answer to off of "), timeout=15_000)
        watcher.reload()
        expect(watcher.locator("#trouble")).to_contain_text("it may be on")
        self.open(watcher, "#/device/second")
        expect(watcher.locator(".banner")).to_contain_text(["To do: if it runs, press the button on its lid, or pull the plug."])
        expect(watcher.locator(".last")).to_contain_text("; its outcome is unknown")
        self.looks(watcher, "desk-doubt")
        other.close()
        self.bench.processes["sim-second"].send_signal(signal.SIGCONT)
        # The page asks for ten seconds. If they are over, it shows what it has read.
        expect(answers).to_have_text(re.compile("^(pump: confirmed; second: confirmed|second: off; pump: confirmed)$"))
        expect(trouble).to_have_text("")
        self.bench.control("second", "press")
        expect(answers).to_have_text("second: on; pump: confirmed")
        trouble.click()
        page.locator("article button.off").click()
        expect(page.locator("article [data-key=state] .value")).to_have_text("off")
        expect(trouble).to_have_text("")
        # A pump whose link is lost while it runs is not forgotten, also not by a page that is loaded anew.
        self.bench.control("second", "press")
        expect(page.locator("article [data-key=state] .value")).to_have_text("on")
        self.bench.end("sim-second")
        # An OFF of before may be under way again: the page has asked several times.
        words = re.compile("^second: it may be on; (unknown since|no answer to off of) .*")
        expect(trouble).to_have_text(words)
        page.reload()
        self.open(page, "#/")
        expect(trouble).to_have_text(words)
        expect(page.locator(".card .link").nth(1)).to_contain_text("it may be on; ")
        self.looks(page, "phone-lost-running")
        self.bench.end("daemon")
        page.get_by_role("button", name="ALL OFF").click()
        expect(answers).to_contain_text("asking, but not connected")
        expect(page.locator("#connection")).to_contain_text("pumpctld is away")
        expect(trouble).to_be_visible()
        context.close()
        self.bench.start_devices()
        self.bench.start_daemon()


def main(programs: str, shots: str | None = None) -> None:
    folder = pathlib.Path(shots) if shots else rig.ROOT / ".build/page-shots"
    expect.set_options(timeout=PATIENCE)
    checks = []
    with sync_playwright() as playwright:
        # Chromium refuses to start its sandbox as root.
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for shots in (folder, folder / "radio"):
            shots.mkdir(exist_ok=True)
            with rig.Rig.in_folder(programs) as bench:
                if shots != folder:
                    bench.start_radio()
                checks.append(check := Check(bench, browser, shots))
                bench.start_devices()
                bench.start_daemon()
                bench.start_page("0", *check.options)
                try:
                    run(check)
                finally:
                    for flaw in sorted(set(check.flaws)):
                        print(flaw)
        browser.close()
    flaws = sum(len(set(check.flaws)) for check in checks)
    print(f"page: {sum(check.count for check in checks)} screenshots, {flaws} flaws")
    if flaws:
        raise SystemExit(1)


def run(check: Check) -> None:
    begun = time.monotonic()
    # `failures` is the last one, because it ends the simulated pump and its own session.
    parts = [check.radio, check.peer] if check.bench.is_radio else [
        check.model, check.weight, check.screens, check.commands, check.trouble, check.keyboard, check.views, check.attention, check.tabs,
        check.presses, check.past, check.simulated, check.looking, check.everybody, check.lateness, check.hostile, check.rescue, check.calls,
        check.trials, check.failures]
    for part in parts:
        part()
        print(f"{part.__name__}: {time.monotonic() - begun:.0f} s", flush=True)


main(*sys.argv[1:])
