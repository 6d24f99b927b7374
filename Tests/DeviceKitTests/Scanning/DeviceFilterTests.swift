import BlueZ
import Testing

@testable import DeviceKit

@Suite struct DeviceFilterTests {
    private func device(_ name: String?, _ rssi: Int?) throws -> ScannedDevice {
        ScannedDevice(try #require(BluetoothAddress("00:15:83:00:00:10")), name: name, rssi: rssi)
    }

    @Test(
        arguments: [
            (nil, true), ("HMSoft", true), ("Soft", true), ("HM*", true), ("*Soft", true), ("H*t", true), ("*", true),
            ("hmsoft", true), ("Soft*", false), ("*HM", false), ("Storm", false), ("Storm|HM*", false), ("", true),
        ] as [(String?, Bool)])
    func `A name filter matches a part or, with a wildcard, the whole name`(name: String?, passes: Bool) throws {
        #expect(DeviceFilter(name: name).passes(try device("HMSoft", nil)) == passes)
        #expect(DeviceFilter(name: name).passes(try device(nil, nil)) == (name == nil))
    }

    @Test func `A device without a signal strength passes no signal filter`() throws {
        let filter = DeviceFilter(leastRSSI: -70)
        for (rssi, passes) in [(-70, true), (-40, true), (-71, false), (nil, false)] as [(Int?, Bool)] {
            #expect(filter.passes(try device(nil, rssi)) == passes)
        }
    }
}
