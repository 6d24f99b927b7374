import LineProtocol
import Testing

/// A pump to test, on a bench: a line to it, and hands for all that is wired to it.
///
/// Time stands still on a rig, but for what it takes to answer what comes over the line and for what is asked of it here.
/// So no test depends on the speed of the machine.
protocol PumpRig: Sendable {
    /// Opens a link to the pump.
    func link() async throws -> any Link

    /// Presses the button on the lid, and lets the firmware notice.
    func pressButton() async throws
    /// Brings the skin's thermistor to a temperature, in °C.
    func setSkin(_ celsius: Double) async throws
    /// Brings the water's thermistor to a temperature, in °C.
    func setWater(_ celsius: Double) async throws
    /// Turns the potentiometer to a reading, 0 to 1023.
    func setPotentiometer(_ reading: Int) async throws
    /// Lets the firmware live for so long.
    func run(for time: Duration) async throws
    /// Makes it so much later, and lets the firmware notice.
    func moveClock(by time: Duration) async throws
    /// Resets the board, and lets it start.
    func reset() async throws
    /// What the pump is driven with.
    func motor() async throws -> Motor
    /// Ends it.
    func stop() async
}

/// The pump's driver: D8 and D9.
struct Motor: Hashable, Sendable {
    var isEnabled: Bool
    /// 0 to 255.
    var duty: Int

    static let off = Motor(isEnabled: false, duty: 0)
    static func on(_ duty: Int) -> Motor { Motor(isEnabled: true, duty: duty) }
}

/// Which pump is on the bench.
struct RigKind: Hashable, Sendable, CaseIterable, CustomTestStringConvertible {
    enum Pump: String, Sendable {
        /// The simulator, in this process.
        case simulator
        /// The simulator behind an HM-10, over BLE by way of a fake bluetoothd.
        case module
        /// Our firmware, compiled for the ATmega328P, in simavr.
        case firmware
        /// Our firmware, built to behave as the devices in the field do.
        case fieldFirmware
    }

    var pump: Pump
    var thermistors: Int
    /// By which way the pump is reached that is shared; nil where it is had for oneself.
    var share: DeviceShare.Way?

    /// Each pump once. The firmware with the other number of thermistors is verified in simulated time: see `LockstepTests`.
    static let allCases = [
        RigKind(pump: .simulator, thermistors: 1), RigKind(pump: .module, thermistors: 2),
        RigKind(pump: .firmware, thermistors: 2), RigKind(pump: .fieldFirmware, thermistors: 1),
    ]

    /// Pumps that are shared, by each way, and one that is behind an HM-10.
    static let sharedCases = [
        RigKind(pump: .simulator, thermistors: 2, share: .unix),
        RigKind(pump: .module, thermistors: 2, share: .terminal),
        RigKind(pump: .firmware, thermistors: 2, share: .tcp),
        RigKind(pump: .fieldFirmware, thermistors: 1, share: .terminal),
    ]

    var testDescription: String {
        "\(pump.rawValue) with \(thermistors == 1 ? "one thermistor" : "two thermistors")"
            + (share.map { ", shared by \($0.rawValue)" } ?? "")
    }

    /// Temperatures that the pump starts at, in °C.
    static let water = 12.0
    static let skin = 34.0
    /// Where the knob stands at the start: at the speed that ON starts at, so that it changes none.
    static let potentiometer = 716

    /// Puts the pump on the bench. Where it can't be had the test is skipped.
    func start() async throws -> any PumpRig {
        let rig = try await ownRig()
        guard let share else { return rig }
        return try await SharedRig(rig, by: share)
    }

    private func ownRig() async throws -> any PumpRig {
        switch pump {
        case .simulator: return try await SimulatedRig(thermistors: thermistors)
        case .module: return try await SimulatedRig(thermistors: thermistors, isBehindModule: true)
        case .firmware, .fieldFirmware:
            if let reason = FirmwareBuild.reasonToSkip { try Test.cancel(Comment(rawValue: reason)) }
            return try await FirmwareRig(thermistors: thermistors, isField: pump == .fieldFirmware)
        }
    }

    /// Runs `body` with the pump on the bench, and clears the bench.
    func run(_ body: (any PumpRig) async throws -> Void) async throws {
        let rig = try await start()
        do {
            try await body(rig)
        } catch {
            await rig.stop()
            throw error
        }
        await rig.stop()
    }
}
