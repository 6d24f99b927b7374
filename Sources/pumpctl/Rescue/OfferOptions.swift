import ArgumentParser

/// The options that offer this computer to phones over BLE.
struct OfferOptions: ParsableArguments {
    @Flag(
        name: .customLong("offer"),
        help: "Advertise over BLE, as a phone does; in addition to the port that --port names, or without one.")
    var isWanted = false

    @Option(help: ArgumentHelp("The Bluetooth adapter to advertise on, by its name or address.", valueName: "hci1"))
    var adapter: String?

    @Option(help: "The name that phones see (default: Rescue).")
    var name: String?

    /// The advertised name, with its default.
    var offeredName: String { name ?? "Rescue" }

    func validate() throws {
        if !isWanted, adapter != nil || name != nil { throw ValidationError("--adapter and --name need --offer") }
    }
}
