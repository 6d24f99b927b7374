import LineProtocol
import SerialPort
import Testing

@testable import Transports

@Suite struct USBEndpointTests {
    @Test(arguments: [
        "usb:1a86:7523", "usb:0403:6001/A50285BI", "usb:1a86:7523@1-2.3", "usb:0403:6001/A50285BI@1-2.3:1.1",
        "usb:303a:1001/34:85:18:AA:BB:CC", "usb:1a86:7523/a/b@c@1-2",
    ])
    func `A USB endpoint keeps its spelling`(text: String) throws {
        #expect(try USBEndpoint(Endpoint(text)).description == text)
    }

    @Test(arguments: ["usb:1a86", "usb:1a86:", "usb:1a86:7523/", "usb:1a86:7523@", "usb:ttyUSB0", "usb:/A50285BI"])
    func `Text that is no USB endpoint is refused`(text: String) throws {
        let error = try #require(throws: LinkError.self) { try USBEndpoint(Endpoint(text)) }
        #expect(error.code == .invalidEndpoint && error.hint != nil)
    }

    @Test(arguments: [
        ("usb:1a86:7523@1-2", "/dev/ttyUSB0"), ("usb:1A86:7523@1-3", "/dev/ttyUSB1"),
        ("usb:0403:6001/A50285BI", "/dev/ttyUSB2"), ("usb:0403:6001/A50285BI@1-4", "/dev/ttyUSB2"),
        ("usb:0403:6010@1-5:1.1", "/dev/ttyUSB4"),
    ])
    func `A USB endpoint finds the one port that it names`(text: String, path: String) throws {
        let endpoint = try Endpoint(text)
        #expect(try USBEndpoint(endpoint).resolve(endpoint, among: Self.ports).path == path)
    }

    @Test(arguments: ["usb:067b:2303", "usb:1a86:7523@1-9", "usb:0403:6001/OTHER", "usb:0403:6001/A50285BI@1-2"])
    func `A USB endpoint without a match is refused with the available ports`(text: String) throws {
        let endpoint = try Endpoint(text)
        let error = try #require(throws: LinkError.self) {
            try USBEndpoint(endpoint).resolve(endpoint, among: Self.ports)
        }
        #expect(error.code == .notFound)
        #expect(error.hint?.contains("usb:1a86:7523@1-2 (/dev/ttyUSB0)") == true)
    }

    @Test func `An ambiguous USB endpoint is refused with the exact endpoint of each match`() throws {
        let endpoint = try Endpoint("usb:0403:6010")
        let error = try #require(throws: LinkError.self) {
            try USBEndpoint(endpoint).resolve(endpoint, among: Self.ports)
        }
        #expect(error.code == .ambiguous)
        #expect(error.detail == "usb:0403:6010@1-5:1.0 (/dev/ttyUSB3), usb:0403:6010@1-5:1.1 (/dev/ttyUSB4)")
        #expect(error.hint == "name one: usb:0403:6010@1-5:1.0")
    }

    @Test func `A port is named by its own serial number, else by its physical path`() {
        let names = Self.ports.map { USBEndpoint.naming($0, among: Self.ports)?.description }
        #expect(
            names == [
                "usb:1a86:7523@1-2", "usb:1a86:7523@1-3", "usb:0403:6001/A50285BI", "usb:0403:6010@1-5:1.0",
                "usb:0403:6010@1-5:1.1", nil,
            ])
    }

    /// Two CH340, one FT232, one FT2232 with its two ports, and one UART.
    private static let ports: [SerialPortInfo] = {
        let devices: [(String, String, String?, Int)] = [
            ("1a86:7523", "1-2", nil, 0), ("1a86:7523", "1-3", nil, 0), ("0403:6001", "1-4", "A50285BI", 0),
            ("0403:6010", "1-5", nil, 0), ("0403:6010", "1-5", nil, 1),
        ]
        let ports = devices.enumerated().map { number, device in
            var port = SerialPortInfo(path: "/dev/ttyUSB\(number)")
            port.usb = USBIdentifier(device.0).map { SerialPortInfo.USB($0, physicalPath: device.1) }
            port.usb?.serialNumber = device.2
            port.usb?.interfaceNumber = device.3
            return port
        }
        return ports + [SerialPortInfo(path: "/dev/ttyS0")]
    }()
}
