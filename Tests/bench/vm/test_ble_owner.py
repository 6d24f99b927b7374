"""Ownership of a BLE device, on two adapters that hear each other: one program at a time has it, as any user."""

import re
import signal
import time

from bench import PATIENCE
from bluetooth import RadioTest

PORT = "ble:HMSoft"


class Owner(RadioTest):
    def setUp(self):
        super().setUp()
        self.peripheral()
        # Debian has this folder, but the guest lacks it.
        self.guest.python("os.makedirs('/run/lock', exist_ok=True)\nos.chmod('/run/lock', 0o1777)")
        # Debian's setting: in a world-writable folder the kernel may refuse to open another user's file with O_CREAT.
        self.guest.python("open('/proc/sys/fs/protected_regular', 'w').write('2')")
        self.assertEqual(self.guest.run("usermod", "-aG", "bluetooth", "bench").status, 0)

    def command(self, user, *arguments):
        """Return the command line of pumpctl for a user who may talk to bluetoothd."""
        switch = () if user == "root" else ("setpriv", "--reuid", user, "--regid", user, "--init-groups")
        return (*switch, "pumpctl", "--no-record", "--port", PORT, *arguments)

    def run_as(self, user, *arguments, status=0):
        result = self.guest.run(*self.command(user, *arguments), seconds=PATIENCE)
        self.assertEqual(result.status, status, f"{user}: pumpctl {' '.join(arguments)}: {result}")
        return result

    def check_users(self, first, second):
        """Check that two users can use the device one after the other, and that each is refused while the other has it."""
        self.run_as(first, "status")
        files = self.guest.run("sh", "-c", "stat -c '%a %U %n' /run/lock/pumpctl /run/lock/pumpctl/*").out
        self.assertRegex(files, rf"^1777 {first} /run/lock/pumpctl\n666 {first} /run/lock/pumpctl/ble-\S+\n$")
        self.run_as(second, "status")
        for holder, other in ((first, second), (second, first)):
            monitor = self.guest.start(*self.command(holder, "monitor"))
            monitor.until_output("off", PATIENCE)
            error = self.run_as(other, "status", status=69).err
            self.assertRegex(error, r"pumpctl \(pid \d+\)")
            # setpriv replaces itself with pumpctl.
            self.assertIn(f"pid {monitor.id})", error)
            monitor.send_signal(signal.SIGINT)
            monitor.wait(PATIENCE)
        self.run_as(second, "status")
        self.run_as(first, "status")

    def test_another_user_can_use_a_device_after_root(self):
        self.check_users("root", "bench")

    def test_root_can_use_a_device_after_another_user(self):
        self.check_users("bench", "root")

    def test_a_command_does_not_wait_for_its_disconnection(self):
        times = []
        for _ in range(2):
            start = time.monotonic()
            self.run_as("root", "status")
            times.append(time.monotonic() - start)
            # pumpctl has requested the disconnection, which takes 2 s. Instead of waiting for it, pumpctl has left a note
            # in its lock file for the next pumpctl.
            self.assertRegex(self.guest.run("sh", "-c", "cat /run/lock/pumpctl/*").out, r"^closing \d+")
        # The second command waits for the rest of the first one's disconnection. The times are only printed, because they
        # depend on the machine.
        print(f"two one-shots in a row: {times[0]:.2f} s and {times[1]:.2f} s")

    def test_two_commands_at_once_both_succeed(self):
        both = [self.guest.start(*self.command("root", "status")) for _ in range(2)]
        for command in both:
            result = command.wait(2 * PATIENCE)
            self.assertEqual(result.status, 0, result)
            self.assertTrue(re.search(r"pump +off", result.out), result)
