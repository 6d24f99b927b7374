import ArgumentParser
import LineProtocol
import RecordFormat

struct LEDCommandGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "led", abstract: "Ask for the LED, or switch it.",
        subcommands: [LEDGetCommand.self, LEDOnCommand.self, LEDOffCommand.self, LEDToggleCommand.self])
}

/// Which value of the board a command is about, besides the options of every command.
struct LEDOptions: ParsableArguments {
    @OptionGroup var shared: SharedOptions

    @Argument(help: ArgumentHelp("The value: \(names).", valueName: "name"), transform: { try endpoint(named: $0) })
    var endpoint = LEDEndpoint.led

    private static var names: String { LEDEndpoint.all.map(\.name).joined(separator: ", ") }

    private static func endpoint(named name: String) throws -> LEDEndpoint {
        guard let endpoint = LEDEndpoint(name: name) else {
            throw ValidationError("there is no '\(name)', but: \(names)")
        }
        return endpoint
    }

    /// Runs `body`, and tells of the value that it brings.
    func run(
        _ parent: PumpctlCommand,
        _ body: @escaping @Sendable (LEDSession, LEDEndpoint, Duration) async throws(SessionError) -> LEDValue
    ) throws {
        let endpoint = endpoint
        try CommandRunner.run(shared.merged(with: parent.shared), for: .led) { context in
            let port = try context.endpoint()
            let session = try await LEDSession.begin(
                over: context.openLink(port, for: .oneCommand, note: context.output.note), clock: context.clock)
            let value: LEDValue
            do {
                if let recording = try await Recording.begin(context, port, isDefault: false) {
                    value = try await recording.ending {
                        let value = try await body(session, endpoint, context.timeout)
                        recording.record(.reading(kind: "value", Reading(endpoint, value)))
                        return value
                    }
                } else {
                    value = try await body(session, endpoint, context.timeout)
                }
            } catch {
                await session.close()
                throw error
            }
            await session.close()
            context.output.result(
                "\(endpoint.name) \(value.phrase)", LEDValueRecord(endpoint: endpoint.name, value: value))
        }
    }
}

struct LEDGetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "get", abstract: "Tell whether it is on.")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var options: LEDOptions

    func run() throws {
        try options.run(parent) { led, endpoint, timeout throws(SessionError) in
            try await led.read(endpoint, timeout: timeout)
        }
    }
}

struct LEDOnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "on", abstract: "Switch it on.")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var options: LEDOptions

    func run() throws { try options.set(.boolean(true), parent) }
}

struct LEDOffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "off", abstract: "Switch it off.")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var options: LEDOptions

    func run() throws { try options.set(.boolean(false), parent) }
}

struct LEDToggleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: "Switch it off if it is on, and on if it is off.")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var options: LEDOptions

    func run() throws {
        try options.run(parent) { led, endpoint, timeout throws(SessionError) in
            let value = try await led.read(endpoint, timeout: timeout).opposite
            try await led.write(value, to: endpoint, timeout: timeout)
            return value
        }
    }
}

extension LEDOptions {
    fileprivate func set(_ value: LEDValue, _ parent: PumpctlCommand) throws {
        try run(parent) { led, endpoint, timeout throws(SessionError) in
            try await led.write(value, to: endpoint, timeout: timeout)
            return value
        }
    }
}

extension LEDValue {
    /// The value for people.
    fileprivate var phrase: String {
        switch self {
        case .boolean(let isOn): isOn ? "on" : "off"
        }
    }

    fileprivate var opposite: LEDValue {
        switch self {
        case .boolean(let isOn): .boolean(!isOn)
        }
    }
}

extension Reading {
    /// A value of the board.
    fileprivate init(_ endpoint: LEDEndpoint, _ value: LEDValue) {
        self.init()
        switch value {
        case .boolean(let isOn): add(endpoint.name, isOn)
        }
    }
}

/// A value as programs are told of it.
private struct LEDValueRecord: Encodable {
    var ok = true
    var endpoint: String
    var value: Bool

    init(endpoint: String, value: LEDValue) {
        self.endpoint = endpoint
        switch value {
        case .boolean(let isOn): self.value = isOn
        }
    }
}
