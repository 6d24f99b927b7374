"""The text and image peer, and the rescue app's phones, on two adapters of one machine that hear each other."""

import json
import signal

from bench import PATIENCE
from bluetooth import RadioTest

FIRST = "hci0"
SECOND = "hci1"


class FamilyTest(RadioTest):
    def simulate(self, family, *options):
        """Start a simulated device on the second adapter."""
        simulator = self.guest.start("pumpctl", "sim", family, "--ble", "--adapter", SECOND, *options)
        simulator.until_output("BLE ", PATIENCE)
        return simulator

    def address(self, adapter):
        """Return the Bluetooth address of an adapter."""
        answer = self.guest.python(
            f"result = bluez('/org/bluez/{adapter}', 'org.freedesktop.DBus.Properties.Get', 'string:org.bluez.Adapter1',"
            " 'string:Address')")
        return answer.split('"')[1]


class Peer(FamilyTest):
    PORT = f"ble:QDevice1?adapter={FIRST}"

    def test_a_peer_receives_text_and_toggles_and_is_listened_to(self):
        self.simulate("peer", "--acks")
        self.assertEqual(self.pumpctl("peer", "say", "Grüße", port=self.PORT).out, "sent, acknowledged\n")
        # 510 bytes is the limit of a message over BLE: see docs/devices.md.
        self.assertEqual(self.pumpctl("peer", "say", "x" * 510, port=self.PORT).out.splitlines()[-1], "sent, acknowledged")
        self.assertIn("511 bytes", self.pumpctl("peer", "say", "x" * 511, port=self.PORT, status=64).err)
        self.assertEqual(self.pumpctl("peer", "toggle", "on", port=self.PORT).out, "toggle on, acknowledged\n")
        events = self.pumpctl("--json", "peer", "listen", "--count", "2", port=self.PORT).out.splitlines()
        events = [json.loads(event) for event in events]
        self.assertEqual([event["event"] for event in events], ["greeting", "acknowledged"])
        self.assertEqual(events[0]["host"], "QDevice1")
        self.assertRegex(events[0]["host_time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_a_peer_without_acknowledgements_receives_text_and_toggles(self):
        self.simulate("peer")
        self.assertEqual(self.pumpctl("peer", "say", "Grüße", port=self.PORT).out, "sent\n")
        self.assertEqual(self.pumpctl("peer", "toggle", "on", port=self.PORT).out, "toggle on\n")

    def test_an_image_arrives_intact(self):
        self.simulate("peer", "--size", "200000", "--seed", "7")
        images = []
        # The second image comes from a simulator inside pumpctl, and not over BLE.
        for name, port in ("a.png", self.PORT), ("b.png", "sim:peer?size=200000&seed=7&unpaced"):
            result = self.pumpctl("--timeout", "60", "peer", "image", "get", "-o", f"/tmp/{name}", port=port)
            self.assertEqual(result.out, f"200000 bytes in /tmp/{name}\n")
            images.append(self.guest.get(f"/tmp/{name}"))
        self.assertEqual(len(images[0]), 200000)
        self.assertTrue(images[0].startswith(b"\x89PNG\r\n\x1a\n") and images[0].endswith(b"IEND\xaeB`\x82"))
        self.assertEqual(*images)

    def test_a_damaged_image_is_refused(self):
        # One fault is enough here: the refusal of a damaged image does not depend on the carrier.
        self.simulate("peer", "--fault", "base64_invalid")
        result = self.pumpctl(
            "--json", "--timeout", "60", "peer", "image", "get", "-o", "/tmp/image.png", port=self.PORT, status=76)
        self.assertEqual(json.loads(result.out)["error"], "base64_invalid")


class Rescue(FamilyTest):
    PORT = f"ble:Rescue?adapter={FIRST}"

    def messages(self, folder, *options):
        """Return the messages that pumpctl keeps in a folder."""
        result = self.message(folder, "--json", "rescue", "list", *options).wait(PATIENCE)
        return [json.loads(line) for line in result.out.splitlines()]

    def message(self, folder, *arguments):
        """Start a command on the messages in a folder."""
        return self.guest.start("env", f"XDG_DATA_HOME=/tmp/{folder}", "pumpctl", *arguments)

    def keep(self, folder, text):
        """Store a message in a folder, to be sent later."""
        command = self.message(folder, "rescue", "send", "--later", "--at", "1,2", text)
        self.assertEqual(command.wait(PATIENCE).status, 0)

    def statuses(self, folder):
        """Return the status of each message in a folder, by its text."""
        return {message["content"]: message["status"] for message in self.messages(folder)}

    def test_each_message_of_a_phone_is_stored_once(self):
        self.simulate("rescue", "--messages", "30", "--interval", "0", "--malformed", "30")
        listening = self.message("one", "-p", self.PORT, "--json", "rescue", "listen", "--count", "30")
        result = listening.wait(2 * PATIENCE)
        self.assertEqual(result.status, 0, result)
        ids = [message["id"] for message in self.messages("one")]
        self.assertEqual(len(set(ids)), 30)

    def test_a_message_sent_to_a_phone_is_marked_as_synced(self):
        self.simulate("rescue", "--messages", "0")
        text = "on the roof " + "x" * 700
        sent = self.message("one", "-p", self.PORT, "rescue", "send", "--category", "SOS", "--at", "1,2", text)
        self.assertEqual(sent.wait(PATIENCE).status, 0)
        self.assertEqual(self.statuses("one"), {text: "synced"})

    def test_a_message_received_while_offering_is_kept_to_be_handed_on(self):
        text = "on the roof " + "x" * 700
        listening = self.message("one", "rescue", "listen", "--offer", "--adapter", SECOND)
        listening.until_output("is offered", PATIENCE)
        sent = self.message("two", "-p", self.PORT, "rescue", "send", "--category", "SOS", "--at", "1,2", text)
        self.assertEqual(sent.wait(PATIENCE).status, 0)
        listening.until_output(text, PATIENCE)
        self.assertEqual(self.statuses("one"), {text: "pending_sync"})

    def test_sync_hands_on_its_messages_to_a_central_that_connects(self):
        for number in range(5):
            self.keep("one", f"message {number}")
        sync = self.message("one", "rescue", "sync", "--offer", "--adapter", SECOND)
        sync.until_output("is offered", PATIENCE)
        listening = self.message("two", "-p", self.PORT, "rescue", "listen", "--count", "5")
        self.assertEqual(listening.wait(2 * PATIENCE).status, 0)
        self.assertEqual(sync.wait(PATIENCE).out, "5 messages sent\n")
        self.assertEqual(set(self.statuses("one").values()), {"synced"})

    def test_two_programs_in_both_roles_exchange_their_messages(self):
        adapters = {"one": FIRST, "two": SECOND}
        addresses = {"one": self.address(SECOND), "two": self.address(FIRST)}
        programs = {}
        for folder, adapter in adapters.items():
            self.keep(folder, f"of {folder}")
            programs[folder] = self.message(
                folder, "-p", f"ble:{addresses[folder]}?adapter={adapter}", "rescue", "listen", "--offer", "--adapter",
                adapter)
            programs[folder].until_output("is offered", PATIENCE)
        for folder, other in (("one", "two"), ("two", "one")):
            programs[folder].until_output("1 message sent to ", 2 * PATIENCE)
            programs[folder].until_output(f"of {other}", 2 * PATIENCE)
        for program in programs.values():
            program.send_signal(signal.SIGINT)
            self.assertEqual(program.wait(PATIENCE).status, -signal.SIGINT)
        self.assertEqual(self.statuses("one"), {"of one": "synced", "of two": "pending_sync"})
        self.assertEqual(self.statuses("two"), {"of two": "synced", "of one": "pending_sync"})
