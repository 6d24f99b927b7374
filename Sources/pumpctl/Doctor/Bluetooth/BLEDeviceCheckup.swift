import BlueZ
import DeviceKit
import LineProtocol
import Transports

/// The checks of one BLE device; none of them connects to it.
struct BLEDeviceCheckup {
    /// The endpoint that names it.
    let endpoint: String
    let target: BLEEndpoint.Target
    /// The devices in sight, the strongest first.
    let inSight: [ScannedDevice]
    /// Those that bluetoothd remembers.
    var remembered: [ScannedDevice] = []
    /// The programs that run, by their names.
    var programs: Set<String> = []
    /// The address that the name led to until now; nil where that is not known.
    var before: BluetoothAddress?

    var diagnoses: [Diagnosis] {
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

    private var absence: Diagnosis {
        let isKnown = target != .any && !matches(among: remembered).isEmpty
        let names = inSight.compactMap { $0.name?.printable() }.reduce(into: [String]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        let others = names.isEmpty ? "" : "; in sight: " + names.prefix(5).joined(separator: ", ")
        return .fail(
            "in_sight", port: endpoint, isKnown ? "known, and not in sight" : "not in sight",
            remedy: "check that it is switched on, near, and not connected to a phone" + others, exit: .noInput)
    }

    private func sight(of device: ScannedDevice) -> Diagnosis {
        let name = device.name.map { "\($0.printable()), " } ?? ""
        guard let rssi = device.rssi else {
            return .ok("in_sight", port: endpoint, "there: \(name)\(device.address), connected to this computer")
        }
        let text = "in sight: \(name)\(device.address), \(rssi) dBm"
        return rssi < -90
            ? .warn("in_sight", port: endpoint, text + ", which is weak", remedy: "move the device closer")
            : .ok("in_sight", port: endpoint, text)
    }

    private func twins(_ fitting: [ScannedDevice]) -> Diagnosis? {
        guard case .name = target, fitting.count > 1, let first = fitting.first else { return nil }
        let addresses = fitting.map(\.address.description).joined(separator: ", ")
        return .fail(
            "name", port: endpoint, "\(fitting.count) devices have that name: \(addresses); no command chooses one",
            remedy: "name it by its address: --port ble:\(first.address)", exit: .noInput)
    }

    private func change(to device: ScannedDevice) -> Diagnosis? {
        guard case .name(let name) = target, let before, before != device.address else { return nil }
        return .fail(
            "name", port: endpoint, "that name led to \(before) until now, and to \(device.address) now",
            remedy: "name it by its address: --port ble:\(device.address); where it has replaced the first: "
                + "pumpctl forget ble:\(name.printable())", exit: .noInput)
    }

    /// bluetoothd does not tell whose connection it is.
    private func connection(of device: ScannedDevice) -> Diagnosis {
        guard device.isConnected else {
            return .ok("connection", port: endpoint, "no program of this computer is connected to it")
        }
        let suspects = programs.intersection(["pumpctl", "bluetoothctl", "gatttool", "ble-serial"]).sorted()
        let whom = suspects.isEmpty ? "" : ", perhaps \(suspects.joined(separator: " or "))"
        return .warn(
            "connection", port: endpoint,
            "a program on this computer is connected to it\(whom), or one that crashed was; the connection is shared",
            remedy: "stop that program, or: bluetoothctl disconnect \(device.address)")
    }

    private func services(of device: ScannedDevice) -> Diagnosis {
        let list = ServiceName.list(device.services)
        return .ok("services", port: endpoint, list.isEmpty ? "advertises no services" : "offers \(list)")
    }

    private func kind(of device: ScannedDevice) -> Diagnosis {
        let profiles = GATTProfiles.families.all
        let profile = profiles.first { $0.services.contains(where: device.services.contains) }?.name ?? ""
        switch device.fit {
        case .sure(let family):
            return .ok("profile", port: endpoint, "of the family \(family), by the profile \(profile)")
        case .perhaps(let family):
            return .ok(
                "profile", port: endpoint, "perhaps of the family \(family): that shows when it is connected")
        case .none:
            return .warn(
                "profile", port: endpoint, "of no known kind: how to speak to it is guessed when it is connected",
                remedy: "name its kind: " + profiles.map { "?profile=\($0.name)" }.joined(separator: " "))
        }
    }
}
