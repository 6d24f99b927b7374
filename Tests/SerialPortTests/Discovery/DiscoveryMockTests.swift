import CSerial
import Glibc
import Testing

@testable import SerialPort

/// What programs find on devices that umockdev stands for.
@Suite(.enabled(if: MockTestbed.isAvailable, MockTestbed.needed))
struct DiscoveryMockTests {
    let testbed: MockTestbed

    init() throws {
        testbed = try MockTestbed()
    }

    @Test func `Two devices of one kind are told apart by where they are`() throws {
        try testbed.plug(.ch340, at: "1-2.3", as: "ttyUSB0")
        try testbed.plug(.ch340, at: "1-2.4", as: "ttyUSB1")
        let probe = try testbed.start("discovery-probe", "list")
        #expect(probe.line() == #"/dev/ttyUSB0 physicalPath("1-2.3")"#)
        #expect(probe.line() == #"/dev/ttyUSB1 physicalPath("1-2.4")"#)
        #expect(probe.line() == nil)
    }

    @Test func `Devices with serial numbers are told apart by them`() throws {
        try testbed.plug(.ft232(serialNumber: "A50285BI"), at: "1-2", as: "ttyUSB0")
        try testbed.plug(.ft232(serialNumber: "A9XY0001"), at: "1-3", as: "ttyUSB1")
        let probe = try testbed.start("discovery-probe", "list")
        #expect(probe.line() == #"/dev/ttyUSB0 serialNumber("A50285BI")"#)
        #expect(probe.line() == #"/dev/ttyUSB1 serialNumber("A9XY0001")"#)
        #expect(probe.line() == nil)
    }

    @Test func `A rule that keeps ModemManager off is seen, at the device or at the port`() throws {
        try testbed.plug(.ch340, at: "1-1", as: "ttyUSB0", rule: "device")
        try testbed.plug(.ch340, at: "1-2", as: "ttyUSB1", rule: "port")
        try testbed.plug(.ch340, at: "1-3", as: "ttyUSB2")
        let probe = try testbed.start("discovery-probe", "kept")
        #expect(probe.line() == "/dev/ttyUSB0 true")
        #expect(probe.line() == "/dev/ttyUSB1 true")
        #expect(probe.line() == "/dev/ttyUSB2 false")
        #expect(probe.line() == nil)
    }

    @Test func `Ports without hardware are left out, as pyserial does`() throws {
        try testbed.add("tty", "tty1", properties: ["DEVNAME": "/dev/tty1"])
        try testbed.add("tty", "ptmx", properties: ["DEVNAME": "/dev/ptmx"])
        let platform = try testbed.add("platform", "serial8250")
        try testbed.add("tty", "ttyS2", parent: platform, properties: ["DEVNAME": "/dev/ttyS2"])
        let uart = try testbed.add("pnp", "00:04")
        try testbed.add(
            "tty", "ttyS0", parent: uart, attributes: ["type": "4\n"], properties: ["DEVNAME": "/dev/ttyS0"])
        // As Linux 6.5 and later have it.
        let base = try testbed.add("serial-base", "serial8250:0.1", parent: platform)
        try testbed.add(
            "tty", "ttyS1", parent: base, attributes: ["type": "0\n"], properties: ["DEVNAME": "/dev/ttyS1"])
        let soc = try testbed.add("platform", "fe201000.serial")
        try testbed.add(
            "tty", "ttyS3", parent: soc, attributes: ["type": "4\n"], properties: ["DEVNAME": "/dev/ttyS3"])
        let probe = try testbed.start("discovery-probe", "list")
        #expect(probe.line() == #"/dev/ttyS0 node("/dev/ttyS0")"#)
        #expect(probe.line() == #"/dev/ttyS3 node("/dev/ttyS3")"#)
        #expect(probe.line() == nil)
    }

    @Test func `A port that comes and goes is told once each time, and is the same under another name`() throws {
        try testbed.plug(.ch340, at: "1-2", as: "ttyUSB0")
        let probe = try testbed.start("discovery-probe", "watch")
        #expect(probe.line() == "ready")
        probe.send("")
        #expect(probe.line() == #"+ /dev/ttyUSB0 physicalPath("1-2")"#)
        try testbed.tellAgain(of: "ttyUSB0")
        try testbed.unplug("ttyUSB0")
        #expect(probe.line() == #"- /dev/ttyUSB0 physicalPath("1-2")"#)
        try testbed.plug(.ch340, at: "1-2", as: "ttyUSB1")
        #expect(probe.line() == #"+ /dev/ttyUSB1 physicalPath("1-2")"#)
    }

    @Test func `A port that comes between the monitor's beginning and its first look is told once`() throws {
        let probe = try testbed.start("discovery-probe", "watch")
        #expect(probe.line() == "ready")
        try testbed.plug(.ch340, at: "1-2", as: "ttyUSB0")
        try testbed.plug(.ch340, at: "1-3", as: "ttyUSB1")
        try testbed.unplug("ttyUSB1")
        probe.send("")
        #expect(probe.line() == #"+ /dev/ttyUSB0 physicalPath("1-2")"#)
        try testbed.unplug("ttyUSB0")
        #expect(probe.line() == #"- /dev/ttyUSB0 physicalPath("1-2")"#)
    }
}
