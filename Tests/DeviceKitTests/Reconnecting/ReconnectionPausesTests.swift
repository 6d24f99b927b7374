import Testing
import Transports

@testable import DeviceKit

@Suite("Pauses between reconnection attempts") struct ReconnectionPausesTests {
    @Test func `Pauses grow for a BLE device, as each attempt scans`() throws {
        var pauses = ReconnectionPauses(try Endpoint("ble:HMSoft"))
        #expect((0..<6).map { _ in pauses.next() } == [1, 2, 4, 8, 8, 8].map { .seconds($0) })
    }

    @Test(arguments: ["/dev/ttyUSB0", "tcp:bench:4000", "usb:1a86:7523"])
    func `Pauses stay the same for other endpoints`(text: String) throws {
        var pauses = ReconnectionPauses(try Endpoint(text))
        #expect((0..<3).map { _ in pauses.next() } == [1, 1, 1].map { .seconds($0) })
    }
}
