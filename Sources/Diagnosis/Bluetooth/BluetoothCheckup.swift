internal import BlueZ
internal import LineProtocol

/// The checks of Bluetooth on this computer.
struct BluetoothCheckup {
    let state: BluetoothState
    /// Whether the user wants a BLE device. If not, problems are only warnings: the device may be connected by a cable.
    let isNeeded: Bool
    /// The name or address of the requested adapter; nil for any.
    var adapter: String?

    var findings: [Finding] {
        let hasNothing = state.kernelAdapters.isEmpty && state.adapters.isEmpty && state.daemon != .running
        if !isNeeded && hasNothing {
            return [.good(.bluetooth, "no Bluetooth adapter; devices on a cable need none"), library]
        }
        return [library, daemon] + [version].compactMap { $0 } + blocks + adapters
            + [phones, channels].compactMap { $0 }
    }

    /// Returns a finding that is bad if Bluetooth is needed, otherwise a warning.
    private func problem(
        _ check: Check, of subject: String? = nil, _ fact: Fact, _ remedy: Remedy?, _ obstacle: LinkError.Code
    ) -> Finding {
        isNeeded ? .bad(check, of: subject, fact, remedy, obstacle) : .warning(check, of: subject, fact, remedy)
    }

    private var library: Finding {
        .good(.libdbus, "libdbus \(state.libraryVersion) is \(state.libraryPath ?? "linked in")")
    }

    private var daemon: Finding {
        switch state.daemon {
        case .running: .good(.bluetoothd, "bluetoothd runs")
        case .notRunning:
            problem(
                .bluetoothd, "bluetoothd is not running", .run(RootCommand("systemctl", "start", "bluetooth")),
                .unavailable)
        case .notInstalled:
            problem(
                .bluetoothd, "bluetoothd is not running: it is not installed",
                .run(RootCommand("apt", "install", "bluez")), .unavailable)
        case .noBus(let reason):
            problem(.bluetoothd, .text(reason), .leaveContainer(orGiveIt: "/run/dbus"), .unavailable)
        case .refuses(let reason, let remedy, let code):
            problem(.bluetoothd, "bluetoothd can't be used: \(reason)", remedy, code)
        }
    }

    private var version: Finding? {
        guard let version = state.version else { return nil }
        return version.shortcoming.map { .warning(.bluezVersion, $0, "update BlueZ to 5.62 or later") }
            ?? .good(.bluezVersion, "BlueZ \(version); no experimental feature is needed")
    }

    private var blocks: [Finding] {
        state.switches.compactMap { radio in
            if radio.isHardBlocked {
                return problem(
                    .rfkill, of: radio.name, "switched off by a hardware switch or key",
                    "switch it on by the hardware switch or key", .unavailable)
            }
            guard radio.isSoftBlocked else { return nil }
            return problem(
                .rfkill, of: radio.name, "blocked by rfkill", .run(RootCommand("rfkill", "unblock", "bluetooth")),
                .unavailable)
        }
    }

    private var adapters: [Finding] {
        guard state.daemon == .running else { return [] }
        let address = adapter.flatMap { BluetoothAddress($0)?.description }
        let wanted = state.adapters.filter { adapter == nil || adapter == $0.name || address == $0.address }
        guard !wanted.isEmpty else { return [noAdapter] }
        let isOneOn = wanted.contains(where: \.isPowered)
        return wanted.compactMap { found in
            let name = "the adapter \(found.name) (\(found.address))"
            if found.isPowered { return .good(.adapter, "\(name) is on") }
            if isOneOn { return .good(.adapter, "\(name) is off; another is on") }
            // Another finding already says that Bluetooth is blocked.
            guard !state.switches.contains(where: { $0.isSoftBlocked || $0.isHardBlocked }) else { return nil }
            return problem(
                .adapter, "\(name) is off",
                state.adapters.count > 1
                    ? "bluetoothctl, then: select \(found.address), power on" : "bluetoothctl power on", .unavailable)
        }
    }

    private var noAdapter: Finding {
        if let adapter, !state.adapters.isEmpty {
            let names = state.adapters.map(\.name).joined(separator: ", ")
            return problem(.adapter, "there is no adapter \(adapter)", "choose one of: \(names)", .notFound)
        }
        guard let known = state.kernelAdapters.first else {
            return problem(
                .adapter, "there is no Bluetooth adapter",
                "plug in an adapter; if it needs firmware, 'sudo dmesg' names the file", .notFound)
        }
        return problem(
            .adapter, "the kernel has \(known), but bluetoothd does not list it",
            .run(RootCommand("systemctl", "restart", "bluetooth")), .notFound)
    }

    private var phones: Finding? {
        guard state.readsPhones, !state.adapters.isEmpty else { return nil }
        let setting = state.version.map { $0 >= BlueZVersion(5, 74) } ?? false
        return .warning(
            .phones, .readsPhones,
            setting
                ? "set Client=false below [GATT] in /etc/bluetooth/main.conf, or start bluetoothd with -P battery"
                : "start bluetoothd with -P battery: sudo systemctl edit bluetooth")
    }

    private var channels: Finding? {
        guard state.opensSeveralChannels, !state.adapters.isEmpty else { return nil }
        return .warning(
            .channels,
            "bluetoothd opens several channels to another Linux computer: logs and images can arrive out of order",
            "set Channels=1 below [GATT] in /etc/bluetooth/main.conf, then: sudo systemctl restart bluetooth")
    }
}
