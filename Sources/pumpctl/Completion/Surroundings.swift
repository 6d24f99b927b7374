import BlueZ
import DeviceKit
import DescriptorIO
import SerialPort
import StrictJSON

/// The devices and simulators around this program, for completion, as far as they are known without opening a port and
/// without a scan. Errors are ignored: devices that can't be found are left out.
struct Surroundings: Sendable {
    /// The serial ports.
    var ports: @Sendable () async -> [SerialPortInfo]
    /// The names of the Bluetooth adapters.
    var adapters: @Sendable () -> [String]
    /// The names of BLE devices that pumpctl or bluetoothd remembers.
    var names: @Sendable () async -> [String]
    /// The devices that daemons share.
    var shared: @Sendable () async -> [DaemonDevice]
    /// Returns the verbs of a simulated device, as the control socket at the path describes them. Of several devices at
    /// one socket, the number names one.
    var verbs: @Sendable (_ path: String, _ device: Int?) async -> [JSONValue]

    /// The surroundings of this computer.
    ///
    /// - Parameter limit: The longest wait for another program, and for udev's list of ports.
    static func here(_ limit: Duration, on loop: EventLoop) -> Surroundings {
        Surroundings(
            ports: {
                await first(of: [], within: limit, on: loop) {
                    await onThread { (try? SerialPortDiscovery.ports()) ?? [] } ?? []
                }
            },
            // An entry with a colon, such as hci0:64, is a connection of an adapter.
            adapters: { Folder.names(in: "/sys/class/bluetooth").filter { !$0.contains(":") } },
            names: {
                let known = await first(of: [], within: limit, on: loop) {
                    ((try? await BlueZ.open(on: loop).knownDevices()) ?? []).compactMap(\.name)
                }
                return (BLEMemoryFile.user()?.names ?? []) + known
            },
            shared: { await first(of: [], within: limit, on: loop) { await Daemons.now(on: loop).devices } },
            verbs: { path, device in
                await first(of: [], within: limit, on: loop) {
                    var request: [String: JSONValue] = ["id": 1, "do": "verbs", "arguments": .array([])]
                    request["device"] = device.map(JSONValue.integer)
                    let answer = try? await SimControlCommand.ask(.object(request), at: path, loop)
                    return answer?["verbs"]?.elements ?? []
                }
            })
    }

    /// Returns the result of `body`, or `other` if `body` takes longer. `body` is not waited for then, since it may
    /// hang.
    private static func first<Value: Sendable>(
        of other: Value, within limit: Duration, on loop: EventLoop, _ body: @escaping @Sendable () async -> Value
    ) async -> Value {
        let (results, result) = AsyncStream.makeStream(of: Value.self)
        Task(executorPreference: loop) { result.yield(await body()) }
        Task(executorPreference: loop) {
            try? await EventLoopClock(loop).sleep(for: limit)
            result.finish()
        }
        for await result in results { return result }
        return other
    }

    /// Returns the result of `body`, which may block, from a thread of its own; nil if the system has no thread left.
    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            let thread = try? BackgroundThread { continuation.resume(returning: body()) }
            if let thread { thread.detach() } else { continuation.resume(returning: nil) }
        }
    }
}
