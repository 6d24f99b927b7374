public import ArgumentParser
public import Transports

struct GATTCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatt",
        abstract: "List, read, write and follow the characteristics of any BLE device.",
        usage: """
            pumpctl gatt <ble:NAME> [list]
            pumpctl gatt <ble:NAME> read <characteristic> ... [--type <type>]
            pumpctl gatt <ble:NAME> write <characteristic> <value> ... --type <type> [--no-response]
            pumpctl gatt <ble:NAME> notify <characteristic> ... [--type <type>] [--count <number>] [--for <time>]
            """,
        discussion: """
            Name a characteristic by its UUID (2A19, or all 36 characters), by the UUIDs of its service and its own (180F/2A19), \
            or, if a device has a UUID twice, by the handle that list shows (char0012).

            A value is text, hex, or one or more numbers: u8, i8, u16, i16, u32, i32, f32. The lowest byte comes first, as usual \
            in GATT, unless --big-endian is given. Without --type, bytes are shown in hexadecimal, and also as text if they are \
            printable; 0x01ff writes these two bytes.

            The device confirms a write if the characteristic allows it. Without a response, it is unknown whether the write \
            arrived. Its effect is never known: a write to a pump may run the motor. notify runs until Ctrl-C.

            Each line of --json has the keys characteristic, service (UUIDs), handle and name. list adds service_name, flags and \
            descriptors; the other actions add hex, text, type and value; notify adds time, and write adds ok and confirmed. \
            Unknown values are null.
            """,
        example: "pumpctl gatt ble:Thermometer read 2A6E --type i16")

    @OptionGroup var own: GATTOptions
    var shared: SharedOptions { own.shared }

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "The device as ble:NAME, unless --port names it; the action; the characteristics; and the value to write.",
            valueName: "word"))
    var words: [String] = []

    @Option(help: ArgumentHelp("The type of a value: \(GATTValueType.list).", valueName: "type"))
    var type: GATTValueType?

    @Flag(help: "Read and write numbers with the highest byte first.")
    var bigEndian = false

    @Flag(
        inversion: .prefixedNo,
        help: "Write with or without a response of the device (default: as the characteristic allows).")
    var response: Bool?

    @Flag(help: "Also write lines that the firmware would misread as another speed.")
    var force = false

    @Option(help: ArgumentHelp("End after this many notifications.", valueName: "number"))
    var count: Int?

    @Option(name: .customLong("for"), help: ArgumentHelp("End notify after this time.", valueName: "time"))
    var time: SecondsArgument?

    func validate() throws {
        let action = try request().action
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
        if action != .notify, count != nil || time != nil { throw ValidationError("--count and --for require notify") }
        if action != .write, response != nil || force {
            throw ValidationError("--response, --no-response and --force require write")
        }
        if action == .list, type != nil || bigEndian {
            throw ValidationError("list cannot be combined with --type and --big-endian")
        }
    }

    private var format: GATTFormat { GATTFormat(type: type, isBigEndian: bigEndian) }

    private func request() throws -> GATTRequest {
        // A value that begins with a hyphen, such as -5, may follow a terminator. So only a word that begins with two
        // hyphens, or a first word that begins with one, is an unknown option.
        var words = words
        if let terminator = words.firstIndex(of: "--") { words.remove(at: terminator) }
        if let option = words.first(where: { $0.hasPrefix("--") }) ?? words.first, option.hasPrefix("-") {
            throw ValidationError("unknown option '\(option.prefix { $0 != "=" })'")
        }
        let request: GATTRequest
        do throws(GATTSyntaxError) { request = try GATTRequest(words, as: format) } catch {
            throw ValidationError(error.words)
        }
        if let port = shared.port, let endpoint = request.endpoint, port != endpoint {
            throw ValidationError("two devices are named: \(endpoint) and \(port)")
        }
        return request
    }

    func run() throws {
        let (request, format) = (try request(), format)
        var options = shared
        options.port = request.endpoint ?? options.port
        let (response, isForced, count, time) = (response, force, count, time?.duration)
        try CommandRunner.run(options, records: .nothing) { context in
            switch request.action {
            case .list: try await context.listGATT()
            case .read: try await context.readGATT(request.characteristics, format)
            case .write: try await context.writeGATT(request, isConfirmed: response, isForced: isForced)
            case .notify: try await context.followGATT(request.characteristics, format, count: count, for: time)
            }
        }
    }
}

extension GATTValueType: ExpressibleByArgument {
    /// The names of the types, for people.
    fileprivate static let list = allCases.map(\.rawValue).joined(separator: ", ")
}

extension GATTSyntaxError {
    /// The error, with the option that solves it.
    fileprivate var words: String {
        guard case .untyped(let word) = self else { return "\(self)" }
        let list = GATTValueType.list
        return "the type of '\(word)' is unknown; use: --type with one of \(list); or hexadecimal, as 0x01ff"
    }
}
