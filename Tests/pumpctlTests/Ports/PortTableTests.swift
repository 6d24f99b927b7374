import DeviceKit
import SerialPort
import Terminal
import Testing

@testable import pumpctl

@Suite("Table of serial ports")
struct PortTableTests {
    @Test("No line is wider than the terminal, and the port is never cut", arguments: [200, 80, 60, 40, 30, 20])
    func width(_ width: Int) throws {
        var port = SerialPortInfo(path: "/dev/ttyUSB0")
        port.usb = SerialPortInfo.USB(
            try #require(USBIdentifier("1a86:7523")), physicalPath: "pci-0000:00:14.0-usb-0:1.2:1.0")
        port.driver = "ch341-uart"
        let text = PortTable.text([SeenPort(port, Daemons())], width: width)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { String($0).columns <= width }, "\(text)")
        #expect(lines.last?.hasPrefix("/dev/ttyUSB0") == true)
        #expect(text.contains("1a86:7523") == (width > 40), "\(text)")
    }
}
