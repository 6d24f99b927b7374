"""The kernel's drivers and udev's rules, as on a user's machine."""

from bench import BenchTest


class Drivers(BenchTest):
    def links(self, folder):
        """Return the targets of the links in a folder, by name."""
        return self.guest.python(f"f = {folder!r}\nresult = {{n: os.path.realpath(f + '/' + n) for n in os.listdir(f)}}")

    def driver(self, name="ttyUSB0"):
        """Return the name of the kernel's driver that has this port."""
        return self.guest.python(f"result = os.readlink('/sys/bus/usb-serial/devices/{name}/driver').split('/')[-1]")

    def test_an_ftdi_adapter_has_its_driver_and_links_by_serial_number_and_by_usb_port(self):
        self.plug(self.ftdi(serial="A1B2C3"))
        self.assertEqual(self.driver(), "ftdi_sio")
        self.assertEqual(self.links("/dev/serial/by-path"), {"pci-0000:00:02.0-usb-0:1:1.0-port0": "/dev/ttyUSB0"})
        (name, node), = self.links("/dev/serial/by-id").items()
        self.assertIn("A1B2C3", name)
        self.assertEqual(node, "/dev/ttyUSB0")

    def test_a_ch340_has_its_driver_and_a_link_without_a_serial_number(self):
        self.plug(self.ch340())
        self.assertEqual(self.driver(), "ch341-uart")
        self.assertEqual(self.links("/dev/serial/by-path"), {"pci-0000:00:02.0-usb-0:1:1.0-port0": "/dev/ttyUSB0"})
        self.assertEqual(self.links("/dev/serial/by-id"), {"usb-1a86_USB_Serial-if00-port0": "/dev/ttyUSB0"})

    def test_two_ch340s_differ_only_by_their_usb_ports(self):
        self.plug(self.ch340(port=1))
        self.plug(self.ch340(port=2), "/dev/ttyUSB1")
        self.assertEqual(len(self.links("/dev/serial/by-id")), 1)
        self.assertEqual(self.links("/dev/serial/by-path"), {
            "pci-0000:00:02.0-usb-0:1:1.0-port0": "/dev/ttyUSB0",
            "pci-0000:00:02.0-usb-0:2:1.0-port0": "/dev/ttyUSB1"})

    def test_the_node_belongs_to_the_group_of_serial_ports(self):
        self.plug(self.ch340())
        self.assertEqual(
            self.guest.python("import grp\ns = os.stat('/dev/ttyUSB0')\nresult = [grp.getgrgid(s.st_gid).gr_name, s.st_mode & 0o777]"),
            ["dialout", 0o660])
