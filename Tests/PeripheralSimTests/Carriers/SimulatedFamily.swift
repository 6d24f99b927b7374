import FirmwareSim
import PeripheralSim

/// A kind of device for tests of control verbs. Before its first command, such a device sends nothing for a minute,
/// except for a peer's greeting.
enum SimulatedFamily: String, CaseIterable, CustomStringConvertible {
    case pump, storm, led, peer, rescue, module

    var description: String { rawValue }

    /// The size of a peer's image.
    static let imageByteCount = 128

    /// The device's verbs. In place of `set`, there is `set` with each option.
    func verbs(over carrier: Carrier) -> [String] {
        switch self {
        case .pump: carrier == .terminal ? Self.verbs(pump) : Self.verbs(HM10Module(pump))
        case .storm: carrier == .terminal ? Self.verbs(StormFirmware()) : Self.verbs(StormPeripheral())
        case .led: carrier == .terminal ? Self.verbs(LEDFirmware()) : Self.verbs(LEDPeripheral())
        case .peer: carrier == .terminal ? Self.verbs(PeerFirmware()) : Self.verbs(PeerPeripheral())
        case .rescue: carrier == .terminal ? Self.verbs(RescueFirmware()) : Self.verbs(RescuePeripheral())
        case .module: SimulatedModule(dialect: "cc41-a").map { Self.verbs($0) } ?? []
        }
    }

    private static func verbs<Device: SimulatedDevice>(_ device: Device) -> [String] {
        let verbs = DeviceHost(FaultyDevice(device), pace: .onDemand).handle.verbs
        return verbs.filter { $0 != "set" } + Device.settings.map { "set \($0.option.name)" }
    }

    /// Serves such a device to `body`.
    func serve(over carrier: Carrier, _ body: (CarriedDevice) async throws -> Void) async throws {
        switch carrier {
        case .terminal: try await serveOnTerminal(body)
        case .radio: try await serveOnRadio(body)
        }
    }

    private var pump: PumpFirmware {
        PumpFirmware(options: PumpFirmwareOptions(heat: .fixed(water: 12, skin: 34.5), potentiometer: 716))
    }
    private var storm: StormFirmwareOptions { StormFirmwareOptions(rows: 2) }
    private var peer: PeerFirmwareOptions { PeerFirmwareOptions(imageByteCount: Self.imageByteCount) }
    private var rescue: RescueFirmwareOptions { RescueFirmwareOptions(messages: 2, interval: .seconds(60)) }

    private func serveOnTerminal(_ body: (CarriedDevice) async throws -> Void) async throws {
        switch self {
        case .pump: try await CarriedDevice.onTerminal(FaultyDevice(pump), body)
        case .storm: try await CarriedDevice.onTerminal(FaultyDevice(StormFirmware(options: storm)), body)
        case .led: try await CarriedDevice.onTerminal(FaultyDevice(LEDFirmware()), body)
        case .peer: try await CarriedDevice.onTerminal(FaultyDevice(PeerFirmware(options: peer)), body)
        case .rescue: try await CarriedDevice.onTerminal(FaultyDevice(RescueFirmware(options: rescue)), body)
        case .module: try await CarriedDevice.onTerminal(FaultyDevice(try module), body)
        }
    }

    private func serveOnRadio(_ body: (CarriedDevice) async throws -> Void) async throws {
        switch self {
        case .pump: try await CarriedDevice.onRadio(FaultyDevice(HM10Module(pump)), profile, body)
        case .storm: try await CarriedDevice.onRadio(FaultyDevice(StormPeripheral(options: storm)), profile, body)
        case .led: try await CarriedDevice.onRadio(FaultyDevice(LEDPeripheral()), profile, body)
        case .peer: try await CarriedDevice.onRadio(FaultyDevice(PeerPeripheral(peer)), profile, body)
        case .rescue: try await CarriedDevice.onRadio(FaultyDevice(RescuePeripheral(rescue)), profile, body)
        case .module:
            let settings = try Simulator.module.settings([:], over: .radio)
            try await CarriedDevice.onRadio(
                try FaultyDevice(try module, settings, isOnTerminal: false), profile, body)
        }
    }

    /// The characteristics that a central uses.
    var profile: RadioClient.Profile {
        switch self {
        case .pump, .module: RadioClient.Profile(notifies: "FFE1", isWritten: "FFE1", type: "command")
        case .storm: RadioClient.Profile("BEB5483E-36E1-4688-B7F5-EA07361B26A8")
        case .led: RadioClient.Profile("957312E0-2354-11EB-9F10-FBC30A62CF38")
        case .peer:
            RadioClient.Profile(
                notifies: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E", isWritten: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E")
        case .rescue: RadioClient.Profile("FFF1")
        }
    }

    private struct NoSuchDialect: Error {}

    private var module: SimulatedModule {
        get throws {
            guard let module = SimulatedModule(dialect: "cc41-a", notifiesUART: true) else { throw NoSuchDialect() }
            return module
        }
    }
}
