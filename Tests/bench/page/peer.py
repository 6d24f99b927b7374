"""The screen by which this computer is a peer, and centrals that find it."""

import json
import subprocess

import rig
from playwright.sync_api import expect

# The page offers the peer on the first adapter, hci0. The centrals use another one, which hears it.
PORT = "ble:Bench?adapter=hci1"
HOSTILE = "<img src=x onerror=alert(1)> \u202e &amp;"
PICTURE = rig.ROOT / "docs/page.png"


def peer(check) -> None:
    bench = check.bench
    token = bench.log_in()
    context = check.browser.new_context(viewport={"width": 360, "height": 780}, reduced_motion="reduce")
    page = check.log_in(context)
    state, send = page.locator("main .outcome").first, page.locator("main .outcome").last
    events, button = page.locator(".lines li"), page.locator("main button").first

    def is_over() -> bool:
        return check.pump([page]) and bench.ask("POST", "/api/v1/peer/say", {"text": "x"}, token).status == 409

    # By keyboard alone, but for the choice of a file, which is a window of the system.
    page.get_by_role("link", name="Be a peer").press("Enter")
    expect(state).to_have_text("idle")
    expect(page.locator("main")).to_contain_text("Selected image: none")
    expect(page.get_by_role("button", name="send", exact=True)).to_be_disabled()
    page.get_by_label("Image").set_input_files({"name": "a\u202e<b>.png", "mimeType": "", "buffer": PICTURE.read_bytes()})
    expect(page.locator("main")).to_contain_text("Selected image: a\ufffd<b>.png")
    page.get_by_label("Name").fill("x" * 40)
    page.get_by_label("Name").press("Enter")
    expect(state).to_contain_text("failed: ")
    expect(state).to_contain_text("(choose a shorter name")
    page.get_by_label("Name").fill("Bench")
    button.press("Enter")
    expect(state).to_have_text("advertising")
    expect(page.get_by_label("Name")).to_be_disabled()
    check.looks(page, "phone-peer-advertising")

    # There is one peer at a time.
    second = check.log_in(check.browser.new_context())
    check.open(second, "#/peer")
    second.locator("main button").first.click()
    expect(second.locator("main .outcome").first).to_have_text("not sent: a peer is offered already (end that one first)")
    second.context.close()

    # A central sends text, toggles, and a request for the image.
    check.run("--port", PORT, "peer", "say", HOSTILE)
    expect(events.filter(has_text="text: <img src=x onerror=alert(1)> \ufffd &amp;")).to_have_count(1)
    assert page.locator("main img").count() == 0
    expect(state).to_have_text("disconnected; advertising")
    for position in ("on", "off"):
        check.run("--port", PORT, "peer", "toggle", position)
        expect(page.get_by_text("Remote toggle: ")).to_have_text(f"Remote toggle: {position}")
    copy = bench.folder / "copy.png"
    check.run("--port", PORT, "peer", "image", "get", "-o", str(copy))
    assert copy.read_bytes() == PICTURE.read_bytes()
    expect(events.filter(has_text="the image was asked for")).to_have_count(1)

    # A central listens, and gets text and toggles.
    listener = subprocess.Popen(
        [bench.programs / "pumpctl", "--port", PORT, "peer", "listen", "--json"], env=bench.environment, stdout=subprocess.PIPE, text=True)
    expect(state).to_have_text("connected: a central listens")
    page.get_by_label("Text").fill("hello")
    page.get_by_label("Text").press("Enter")
    expect(send).to_contain_text("a central does not confirm it")
    expect(page.get_by_label("Text")).to_have_value("")
    page.get_by_role("button", name="ON", exact=True).press("Enter")
    heard = []
    while not heard or heard[-1].get("toggle") != "on":
        heard.append(json.loads(listener.stdout.readline()))
    assert [one.get("text") for one in heard if one["event"] == "text"] == ["hello"], heard
    check.looks(page, "phone-peer-connected")
    listener.terminate()
    listener.wait()
    expect(state).to_have_text("disconnected; advertising")
    page.get_by_label("Text").fill("IMG_BEGIN x 1")
    page.get_by_label("Text").press("Enter")
    expect(send).to_contain_text("not sent: a central would take a text that begins with IMG_ for an image")

    # The peer ends by its button, and with its screen.
    button.press("Enter")
    expect(state).to_have_text("idle")
    rig.wait(is_over, "the end of the peer")
    button.press("Enter")
    expect(state).to_have_text("advertising")
    check.open(page, "#/")
    rig.wait(is_over, "the end of the peer")

    # Without an adapter. The second round of the loop gives the page its bus back.
    port, air = bench.port, bench.environment["DBUS_SYSTEM_BUS_ADDRESS"]
    empty = subprocess.Popen([bench.programs / "fake-bluez", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for bus in (empty.stdout.readline().strip(), air):
        bench.environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus
        bench.end("page")
        bench.start_page(str(port), *check.options)
        if bus == air:
            break
        page.goto(bench.address)
        check.open(page, "#/peer")
        expect(button).to_be_enabled()
        # The screen keeps the focus if it is made anew, as when the families of the devices are known.
        button.focus()
        page.evaluate("dispatchEvent(new Event('hashchange'))")
        expect(button).to_be_focused()
        button.press("Enter")
        expect(state).to_contain_text("Bluetooth adapter not found (")
        expect(button).to_have_text("start")
        check.looks(page, "phone-peer-failed")
    empty.communicate()
    context.close()
