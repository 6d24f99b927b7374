import BlueZ
import Testing

@testable import pumpctl

@Suite("Exit statuses of bluetoothd's failures") struct BLEFailureTests {
    static let statuses: [(BLEError.Code, Int32)] = [
        (.notRunning, 69), (.noBus, 69), (.noAdapter, 66), (.adapterOff, 69), (.notFound, 66), (.busy, 69),
        (.notPermitted, 77),
        (.notPaired, 77), (.unsupported, 64), (.invalidArgument, 64), (.disconnected, 74), (.closed, 74),
        (.timedOut, 75), (.cancelled, 130), (.failed, 74), (.adapterFull, 69),
    ]

    @Test(arguments: statuses) func `Each error code has its exit status`(code: BLEError.Code, status: Int32) {
        #expect(Failure(BLEError(code, activity: "scanning")).status.rawValue == status)
    }

    @Test func `Every error code is covered`() {
        #expect(Set(Self.statuses.map(\.0)) == Set(BLEError.Code.allCases))
    }
}
