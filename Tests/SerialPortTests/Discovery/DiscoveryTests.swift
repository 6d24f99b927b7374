import Glibc
import TestSupport
import Testing

@testable import SerialPort

@Suite struct DiscoveryTests {
    @Test(.enabled(if: geteuid() == 0, "Only root may hide a library"))
    func `A missing libudev is reported with the package to install`() async throws {
        let script = """
            for library in $(find -L /lib /usr/lib -name 'libudev.so.1' 2>/dev/null); do mount --bind /dev/null $library; done
            export SWIFT_BACKTRACE=enable=no
            exec "$0" list
            """
        let path = Executable.path(of: "discovery-probe")
        let ending = try await ChildProcess(["unshare", "--mount", "sh", "-ec", script, path]).ending()
        #expect(ending.status != 0)
        #expect(ending.errors.contains("install libudev1"), "\(ending.errors)")
    }

    @Test(arguments: [("1a86:7523", "1a86:7523"), ("1A86:7523", "1a86:7523"), ("403:6001", "0403:6001")])
    func `A VID:PID is read in either case and written as lsusb does`(text: String, written: String) {
        #expect(USBIdentifier(text)?.description == written)
    }

    @Test(arguments: [
        "", "1a86", "1a86:", ":7523", "1a86:7523:1", "1a86:75231", "+a86:7523", "1a86 :7523", "0x1a86:7523",
    ])
    func `Text that is no VID:PID is refused`(text: String) {
        #expect(USBIdentifier(text) == nil)
    }

    @Test(arguments: [
        ("1a86:7523", "CH340 (Arduino Nano clone)"), ("0403:6001", "FT232R (Arduino Nano)"),
        ("2341:0043", "Arduino Uno"),
        ("2341:ffff", "Arduino"), ("303a:1001", "ESP32-S3 (native USB of S3, C3, C6 and H2)"), ("067b:2303", "PL2303"),
    ])
    func `A board is guessed by VID:PID, or by a vendor that makes only boards`(text: String, board: String)
        throws
    {
        #expect(try Board(usb: #require(USBIdentifier(text)))?.description == board)
    }

    @Test func `An unknown VID:PID names no board`() throws {
        #expect(try Board(usb: #require(USBIdentifier("1a86:ffff"))) == nil)
    }

    @Test func `The board table has no VID:PID twice`() {
        let identifiers = BoardTable.products.map { USBIdentifier(vendor: $0.0, product: $0.1) }
        #expect(Set(identifiers).count == identifiers.count)
    }

    @Test func `Ports are sorted by number`() {
        let paths = ["/dev/ttyUSB10", "/dev/ttyUSB2", "/dev/ttyACM3", "/dev/ttyUSB", "/dev/rfcomm0"]
        let sorted = paths.map { SerialPortInfo(path: $0) }.sorted { $0.precedes($1) }.map(\.path)
        #expect(sorted == ["/dev/rfcomm0", "/dev/ttyACM3", "/dev/ttyUSB", "/dev/ttyUSB2", "/dev/ttyUSB10"])
    }

    @Test func `Links are sorted by udev folder`() {
        var port = SerialPortInfo(path: "/dev/ttyUSB0")
        port.links = ["/dev/pump", "/dev/serial/by-id/usb-1a86", "/dev/serial/by-path/pci-0"]
        #expect(port.byIDLinks == ["/dev/serial/by-id/usb-1a86"])
        #expect(port.byPathLinks == ["/dev/serial/by-path/pci-0"])
    }
}

@Suite struct PortIdentityTests {
    @Test func `A device with a serial number keeps its identity in another USB socket`() {
        let port = SerialPortInfo.usb("0403:6001", at: "1-2", serialNumber: "A50285BI")
        #expect(port.identity.matches(.usb("0403:6001", at: "1-3", serialNumber: "A50285BI", path: "/dev/ttyUSB1")))
        #expect(!port.identity.matches(.usb("0403:6001", at: "1-2", serialNumber: "A50285BJ")))
        #expect(!port.identity.matches(.usb("0403:6001", at: "1-2")))
    }

    // 0001 is the factory default of a CP210x, which makers of cheap modules leave unchanged.
    @Test(arguments: [nil, "", "0001"])
    func `A device without a serial number of its own is identified by its USB socket`(serialNumber: String?) {
        let port = SerialPortInfo.usb("10c4:ea60", at: "1-2", serialNumber: serialNumber)
        #expect(port.identity.distinction == .physicalPath("1-2"))
        #expect(port.identity.matches(.usb("10c4:ea60", at: "1-2", serialNumber: serialNumber, path: "/dev/ttyUSB7")))
        #expect(!port.identity.matches(.usb("10c4:ea60", at: "1-3", serialNumber: serialNumber)))
    }

    @Test func `A different device in the same USB socket has another identity`() {
        let port = SerialPortInfo.usb("1a86:7523", at: "1-2")
        #expect(!port.identity.matches(.usb("067b:2303", at: "1-2")))
    }

    @Test func `The ports of one multi-port device have separate identities`() {
        let ports = [0, 1].map { SerialPortInfo.usb("0403:6010", at: "1-2", serialNumber: "FT1", interface: $0) }
        #expect(!ports[0].identity.matches(ports[1]))
    }

    @Test func `A port that is not USB is identified by its node`() {
        let port = SerialPortInfo(path: "/dev/ttyS0")
        #expect(port.identity.matches(port))
        #expect(!port.identity.matches(SerialPortInfo(path: "/dev/ttyS1")))
    }
}

@Suite struct PortLedgerTests {
    let port = SerialPortInfo.usb("1a86:7523", at: "1-2")
    let other = SerialPortInfo.usb("1a86:7523", at: "1-3", path: "/dev/ttyUSB1")

    @Test func `A port that is reported twice is attached once`() {
        var ledger = PortLedger()
        #expect(ledger.replaceAll(["/sys/a": port]) == [.attached(port)])
        #expect(ledger.add(port, at: "/sys/a") == nil)
        #expect(ledger.present == [port])
    }

    @Test func `A detached port is reported with its last known properties`() {
        var ledger = PortLedger()
        var linked = port
        linked.links = ["/dev/pump"]
        #expect(ledger.add(port, at: "/sys/a") == .attached(port))
        #expect(ledger.add(linked, at: "/sys/a") == nil)
        #expect(ledger.remove(at: "/sys/a") == .detached(linked))
    }

    @Test func `A half-removed port keeps its known properties`() {
        var ledger = PortLedger()
        #expect(ledger.add(port, at: "/sys/a") == .attached(port))
        #expect(ledger.add(SerialPortInfo(path: port.path), at: "/sys/a") == nil)
        #expect(ledger.remove(at: "/sys/a") == .detached(port))
    }

    @Test func `An unknown port cannot be detached`() {
        var ledger = PortLedger()
        #expect(ledger.remove(at: "/sys/a") == nil)
    }

    @Test func `Lost events are made up for by the next full scan`() {
        var ledger = PortLedger()
        _ = ledger.replaceAll(["/sys/a": port])
        #expect(ledger.replaceAll(["/sys/b": other]) == [.detached(port), .attached(other)])
        #expect(ledger.replaceAll(["/sys/b": other]) == [])
    }
}

extension SerialPortInfo {
    /// A port of a USB device.
    static func usb(
        _ identifier: String, at physicalPath: String, serialNumber: String? = nil, interface: Int? = nil,
        path: String = "/dev/ttyUSB0"
    ) -> SerialPortInfo {
        var port = SerialPortInfo(path: path)
        port.usb = USBIdentifier(identifier).map { USB($0, physicalPath: physicalPath) }
        port.usb?.serialNumber = serialNumber
        port.usb?.interfaceNumber = interface
        return port
    }
}
