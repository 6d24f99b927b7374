import DeviceKit
import LineProtocol

/// The pump of another rig, shared by a ``DeviceShare``. Links lead to the share; all other methods act on that rig.
final class SharedRig: PumpRig {
    private let rig: any PumpRig
    private let share: DeviceShare

    init(_ rig: any PumpRig, by way: DeviceShare.Way) async throws {
        self.rig = rig
        share = try await DeviceShare(.pump, by: way) { try await rig.link() }
    }

    func link() async throws -> any Link { try await share.link() }

    func stop() async {
        await share.close()
        await rig.stop()
    }

    // MARK: Actions

    func pressButton() async throws { try await rig.pressButton() }

    func setSkin(_ celsius: Double) async throws { try await rig.setSkin(celsius) }

    func setWater(_ celsius: Double) async throws { try await rig.setWater(celsius) }

    func setPotentiometer(_ reading: Int) async throws { try await rig.setPotentiometer(reading) }

    func run(for time: Duration) async throws { try await rig.run(for: time) }

    func moveClock(by time: Duration) async throws { try await rig.moveClock(by: time) }

    func reset() async throws { try await rig.reset() }

    func motor() async throws -> Motor { try await rig.motor() }
}
