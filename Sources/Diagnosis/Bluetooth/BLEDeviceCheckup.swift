internal import BlueZ
internal import DeviceKit
internal import LineProtocol
internal import Transports

/// The checks of a BLE device. None of them connects to the device.
struct BLEDeviceCheckup {
    /// The text of the device's endpoint.
    let endpoint: String
    let target: BLEEndpoint.Target
    /// The devices in range, strongest signal first.
    let inSight: [ScannedDevice]
    /// The devices that bluetoothd remembers.
    var remembered: [ScannedDevice] = []
    /// The known GATT profiles.
    var profiles = GATTProfiles.families
    /// The names of the running programs.
    var programs: Set<String> = []
    /// The address that was stored for the name; nil if unknown.
    var before: BluetoothAddress?

    var findings: [Finding] {
        let fitting = matches(among: inSight)
        guard let device = fitting.first else { return [absence] }
        return [
            sight(of: device), twins(fitting) ?? change(to: device), connection(of: device), services(of: device),
            kind(of: device),
        ]
        .compactMap { $0 }
    }

    private func matches(among devices: [ScannedDevice]) -> [ScannedDevice] {
        target.matches(among: devices, address: \.address, name: \.name)
    }

    private var absence: Finding {
        let isKnown = target != .any && !matches(among: remembered).isEmpty
        let names = inSight.compactMap { $0.name?.asWord }.reduce(into: [String]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        let others = names.isEmpty ? "" : "; in range: " + names.prefix(5).joined(separator: ", ")
        return .bad(
            .inSight, of: endpoint, isKnown ? "known, but not in range" : "not in range",
            "check that the device is switched on, near, and not connected to a phone\(others)", .notFound)
    }

    private func sight(of device: ScannedDevice) -> Finding {
        let name = device.name.map { "\($0.asWord), " } ?? ""
        guard let rssi = device.rssi else {
            return .good(.inSight, of: endpoint, "found: \(name)\(device.address), connected to this computer")
        }
        // The limit of -90 dBm for a weak signal is chosen, not measured.
        let text = "in range: \(name)\(device.address), \(rssi) dBm"
        return rssi < -90
            ? .warning(.inSight, of: endpoint, "\(text), a weak signal", "move the device closer")
            : .good(.inSight, of: endpoint, .text(text))
    }

    private func twins(_ fitting: [ScannedDevice]) -> Finding? {
        guard case .name = target, fitting.count > 1, let first = fitting.first else { return nil }
        let addresses = fitting.map(\.address.description).joined(separator: ", ")
        return .bad(
            .name, of: endpoint, "\(fitting.count) devices have this name: \(addresses)",
            .nameByAddress(first.address), .ambiguous)
    }

    private func change(to device: ScannedDevice) -> Finding? {
        guard case .name(let name) = target, let before, before != device.address else { return nil }
        return .bad(
            .name, of: endpoint, "the name resolved to \(before) before, and resolves to \(device.address) now",
            .nameByAddressOrForget(device.address, name: name), .changedDevice)
    }

    /// Returns the finding for the connection. bluetoothd does not report which program opened the connection.
    private func connection(of device: ScannedDevice) -> Finding {
        guard device.isConnected else {
            return .good(.connection, of: endpoint, "no program on this computer is connected to the device")
        }
        let suspects = programs.intersection(["pumpctl", "bluetoothctl", "gatttool", "ble-serial"]).sorted()
        let whom = suspects.isEmpty ? "" : ", perhaps \(suspects.joined(separator: " or "))"
        return .warning(
            .connection, of: endpoint,
            "this computer is connected to the device, through a running or crashed program\(whom); the connection is shared",
            "stop the program; if there is none: bluetoothctl disconnect \(device.address)")
    }

    private func services(of device: ScannedDevice) -> Finding {
        let list = ServiceName.list(device.services)
        return .good(.services, of: endpoint, list.isEmpty ? "advertises no services" : "offers \(list)")
    }

    private func kind(of device: ScannedDevice) -> Finding {
        let fit = device.fit
        guard let profile = fit.profile else {
            return .warning(
                .profile, of: endpoint, "unknown kind of device: the profile is guessed after connecting",
                .advice("name the profile: " + profiles.all.map { "?profile=\($0.name)" }.joined(separator: " ")))
        }
        if fit.isCertain {
            return .good(.profile, of: endpoint, "family \(fit), profile \(profile.name)")
        }
        return profile.isUnique
            ? .unknown(
                .profile, of: endpoint,
                "perhaps family \(profile.families.joined(separator: " or ")): known only after connecting")
            : .unknown(.profile, of: endpoint, "\(fit), profile \(profile.name)")
    }
}
