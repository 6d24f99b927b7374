import LineProtocol
import Testing

/// A pump under test on a bench: a line to it, and control of everything wired to it.
///
/// A rig's time advances only as far as the replies over the line and the methods of this protocol need, so no test
/// depends on the machine's speed.
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
    /// Runs the pump for this time.
    func run(for time: Duration) async throws
    /// Moves the firmware's clock forward, and lets the firmware notice. The simulator runs through the time; the
    /// firmware on the emulated chip skips it.
    func moveClock(by time: Duration) async throws
    /// Resets the board, and lets it start.
    func reset() async throws
    /// Returns the present signals to the motor's driver.
    func motor() async throws -> Motor
    /// Ends the pump and everything that belongs to the rig.
    func stop() async
}

/// The signals to the motor's driver.
struct Motor: Hashable, Sendable {
    /// The level of the Nano's pin D8.
    var isEnabled: Bool
    /// The PWM value of the Nano's pin D9, 0 to 255.
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

    /// Each pump once, shared. All kinds of share occur.
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

    /// The temperature of the water's thermistor at the start, in °C.
    static let water = 12.0
    /// The temperature of the skin's thermistor at the start, in °C.
    static let skin = 34.0
    /// The potentiometer's reading at the start: that of 180, the speed that ON sets.
    static let potentiometer = 716

    /// Starts a rig with this pump. Skips the test if the firmware can't be built here.
    func start() async throws -> any PumpRig {
        let rig = try await ownRig()
        guard let share else { return rig }
        return try await SharedRig(rig, by: share)
    }

    /// Starts the pump without a share.
    private func ownRig() async throws -> any PumpRig {
        switch pump {
        case .simulator: return try await SimulatedRig(thermistors: thermistors)
        case .module: return try await SimulatedRig(thermistors: thermistors, isBehindModule: true)
        case .firmware, .fieldFirmware:
            if let reason = FirmwareBuild.reasonToSkip { try Test.cancel(Comment(rawValue: reason)) }
            return try await FirmwareRig(thermistors: thermistors, isField: pump == .fieldFirmware)
        }
    }

    /// Calls `body` with a rig, and stops the rig afterwards. Skips the test if the firmware can't be built here.
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
