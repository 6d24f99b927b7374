import ArgumentParser
import BlueZ
import DeviceKit

struct ScanCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "List nearby BLE devices, strongest signal first.",
        discussion: """
            Connects to no device. A device that is connected to a phone does not advertise; one that saves power advertises \
            only every second or two. Use the name as --port ble:NAME, with %3F for a question mark, or ble:ADDRESS if \
            several devices have the same name. 'pumpctl gatt ble:NAME' connects, and lists the device's characteristics. A \
            family with a question mark is a guess: other devices offer that service too, such as all behind an HM-10.

            Each line of --json has all of the keys address, name, rssi_dbm, services (UUIDs), family (if certain), \
            possible_family (the likeliest), possible_families (all) and connected; unknown values are null. --watch adds event \
            (found, changed, lost).
            """,
        example: "pumpctl scan --for 10s")

    @OptionGroup var own: JSONAndFamilyOptions
    var shared: SharedOptions { own.shared }

    @Flag(help: "Keep scanning, and report devices that appear, change and disappear.")
    var watch = false

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Scan for this time (default: 5s; with --watch, no limit).", valueName: "time"),
        transform: SecondsArgument.typed)
    var time: SecondsArgument?

    @Option(
        help: ArgumentHelp(
            "Only devices with this text in their names; with '*' for any text, the whole name.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp("Only devices with at least this signal strength, in dBm, such as -70.", valueName: "dBm"))
    var rssi: Int?

    @Option(help: ArgumentHelp("The Bluetooth adapter, by its name or address.", valueName: "adapter"))
    var adapter: String?

    /// The default duration of a scan: longer than two intervals of a device that advertises every two seconds.
    private static let usualTime = Duration.seconds(5)

    func validate() throws {
        if name?.isEmpty == true { throw ValidationError("--name must not be empty") }
        // The range of a signal strength in Bluetooth.
        if let rssi, !(-127...20).contains(rssi) { throw ValidationError("--rssi must be from -127 to 20, as -70") }
    }

    func run(in context: CommandContext) async throws {
        let time = time?.duration ?? (watch ? nil : Self.usualTime)
        let bluez = try await BlueZ.open(on: context.loop)
        let scan = DeviceScan(
            with: bluez, on: adapter, for: context.options.family?.name,
            passing: DeviceFilter(name: name, leastRSSI: rssi), isLasting: watch)
        let isFiltered = name != nil || rssi != nil || context.options.family != nil
        try await withCleanup({ await bluez.close() }) {
            try await context.run(for: time, whileRead: true) {
                try await ScanDisplay(context, watches: watch, isFiltered: isFiltered).follow(scan)
            }
        }
        try Task.checkCancellation()
    }
}
