import FirmwareSim
import LineProtocol
import Synchronization
import Terminal

/// What was seen of the programs that use simulated devices, where something is expected of them.
final class DeviceJudging: Sendable {
    private let handles = Mutex<[Int: (device: OfferedDevice, handle: DeviceHandle)]>([:])

    /// Takes in a device that is offered.
    func add(_ handle: DeviceHandle, of device: OfferedDevice) {
        guard !device.settings.expectations().isEmpty else { return }
        handles.withLock { $0[device.number] = (device, handle) }
    }

    /// Says what was seen.
    ///
    /// - Returns: Whether a check failed. What never came to the test fails, unless a signal has ended the simulator before.
    func conclude(_ options: ServingOptions, _ context: CommandContext) async -> Bool {
        let wasInterrupted = context.work.exitStatus != nil
        var hasFailed = false
        for (number, judged) in handles.withLock(\.self).sorted(by: { $0.key < $1.key }) {
            guard let verdict = await judged.handle.verdict() else { continue }
            hasFailed = hasFailed || (wasInterrupted ? verdict.count > 0 : !verdict.hasPassed)
            let name = options.tellsNumbers ? "device \(number): " : ""
            let lines = verdict.description.split(separator: "\n").map { String($0).printable() }
            for line in lines { context.output.note("pumpctl: verdict: \(name)\(line)") }
            // Standard output is the command's.
            guard !options.runsCommand else { continue }
            context.output.record(
                [
                    "ok": verdict.hasPassed, "event": "verdict", "number": number, "count": verdict.count,
                    "findings": verdict.hasPassed ? [] : lines,
                ] as ResultRecord)
        }
        return hasFailed
    }
}
