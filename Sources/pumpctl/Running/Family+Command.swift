public import ArgumentParser
import CaptureFormat
public import DeviceKit
import LineProtocol
import Transports

extension Family: ExpressibleByArgument {
    /// What a command for any device is for where nothing tells of what family the device is.
    static let usual = FamilyRow.all[0].family

    /// The family of that name; nil where there is none.
    init?(named name: String) {
        guard let row = FamilyRow.named(name) else { return nil }
        self = row.family
    }

    public init?(argument: String) { self.init(named: argument) }

    public static var allValueStrings: [String] { FamilyRow.all.map(\.family.name) }

    /// The family that an endpoint names, as `sim:led` does, or a capture by its header; nil where it leads to a device of any
    /// kind.
    static func named(by endpoint: String) -> Family? {
        if endpoint.hasPrefix("replay:") { return captured(in: endpoint) }
        guard endpoint.hasPrefix("sim:") else { return nil }
        return Family(named: String(endpoint.dropFirst("sim:".count).prefix { $0 != "?" }))
    }

    /// The family that a capture was made with; nil where its header names none that is known here, and where it can't be
    /// read, which is told when it is opened.
    static func captured(in endpoint: String) -> Family? {
        guard let path = try? Endpoint(endpoint).address else { return nil }
        do throws(CaptureError) {
            let reader = try CaptureReader(path)
            return Family(named: reader.header.family)
        } catch {
            return nil
        }
    }

    // MARK: How its commands are typed

    /// A command of the family as it is typed here.
    func words(_ command: String) -> String {
        let noun = FamilyRow.named(name)?.noun
        return (["pumpctl"] + [noun, command].compactMap(\.self)).joined(separator: " ")
    }

    /// The command that asks for the state of a device, as it is typed; nil where there is none.
    var questionWords: String? { question.map { words($0.name) } }

    /// What mends the error of that code.
    func hint(_ errorCode: String) -> String? { error(errorCode)?.remedy(words) }

    /// What mends the error of that code, in answer to a line that a person has typed.
    func hint(_ errorCode: String, to line: [UInt8]) -> String? {
        guard errorCode == PumpErrorCode.unknownCommand.rawValue, !hasCommand(line) else { return hint(errorCode) }
        return "\(deviceWithArticle) has no such command; use: \(commands.map(\.line).joined(separator: ", "))"
    }
}
