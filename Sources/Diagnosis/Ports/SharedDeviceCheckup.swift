internal import DeviceKit
internal import LineProtocol
internal import Transports

/// The checks of a device that a daemon shares.
struct SharedDeviceCheckup {
    /// The name of the device in the daemon, as given by the user.
    let name: String
    let daemons: Daemons

    private var device: DaemonDevice? { daemons.devices.first { $0.name == name } }

    /// The endpoint at which the daemon has the device; nil if no daemon has a device of this name.
    var place: Endpoint? { device.flatMap { try? Endpoint($0.endpoint) } }

    var findings: [Finding] { [finding] }

    private var finding: Finding {
        guard let device else { return unknownDevice }
        let subject = device.sharedEndpoint
        let place = "a device of the family \(device.family) at \(device.endpoint)"
        guard device.isUp else {
            return .bad(
                .daemon, of: subject, "pumpctld waits for \(place)", "plug the device in, or switch it on", .notFound)
        }
        return .good(.daemon, of: subject, "pumpctld has \(place)")
    }

    private var unknownDevice: Finding {
        let subject = "shared:\(name)"
        if daemons.devices.isEmpty, let hint = daemons.permissionHint {
            return .bad(
                .daemon, of: subject, "you have no permission to use pumpctld",
                .joining(daemons.joinableGroup, hint), .notPermitted)
        }
        let known = daemons.devices.map(\.sharedEndpoint).joined(separator: ", ")
        return known.isEmpty
            ? .bad(
                .daemon, of: subject, "no pumpctld with a device runs here",
                "start pumpctld, or use the endpoint of the device itself, such as /dev/ttyUSB0", .unavailable)
            : .bad(
                .daemon, of: subject, "pumpctld has no device of that name", .advice("name one that it has: \(known)"),
                .notFound)
    }
}

extension Daemons {
    /// The findings for daemons whose program is of another version than this one, as after an upgrade that leaves a
    /// running daemon alone.
    func versionFindings(ownVersion: String) -> [Finding] {
        programVersions.subtracting([ownVersion]).sorted().map { version in
            // The command is only advice, and `doctor --fix` does not offer to run it: the new daemon opens the ports
            // again, which resets a board whose port is used with `hupcl=on`. A reset stops the pump.
            .warning(
                .daemon, "pumpctld is of version \(version), pumpctl of \(ownVersion)",
                "restart it when no pump runs: sudo systemctl restart pumpctld")
        }
    }
}
