/// A check whether bluetoothd's configuration keeps iPhones from writing to a peripheral of this computer.
///
/// When a phone connects, bluetoothd in turn examines the phone's services, and reads the battery level. An iPhone
/// reveals its battery level only to paired devices: the iPhone asks its user to pair, and until then its writes do not
/// arrive (bluez#38). On this computer, nothing indicates the problem.
public struct BatteryTrap: Sendable, Hashable {
    /// Whether bluetoothd reads the battery level of phones.
    public let isOpen: Bool

    /// Evaluates the configuration.
    ///
    /// - Parameters:
    ///   - commandLine: The path of bluetoothd and its arguments, as in `/proc/PID/cmdline`.
    ///   - settings: The settings of `/etc/bluetooth/main.conf`.
    public init(commandLine: [String], settings: DaemonSettings) {
        isOpen = !Self.leavesOutBattery(commandLine) && !Self.isNoClient(settings)
    }

    /// Whether the arguments disable the battery plugin: `-P a,b`, `-Pa,b`, `--noplugin=a,b`, `--noplugin a,b`. The
    /// plugin `*` stands for all.
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

    /// Whether `Client = false` in the group `[GATT]` keeps bluetoothd from examining the services of phones.
    private static func isNoClient(_ settings: DaemonSettings) -> Bool {
        guard let client = settings["GATT", "Client"] else { return false }
        return ["false", "0"].contains(client.lowercased())
    }
}
