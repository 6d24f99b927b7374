import DeviceKit
import LineProtocol
import SerialPort
import Testing
import Transports

@Suite("The serial port of a program whose user names none")
struct PortChoiceTests {
    private static func port(_ path: String, isUSB: Bool = true) -> SerialPortInfo {
        var port = SerialPortInfo(path: path)
        if isUSB {
            port.usb = .init(USBIdentifier(vendor: 0x1A86, product: 0x7523), physicalPath: "1-\(path.suffix(1))")
        }
        return port
    }

    @Test("It is the only one of a USB device")
    func one() throws {
        let ports = [Self.port("/dev/ttyS0", isUSB: false), Self.port("/dev/ttyUSB1")]
        #expect(try PortChoice.plausible(among: ports).path == "/dev/ttyUSB1")
    }

    @Test("Where there is none, the others are named")
    func none() {
        let error = #expect(throws: PortChoiceError.self) {
            try PortChoice.plausible(among: [Self.port("/dev/ttyS0", isUSB: false)])
        }
        #expect(error?.code == .notFound)
        #expect(error?.ports.map(\.path) == ["/dev/ttyS0"])
    }

    @Test("Where there are several, none is taken, and they are named")
    func several() {
        let ports = ["/dev/ttyUSB0", "/dev/ttyUSB1"].map { Self.port($0) } + [Self.port("/dev/ttyS0", isUSB: false)]
        let error = #expect(throws: PortChoiceError.self) { try PortChoice.plausible(among: ports) }
        #expect(error?.code == .ambiguous)
        #expect(error?.ports.map(\.path) == ["/dev/ttyUSB0", "/dev/ttyUSB1"])
    }

    @Test("An endpoint that a program was asked for counts before all others")
    func asked() throws {
        #expect(try PortChoice.named("ble:HMSoft") == "ble:HMSoft")
        #expect(try PortChoice.endpoint("ble:HMSoft").scheme == "ble")
        #expect(throws: LinkError.self) { try PortChoice.endpoint("") }
    }

    @Test("A port in a sentence has what names it, where something does")
    func phrase() {
        let ports = [Self.port("/dev/ttyS0", isUSB: false), Self.port("/dev/ttyUSB1")]
        #expect(ports[0].phrase(among: ports) == "/dev/ttyS0")
        #expect(ports[1].phrase(among: ports).hasPrefix("/dev/ttyUSB1 ("))
        #expect(ports[1].phrase(among: ports).hasSuffix("usb:1a86:7523@1-1)"))
    }
}
