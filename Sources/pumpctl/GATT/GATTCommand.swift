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
            A characteristic is named by its UUID (2A19, or all 36 characters), by its service's and its own (180F/2A19), or, \
            where a device has a UUID twice, by its handle as list shows it (char0012).

            A value is text, hex, or one or several numbers: u8, i8, u16, i16, u32, i32, f32, the lowest byte first as GATT has \
            it, unless --big-endian is given. Without --type, bytes are shown in hexadecimals, and as text where they are \
            printable; 0x01ff is written as these bytes.

            A write is confirmed by the device where the characteristic allows it. Without a response nothing tells whether it \
            arrived, and never what it did: a write to a pump may run the motor. notify goes on until Ctrl-C.

            Each line of --json has the keys characteristic, service (UUIDs), handle and name; of list also service_name, flags \
            and descriptors, of the others hex, text, type and value, of notify time, of write ok and confirmed. What is \
            unknown is null.
            """,
        example: "pumpctl gatt ble:Thermometer read 2A6E --type i16")

    @OptionGroup var own: GATTOptions
    var shared: SharedOptions { own.shared }

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "The device as ble:NAME, unless --port names it; what to do with it; a characteristic; and a value.",
            valueName: "word"))
    var words: [String] = []

    @Option(help: ArgumentHelp("The type of a value: \(GATTValueType.list).", valueName: "type"))
    var type: GATTValueType?

    @Flag(help: "The highest byte of a number comes first.")
    var bigEndian = false

    @Flag(
        inversion: .prefixedNo,
        help: "Write with a response of the device, or without; by default what the device allows.")
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
        if action != .notify, count != nil || time != nil { throw ValidationError("--count and --for are for notify") }
        if action != .write, response != nil || force {
            throw ValidationError("--response, --no-response and --force are for write")
        }
        if action == .list, type != nil || bigEndian { throw ValidationError("list shows no values") }
    }

    private var format: GATTFormat { GATTFormat(type: type, isBigEndian: bigEndian) }

    private func request() throws -> GATTRequest {
        // A value that begins with a hyphen, such as -5, may follow a terminator.
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
            throw ValidationError("the device is named twice: \(endpoint), and \(port)")
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
        return "the type of '\(word)' is unknown: add --type with one of \(list); 0x… is hexadecimal without it"
    }
}
