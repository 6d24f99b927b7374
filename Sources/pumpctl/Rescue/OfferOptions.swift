import ArgumentParser

/// How this computer is offered to phones over BLE.
struct OfferOptions: ParsableArguments {
    @Flag(
        name: .customLong("offer"),
        help: "Be found over BLE, as a phone is; beside the port that --port names, or in place of one.")
    var isWanted = false

    @Option(help: ArgumentHelp("The Bluetooth adapter to be found by, by its name or address.", valueName: "hci1"))
    var adapter: String?

    @Option(help: "What this computer is called there.")
    var name: String?

    /// What it is called there, where nothing else is said too.
    var offeredName: String { name ?? "Rescue" }

    func validate() throws {
        if !isWanted, adapter != nil || name != nil { throw ValidationError("--adapter and --name require --offer") }
    }
}
