import BlueZ
import DeviceKit
import DeviceTestKit
import TestSupport
import Testing
import Transports

@Suite struct OpeningWatchTests {
    private let clock = ManualClock()
    private let told = Watched<[BLEOpeningStep?]>([])
    private let watch: OpeningWatch

    init() {
        let told = told
        watch = OpeningWatch(clock: clock) { step in told.update { $0.append(step) } }
    }

    @Test func `A short opening is not reported`() async {
        watch.begin(.searching)
        await clock.untilSomebodySleeps(until: .seconds(1))
        watch.end()
        #expect(clock.deadlines.isEmpty)
        // A step that begins too late starts the timer again, but is not reported.
        watch.begin(.searching)
        await clock.untilSomebodySleeps(until: .seconds(1))
        clock.advance(by: .seconds(1))
        await settle()
        #expect(told.state == [])
    }

    @Test func `A long opening is reported with each step and its end, once`() async throws {
        let address = try #require(BluetoothAddress("00:15:83:00:00:10"))
        watch.begin(.searching)
        await clock.untilSomebodySleeps(until: .seconds(1))
        clock.advance(by: .seconds(1))
        _ = try await told.wait(for: "a step") { $0 == [.searching] ? true : nil }
        watch.begin(.connecting(address))
        #expect(told.state == [.searching, .connecting(address)])
        watch.end()
        watch.end()
        watch.begin(.searching)
        #expect(told.state == [.searching, .connecting(address), nil])
    }

    @Test func `The form of an endpoint determines the carrier`() throws {
        let carriers: [(String, Carrier)] = [
            ("/dev/ttyUSB0", .cable), ("usb:1a86:7523", .cable), ("ble:HMSoft", .radio), ("tcp:bench:4000", .network),
            ("unix:/run/pump.sock", .network), ("sim:pump", .simulation),
        ]
        for (text, carrier) in carriers { #expect(try Endpoint(text).carrier == carrier) }
    }
}
