import CSerial
import Glibc
import TestSupport
import Testing

@testable import SerialPort

/// The ports that a program sees if umockdev simulates the devices.
@Suite(.enabled(if: MockTestbed.isAvailable, MockTestbed.needed))
struct DiscoveryMockTests {
    let testbed: MockTestbed

    init() async throws {
        testbed = try await MockTestbed()
    }

    @Test func `Two adapters of one model are identified by their physical paths`() async throws {
        try await testbed.plug(.ch340, at: "1-2.3", as: "ttyUSB0")
        try await testbed.plug(.ch340, at: "1-2.4", as: "ttyUSB1")
        let probe = try await testbed.start("discovery-probe", "list")
        #expect(try await probe.output.line() == #"/dev/ttyUSB0 physicalPath("1-2.3")"#)
        #expect(try await probe.output.line() == #"/dev/ttyUSB1 physicalPath("1-2.4")"#)
        #expect(try await probe.ending().output == "")
    }

    @Test func `Adapters with serial numbers are identified by them`() async throws {
        try await testbed.plug(.ft232(serialNumber: "A50285BI"), at: "1-2", as: "ttyUSB0")
        try await testbed.plug(.ft232(serialNumber: "A9XY0001"), at: "1-3", as: "ttyUSB1")
        let probe = try await testbed.start("discovery-probe", "list")
        #expect(try await probe.output.line() == #"/dev/ttyUSB0 serialNumber("A50285BI")"#)
        #expect(try await probe.output.line() == #"/dev/ttyUSB1 serialNumber("A9XY0001")"#)
        #expect(try await probe.ending().output == "")
    }

    @Test func `A udev rule that keeps ModemManager off is found on the device and on the port`() async throws {
        try await testbed.plug(.ch340, at: "1-1", as: "ttyUSB0", rule: "device")
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB1", rule: "port")
        try await testbed.plug(.ch340, at: "1-3", as: "ttyUSB2")
        let probe = try await testbed.start("discovery-probe", "kept")
        #expect(try await probe.output.line() == "/dev/ttyUSB0 true")
        #expect(try await probe.output.line() == "/dev/ttyUSB1 true")
        #expect(try await probe.output.line() == "/dev/ttyUSB2 false")
        #expect(try await probe.ending().output == "")
    }

    @Test func `Ports without hardware are not listed, as in pyserial`() async throws {
        try await testbed.add("tty", "tty1", properties: ["DEVNAME": "/dev/tty1"])
        try await testbed.add("tty", "ptmx", properties: ["DEVNAME": "/dev/ptmx"])
        // The kernel offers some ports without hardware. The type of their UART is 0; 4 is a 16550A.
        let platform = try await testbed.add("platform", "serial8250")
        try await testbed.add("tty", "ttyS2", parent: platform, properties: ["DEVNAME": "/dev/ttyS2"])
        let uart = try await testbed.add("pnp", "00:04")
        try await testbed.add(
            "tty", "ttyS0", parent: uart, attributes: ["type": "4\n"], properties: ["DEVNAME": "/dev/ttyS0"])
        // The layout of Linux 6.5 and later.
        let base = try await testbed.add("serial-base", "serial8250:0.1", parent: platform)
        try await testbed.add(
            "tty", "ttyS1", parent: base, attributes: ["type": "0\n"], properties: ["DEVNAME": "/dev/ttyS1"])
        let soc = try await testbed.add("platform", "fe201000.serial")
        try await testbed.add(
            "tty", "ttyS3", parent: soc, attributes: ["type": "4\n"], properties: ["DEVNAME": "/dev/ttyS3"])
        let probe = try await testbed.start("discovery-probe", "list")
        #expect(try await probe.output.line() == #"/dev/ttyS0 node("/dev/ttyS0")"#)
        #expect(try await probe.output.line() == #"/dev/ttyS3 node("/dev/ttyS3")"#)
        #expect(try await probe.ending().output == "")
    }

    @Test func `A port is reported once per plugging, with one identity under any device name`() async throws {
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0")
        let probe = try await testbed.start("discovery-probe", "watch")
        #expect(try await probe.output.line() == "ready")
        try await probe.write("\n")
        #expect(try await probe.output.line() == #"+ /dev/ttyUSB0 physicalPath("1-2")"#)
        try await testbed.tellAgain(of: "ttyUSB0")
        try await testbed.unplug("ttyUSB0")
        #expect(try await probe.output.line() == #"- /dev/ttyUSB0 physicalPath("1-2")"#)
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB1")
        #expect(try await probe.output.line() == #"+ /dev/ttyUSB1 physicalPath("1-2")"#)
    }

    @Test func `A port plugged in between the monitor's start and its first scan is reported once`() async throws {
        let probe = try await testbed.start("discovery-probe", "watch")
        #expect(try await probe.output.line() == "ready")
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0")
        try await testbed.plug(.ch340, at: "1-3", as: "ttyUSB1")
        try await testbed.unplug("ttyUSB1")
        try await probe.write("\n")
        #expect(try await probe.output.line() == #"+ /dev/ttyUSB0 physicalPath("1-2")"#)
        try await testbed.unplug("ttyUSB0")
        #expect(try await probe.output.line() == #"- /dev/ttyUSB0 physicalPath("1-2")"#)
    }
}
