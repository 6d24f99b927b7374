import DeviceKit
import LineProtocol
import SerialPort
import Testing
import Transports

@Suite("The default serial port")
struct PortChoiceTests {
    private static func port(_ path: String, isUSB: Bool = true) -> SerialPortInfo {
        var port = SerialPortInfo(path: path)
        if isUSB {
            port.usb = .init(USBIdentifier(vendor: 0x1A86, product: 0x7523), physicalPath: "1-\(path.suffix(1))")
        }
        return port
    }

    @Test("The only USB serial port is chosen")
    func one() throws {
        let ports = [Self.port("/dev/ttyS0", isUSB: false), Self.port("/dev/ttyUSB1")]
        #expect(try PortChoice.plausible(among: ports).path == "/dev/ttyUSB1")
    }

    @Test("If there is no USB port, the error lists the other ports")
    func none() {
        let error = #expect(throws: PortChoiceError.self) {
            try PortChoice.plausible(among: [Self.port("/dev/ttyS0", isUSB: false)])
        }
        #expect(error?.code == .notFound)
        #expect(error?.ports.map(\.path) == ["/dev/ttyS0"])
    }

    @Test("If there are several USB ports, none is chosen and the error lists them")
    func several() {
        let ports = ["/dev/ttyUSB0", "/dev/ttyUSB1"].map { Self.port($0) } + [Self.port("/dev/ttyS0", isUSB: false)]
        let error = #expect(throws: PortChoiceError.self) { try PortChoice.plausible(among: ports) }
        #expect(error?.code == .ambiguous)
        #expect(error?.ports.map(\.path) == ["/dev/ttyUSB0", "/dev/ttyUSB1"])
    }

    @Test("A named endpoint takes precedence")
    func asked() throws {
        #expect(try PortChoice.named("ble:HMSoft") == "ble:HMSoft")
        #expect(try PortChoice.endpoint("ble:HMSoft").scheme == "ble")
        #expect(throws: LinkError.self) { try PortChoice.endpoint("") }
    }

    @Test("A port is described with its USB identity, if there is one")
    func phrase() {
        let ports = [Self.port("/dev/ttyS0", isUSB: false), Self.port("/dev/ttyUSB1")]
        #expect(ports[0].phrase(among: ports) == "/dev/ttyS0")
        #expect(ports[1].phrase(among: ports).hasPrefix("/dev/ttyUSB1 ("))
        #expect(ports[1].phrase(among: ports).hasSuffix("usb:1a86:7523@1-1)"))
    }
}
