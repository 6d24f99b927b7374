import ArgumentParser
import DeviceKit
import LineProtocol

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
    ///
    /// - Parameter isQuery: Whether `body` changes nothing.
    func run(
        _ parent: PumpctlCommand, isQuery: Bool = false,
        _ body: @escaping @Sendable (LEDSession, LEDEndpoint, Duration) async throws(SessionError) -> LEDValue
    ) throws {
        let endpoint = endpoint
        try CommandRunner.run(shared.merged(with: parent.shared), for: .led, records: .values) { context in
            if isQuery {
                try await context.retryingQuery { try await context.ask(endpoint, body) }
            } else {
                try await context.ask(endpoint, body)
            }
        }
    }
}

extension CommandContext {
    /// Runs `body` in a session with the board, and tells of the value that it brings.
    fileprivate func ask(
        _ endpoint: LEDEndpoint,
        _ body: @escaping @Sendable (LEDSession, LEDEndpoint, Duration) async throws(SessionError) -> LEDValue
    ) async throws {
        let value = try await withSession(of: LEDFamily.self) { try await body($0, endpoint, timeout) }
        output.outcome(
            "\(endpoint.name) \(value.phrase)",
            ResultRecord(["name": .text(endpoint.name), "value": StateValue(value)]))
    }
}

struct LEDGetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Tell whether it is on.",
        example: "pumpctl --port ble:ece196 led get")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var options: LEDOptions

    func run() throws {
        try options.run(parent, isQuery: true) { led, endpoint, timeout throws(SessionError) in
            try await led.read(endpoint, timeout: timeout)
        }
    }
}

struct LEDOnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on", abstract: "Switch it on.",
        example: "pumpctl --port ble:ece196 led on")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var options: LEDOptions

    func run() throws { try options.set(.boolean(true), parent) }
}

struct LEDOffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off", abstract: "Switch it off.",
        example: "pumpctl --port ble:ece196 led off")

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var options: LEDOptions

    func run() throws { try options.set(.boolean(false), parent) }
}

struct LEDToggleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: "Switch it off if it is on, and on if it is off.",
        example: "pumpctl --port ble:ece196 led toggle")

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
