"""Refused access to a port: another program has it open or locked, or the user may not open it."""

import re

from bench import PATIENCE, BenchTest


class Sharing(BenchTest):
    def setUp(self):
        super().setUp()
        self.plug(self.answering(self.ch340()))

    def test_a_busy_port_names_its_holder(self):
        holder = self.start_pumpctl("monitor")
        holder.until_output("off", PATIENCE)
        self.assertIn(f"pumpctl (pid {holder.id})", self.pumpctl("status", status=69).err)

    def test_a_port_locked_by_another_program_names_that_program(self):
        holder = self.guest.start("python3", "-c", (
            "import fcntl, os, time; port = os.open('/dev/ttyUSB0', os.O_RDWR); fcntl.flock(port, fcntl.LOCK_EX)\n"
            "print('locked', flush=True); time.sleep(1000)"))
        holder.until_output("locked", PATIENCE)
        self.assertIn(f"python3 (pid {holder.id})", self.pumpctl("status", status=69).err)

    def test_a_user_outside_the_group_gets_a_hint_with_its_name(self):
        error = self.pumpctl("status", status=77, user="bench").err
        self.assertIn("dialout", error)
        self.assertTrue(re.search(r"hint: .*(usermod|adduser)", error), error)

    def test_the_doctor_names_the_holder_and_the_missing_group(self):
        holder = self.start_pumpctl("monitor")
        holder.until_output("off", PATIENCE)
        result = self.guest.run("pumpctl", "doctor", "/dev/ttyUSB0", user="bench", seconds=PATIENCE)
        self.assertIn("dialout", result.out)
        result = self.guest.run("pumpctl", "doctor", "/dev/ttyUSB0", seconds=PATIENCE)
        self.assertIn(f"{holder.id}", result.out)
