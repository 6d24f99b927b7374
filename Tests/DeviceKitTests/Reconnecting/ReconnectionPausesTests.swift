import Testing
import Transports

@testable import DeviceKit

@Suite("The pauses between attempts to open a link again") struct ReconnectionPausesTests {
    @Test func `Grow for a BLE device, of which each attempt scans`() throws {
        var pauses = ReconnectionPauses(try Endpoint("ble:HMSoft"))
        #expect((0..<6).map { _ in pauses.next() } == [1, 2, 4, 8, 8, 8].map { .seconds($0) })
    }

    @Test(arguments: ["/dev/ttyUSB0", "tcp:bench:4000", "usb:1a86:7523"])
    func `Stay the same where an attempt costs nothing`(text: String) throws {
        var pauses = ReconnectionPauses(try Endpoint(text))
        #expect((0..<3).map { _ in pauses.next() } == [1, 1, 1].map { .seconds($0) })
    }
}
