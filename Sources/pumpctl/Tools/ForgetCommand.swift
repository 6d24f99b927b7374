import ArgumentParser
import BlueZ
import DeviceKit
import LineProtocol
import Transports

struct ForgetCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget which BLE device a name led to.",
        discussion: """
            pumpctl remembers to which device a name as ble:HMSoft led, and refuses another device of that name: the first \
            may be out of reach, and on. Where a device was replaced, forget its name. The names are kept in \
            ~/.local/state/pumpctl/ble-devices.
            """,
        example: "pumpctl forget ble:HMSoft")

    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }

    @Argument(help: "The name, as HMSoft or ble:HMSoft.")
    var name: String?

    @Flag(help: "Forget all names.")
    var all = false

    func validate() throws {
        if name == nil, !all { throw ValidationError("give a name, as ble:HMSoft, or --all") }
        if name != nil, all { throw ValidationError("--all cannot be combined with a name") }
    }

    func run(in context: CommandContext) async throws {
        let name = name.map { $0.lowercased().hasPrefix("ble:") ? String($0.dropFirst(4)).removingPercentEncoding : $0 }
        let memory = BLEMemoryFile.user()
        let removed: [(name: String, address: BluetoothAddress)]
        do throws(FileError) { removed = try memory?.forget(name) ?? [] } catch {
            var failure = Failure(error)
            failure.hint = nil
            throw failure
        }
        for (name, address) in removed {
            context.output.result(
                "forgot \(name.printable()), which led to \(address)",
                ["name": name, "address": "\(address)"] as ResultRecord)
        }
        guard removed.isEmpty else { return }
        let known = memory?.names.map { "ble:\($0.asEndpointName)".asWord }.joined(separator: ", ") ?? ""
        throw Failure(
            .noInput, code: "not_found", "nothing is remembered" + (name.map { " of ble:\($0)" } ?? ""),
            hint: known.isEmpty ? "see what is in range: pumpctl scan" : "name one of: \(known)")
    }
}
