/// Whether bluetoothd is set up so that an iPhone can't write to a device that is offered here.
///
/// When a phone connects, bluetoothd looks in turn at what the phone offers, and reads its battery level. An iPhone gives
/// that only to those it is paired with: it asks its user to pair, and until then what it writes does not come through
/// (bluez#38). Nothing of that shows on this side.
public struct BatteryTrap: Sendable, Hashable {
    /// Whether bluetoothd reads the batteries of phones.
    public let isOpen: Bool

    /// - Parameters:
    ///   - commandLine: The program bluetoothd and its arguments, as in `/proc/PID/cmdline`.
    ///   - settings: What `/etc/bluetooth/main.conf` says.
    public init(commandLine: [String], settings: DaemonSettings) {
        isOpen = !Self.leavesOutBattery(commandLine) && !Self.isNoClient(settings)
    }

    /// `-P a,b`, `-Pa,b`, `--noplugin=a,b`, `--noplugin a,b`: plugins by name, of which `*` stands for any.
    private static func leavesOutBattery(_ commandLine: [String]) -> Bool {
        var lists: [Substring] = []
        for (index, argument) in commandLine.enumerated() {
            if argument == "-P" || argument == "--noplugin" {
                if index + 1 < commandLine.count { lists.append(commandLine[index + 1][...]) }
            } else if argument.hasPrefix("--noplugin=") {
                lists.append(argument.dropFirst("--noplugin=".count))
            } else if argument.hasPrefix("-P") {
                lists.append(argument.dropFirst(2))
            }
        }
        return lists.flatMap { $0.split(separator: ",") }.contains { $0 == "battery" || $0 == "*" }
    }

    private static func isNoClient(_ settings: DaemonSettings) -> Bool {
        guard let client = settings["GATT", "Client"] else { return false }
        return ["false", "0"].contains(client.lowercased())
    }
}
