"""Check the page's buttons that test a firmware and measure round trips."""

import json
import xml.etree.ElementTree

from playwright.sync_api import expect

HOSTILE = "<img src=x onerror=alert(1)> \u202e]]> &amp; \u0001"
CHECKS = [
    {"check": "pump.a", "outcome": "passed", "protocol": "a rule", "duration_ms": 1500},
    {"check": "pump.b", "outcome": "failed", "protocol": HOSTILE, "expected": "OK", "got": HOSTILE, "duration_ms": 20},
    {"check": "pump.c", "outcome": "skipped", "protocol": "a rule", "reason": HOSTILE},
]
SUM = {"passed": 1, "failed": 1, "skipped": 1, "ok": False}


def trials(check) -> None:
    context = check.browser.new_context(viewport={"width": 360, "height": 780}, reduced_motion="reduce")
    page = check.log_in(context)
    check.open(page, "#/device/pump")
    # The screen is made anew once the families are known, and a trial ends with its screen.
    expect(page.locator("h1 small")).to_have_text("a pump")
    state, off = page.locator("[data-key=state] .value"), page.locator("button.off")
    section = page.locator("details", has=page.get_by_text("Tests", exact=True))
    outcome = section.locator(".outcome")
    test, measure = (section.get_by_role("button", name=name) for name in ("test the firmware", "measure round trips"))
    cancel = section.get_by_role("button", name="cancel")

    # Use the keyboard alone.
    section.locator("summary").press("Enter")
    measure.press("Enter")
    expect(outcome).to_contain_text("under way")
    expect(test).to_be_disabled()
    expect(outcome).to_contain_text("answers to TEMP")
    expect(section.locator("svg.shares rect")).to_have_count(2)
    expect(section.locator("figcaption").first).to_contain_text("host: ")
    expect(off).to_be_in_viewport(ratio=1)
    check.looks(page, "trials-latency")

    # A running pump is not tested, and keeps running.
    page.get_by_role("button", name="on", exact=True).press("Enter")
    expect(state).to_have_text("on")
    test.press("Enter")
    expect(outcome).to_contain_text("not sent: the pump is running, and somebody may wear it")
    expect(state).to_have_text("on")
    off.press("Enter")
    expect(state).to_have_text("off")

    # Results are shown one by one, OFF works during the test, and `cancel` ends the test.
    test.dblclick()
    expect(section.locator("li.passed").nth(1)).to_be_visible()
    off.press("Enter")
    expect(page.locator("article > .stop .outcome")).to_contain_text("confirmed by pump")
    cancel.press("Enter")
    expect(outcome).to_contain_text("cancelled")
    expect(test).to_be_enabled()

    # Output of a device that looks like markup is text, on the page and in the files.
    lines = "".join(json.dumps(one) + "\n" for one in [*CHECKS, SUM])
    page.route("**/verify", lambda route: route.fulfill(content_type="application/x-ndjson", body=lines))
    test.press("Enter")
    expect(outcome).to_contain_text("1 passed, 1 failed, 1 skipped")
    expect(section.locator("li.failed")).to_contain_text("failed: pump.b: expected OK, got <img src=x onerror=alert(1)>")
    check.looks(page, "trials-verify")
    with page.expect_download() as saved:
        section.get_by_text("save as JUnit").click()
    suite = xml.etree.ElementTree.parse(saved.value.path()).getroot().find("testsuite")
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped", "time")] == ["3", "1", "0", "1", "1.520"], suite.attrib
    assert suite.find("testcase/failure").get("message").startswith("expected OK, got <img src=x onerror=alert(1)>")
    with page.expect_download() as saved:
        section.get_by_text("save as HTML").click()
    text = saved.value.path().read_text()
    assert "<img" not in text and "&#60;img src=x" in text, text

    # If the pump could not be switched off, the results are shown, and the error with its hint.
    page.unroute("**/verify")
    last = [SUM | {"error": "off_failed", "message": "the pump may be on"},
            {"error": "off_failed", "message": "the pump may be on", "hint": "pull its plug", "outcome": "unknown", "ok": False}]
    body = "".join(json.dumps(one) + "\n" for one in [*CHECKS, *last])
    page.route("**/verify", lambda route: route.fulfill(content_type="application/x-ndjson", body=body))
    test.press("Enter")
    expect(outcome).to_have_text("unknown: a pump may be on: the pump may be on (pull its plug)")
    expect(outcome).to_have_attribute("data-state", "unknown")
    expect(section).to_contain_text("1 passed, 1 failed, 1 skipped")
    expect(section.get_by_text("save as JUnit")).to_be_visible()

    # If the results end without a sum, the test counts as failed.
    page.unroute("**/verify")
    page.route("**/verify", lambda route: route.fulfill(content_type="application/x-ndjson", body=json.dumps(CHECKS[0]) + "\n"))
    test.press("Enter")
    expect(outcome).to_contain_text("failed: it broke off")
    context.close()
