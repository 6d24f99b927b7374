import LineProtocol
import Testing

/// A pump under test on a bench: a line to it, and control of everything wired to it.
///
/// A rig's time advances only as far as replies over the line and requests here need. So no test depends on the
/// machine's speed.
protocol PumpRig: Sendable {
    /// Opens a link to the pump.
    func link() async throws -> any Link

    /// Presses the button on the lid, and lets the firmware notice.
    func pressButton() async throws
    /// Sets the temperature of the skin's thermistor, in °C.
    func setSkin(_ celsius: Double) async throws
    /// Sets the temperature of the water's thermistor, in °C.
    func setWater(_ celsius: Double) async throws
    /// Sets the potentiometer's reading, 0 to 1023.
    func setPotentiometer(_ reading: Int) async throws
    /// Runs the firmware for this time.
    func run(for time: Duration) async throws
    /// Moves the firmware's clock forward, and lets the firmware notice.
    func moveClock(by time: Duration) async throws
    /// Resets the board, and lets it start.
    func reset() async throws
    /// Returns the motor's setting.
    func motor() async throws -> Motor
    /// Ends the pump.
    func stop() async
}

/// The motor's driver: D8 and D9.
struct Motor: Hashable, Sendable {
    var isEnabled: Bool
    /// 0 to 255.
    var duty: Int

    static let off = Motor(isEnabled: false, duty: 0)
    static func on(_ duty: Int) -> Motor { Motor(isEnabled: true, duty: duty) }
}

/// The kind of pump on the bench.
struct RigKind: Hashable, Sendable, CaseIterable, CustomTestStringConvertible {
    enum Pump: String, Sendable {
        /// The simulator in this process.
        case simulator
        /// The simulator behind an HM-10, over BLE with a fake bluetoothd.
        case module
        /// Our firmware, compiled for the ATmega328P, in simavr.
        case firmware
        /// Our firmware, built to behave like the devices in the field.
        case fieldFirmware
    }

    var pump: Pump
    var thermistors: Int
    /// The kind of share by which the pump is reached; nil for a direct link.
    var share: DeviceShare.Way?

    /// Each pump once. The firmware with the other number of thermistors is verified in simulated time: see
    /// `LockstepTests`.
    static let allCases = [
        RigKind(pump: .simulator, thermistors: 1), RigKind(pump: .module, thermistors: 2),
        RigKind(pump: .firmware, thermistors: 2), RigKind(pump: .fieldFirmware, thermistors: 1),
    ]

    /// Shared pumps, one for each kind of share, and one behind an HM-10.
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

    /// The pump's temperatures at the start, in °C.
    static let water = 12.0
    static let skin = 34.0
    /// The knob's reading at the start, which equals ON's start speed and so changes no speed.
    static let potentiometer = 716

    /// Puts the pump on the bench. Skips the test if the pump is not available.
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

    /// Runs `body` with the pump on the bench, and cleans up.
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
