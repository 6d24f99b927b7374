import ArgumentParser
import DeviceKit
import LineProtocol

struct LEDCommandGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "led", abstract: "Show or switch the LED of an LED board.",
        subcommands: [LEDGetCommand.self, LEDOnCommand.self, LEDOffCommand.self, LEDToggleCommand.self])
}

/// The shared options, and the value of the board that a command reads or sets: an ``LEDEndpoint``, and not the
/// endpoint by which the board is found.
struct LEDOptions: ParsableArguments {
    @OptionGroup var shared: SharedOptions

    @Argument(
        help: ArgumentHelp("The value to read or set: \(names).", valueName: "name"),
        transform: { try endpoint(named: $0) })
    var endpoint = LEDEndpoint.led

    private static var names: String { LEDEndpoint.all.map(\.name).joined(separator: ", ") }

    private static func endpoint(named name: String) throws -> LEDEndpoint {
        guard let endpoint = LEDEndpoint(name: name) else {
            throw ValidationError("unknown value '\(name)'; use: \(names)")
        }
        return endpoint
    }
}

/// A command for an LED board, which prints the value that it has read or set.
protocol LEDValueCommand: ContextCommand {
    static var action: LEDAction { get }

    var options: LEDOptions { get }
}

/// The action of an ``LEDValueCommand``.
enum LEDAction {
    case read
    case set(LEDValue)
    case toggle
}

extension LEDValueCommand {
    static var family: Family? { .led }
    static var records: CommandContext.RecordedContent { .values }
    var shared: SharedOptions { options.shared }

    func run(in context: CommandContext) async throws {
        // If the device is lost, only a query is repeated: a change may have been carried out.
        guard case .read = Self.action else { return try await carryOut(in: context) }
        try await context.retryingQuery { try await carryOut(in: context) }
    }

    private func carryOut(in context: CommandContext) async throws {
        let (endpoint, timeout) = (options.endpoint, context.timeout)
        let value = try await context.withSession(of: LEDFamily.self) { led in
            switch Self.action {
            case .read: return try await led.read(endpoint, timeout: timeout)
            case .set(let value):
                try await led.write(value, to: endpoint, timeout: timeout)
                return value
            case .toggle: return try await led.toggle(endpoint, timeout: timeout)
            }
        }
        let name = endpoint.name
        let phrase = Family.led.field(name)?.text(of: StateValue(value)) ?? value.text
        context.output.outcome(
            "\(name) \(phrase)", ["ok": true, "name": name, "value": StateValue(value)] as ResultRecord)
    }
}

struct LEDGetCommand: LEDValueCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Show whether the LED is on.", example: "pumpctl --port ble:ece196 led get")
    static var action: LEDAction { .read }

    @OptionGroup var options: LEDOptions
}

struct LEDOnCommand: LEDValueCommand {
    static let configuration = CommandConfiguration(
        commandName: "on", abstract: "Switch the LED on.", example: "pumpctl --port ble:ece196 led on")
    static var action: LEDAction { .set(.boolean(true)) }

    @OptionGroup var options: LEDOptions
}

struct LEDOffCommand: LEDValueCommand {
    static let configuration = CommandConfiguration(
        commandName: "off", abstract: "Switch the LED off.", example: "pumpctl --port ble:ece196 led off")
    static var action: LEDAction { .set(.boolean(false)) }

    @OptionGroup var options: LEDOptions
}

struct LEDToggleCommand: LEDValueCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: "Switch the LED off if it is on, and on if it is off.",
        example: "pumpctl --port ble:ece196 led toggle")
    static var action: LEDAction { .toggle }

    @OptionGroup var options: LEDOptions
}
