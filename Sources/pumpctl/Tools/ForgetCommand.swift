import ArgumentParser
import BlueZ
import DeviceKit
import LineProtocol
import Transports

struct ForgetCommand: ContextCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget the BLE device that belongs to a name.",
        discussion: """
            pumpctl remembers the device that it has found by a name, e.g. ble:HMSoft, and refuses another device with \
            this name: the first may be out of range, and on. If a device was replaced, forget its name. The names are kept in \
            ~/.local/state/pumpctl/ble-devices.
            """,
        example: "pumpctl forget ble:HMSoft")

    @OptionGroup var own: JSONOption
    var shared: SharedOptions { own.shared }

    @Argument(help: "The name, e.g. HMSoft or ble:HMSoft.")
    var name: String?

    @Flag(help: "Forget all names.")
    var all = false

    func validate() throws {
        if name == nil, !all { throw ValidationError("name a device, e.g. ble:HMSoft, or use --all") }
        if name != nil, all { throw ValidationError("--all cannot be combined with a name") }
    }

    func run(in context: CommandContext) async throws {
        let name = name.map { $0.lowercased().hasPrefix("ble:") ? String($0.dropFirst(4)).removingPercentEncoding : $0 }
        let memory = BLEMemoryFile.user()
        let removed: [(name: String, address: BluetoothAddress)]
        do throws(FileError) { removed = try memory?.forget(name) ?? [] } catch {
            var failure = Failure(error)
            // The hint would be to name another file, but this file has a fixed place.
            failure.hint = nil
            throw failure
        }
        for (name, address) in removed {
            context.output.result(
                "forgot \(name.printable()) (\(address))",
                ["name": name, "address": "\(address)"] as ResultRecord)
        }
        guard removed.isEmpty else { return }
        let known = memory?.names.map { "ble:\($0.asEndpointName)".asWord }.joined(separator: ", ") ?? ""
        throw Failure(
            .noInput, code: "not_found", "no device is remembered" + (name.map { " for ble:\($0)" } ?? ""),
            hint: known.isEmpty ? "list the devices in range: pumpctl scan" : "name one of: \(known)")
    }
}
