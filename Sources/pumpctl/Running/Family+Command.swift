public import ArgumentParser
import CaptureFormat
public import DeviceKit
import LineProtocol
import Transports

extension Family: ExpressibleByArgument {
    /// The family that commands for any device assume if nothing names one.
    static let usual = FamilyRow.all[0].family

    /// Looks up a family by its name.
    init?(named name: String) {
        guard let row = FamilyRow.named(name) else { return nil }
        self = row.family
    }

    public init?(argument: String) { self.init(named: argument) }

    public static var allValueStrings: [String] { FamilyRow.all.map(\.family.name) }

    /// Returns the family that the text of an endpoint determines: `sim:led` by its name, a capture by its header.
    /// Returns nil for any other endpoint, and if the name or the header has no known family.
    static func named(by endpoint: String) -> Family? {
        if endpoint.hasPrefix("replay:") { return captured(in: endpoint) }
        guard endpoint.hasPrefix("sim:") else { return nil }
        return Family(named: String(endpoint.dropFirst("sim:".count).prefix { $0 != "?" }))
    }

    /// Returns the family in a capture's header; nil if the family is unknown, or if the file can't be read, which is
    /// reported when the endpoint is opened.
    static func captured(in endpoint: String) -> Family? {
        guard let path = try? Endpoint(endpoint).address else { return nil }
        do throws(CaptureError) {
            let reader = try CaptureReader(path)
            return Family(named: reader.header.family)
        } catch {
            return nil
        }
    }

    // MARK: Command lines

    /// Returns the command line of one of the family's commands: `pumpctl led get` for `get`.
    func words(_ command: String) -> String {
        let noun = FamilyRow.named(name)?.noun
        return (["pumpctl"] + [noun, command].compactMap(\.self)).joined(separator: " ")
    }

    /// The command line that queries the device's state; nil if the family has no such command.
    var questionWords: String? { question.map { words($0.name) } }

    /// Returns the hint for an error code; nil if the family has none.
    func hint(_ errorCode: String) -> String? { error(errorCode)?.remedy(words) }

    /// Returns the hint for an error code in reply to a typed line, which may be no command of the family; nil if the
    /// family has none.
    func hint(_ errorCode: String, to line: [UInt8]) -> String? {
        guard errorCode == PumpErrorCode.unknownCommand.rawValue, !hasCommand(line) else { return hint(errorCode) }
        return "\(deviceWithArticle) has no such command; use: \(commands.map(\.line).joined(separator: ", "))"
    }
}
