import FirmwareSim
import LineProtocol
import Synchronization
import Terminal

/// Collects the verdicts on the programs that use simulated devices: whether they kept the rules of `--expect` and of
/// scenarios.
final class DeviceJudging: Sendable {
    /// The devices with rules or steps, by their numbers.
    private let handles = Mutex<[Int: (device: OfferedDevice, handle: DeviceHandle)]>([:])

    /// Adds an offered device, if it has rules for the program, or steps, which may fail.
    func add(_ handle: DeviceHandle, of device: OfferedDevice) {
        guard !device.settings.expectations().isEmpty || !device.settings.steps().isEmpty else { return }
        handles.withLock { $0[device.number] = (device, handle) }
    }

    /// Reads the input that the programs have sent so far, before the devices are closed.
    func catchUp() async {
        for judged in handles.withLock(\.self).values { await judged.handle.catchUp() }
    }

    /// Prints the verdicts.
    ///
    /// - Returns: Whether a rule was broken, or a step failed. A rule that was never tested counts as broken, unless a
    ///   signal ended the simulator.
    func conclude(_ options: ServingOptions, _ context: CommandContext) async -> Bool {
        let wasInterrupted = context.work.exitStatus != nil
        var hasFailed = false
        for (number, judged) in handles.withLock(\.self).sorted(by: { $0.key < $1.key }) {
            guard let verdict = await judged.handle.verdict() else { continue }
            hasFailed = hasFailed || (wasInterrupted ? verdict.count > 0 : !verdict.hasPassed)
            let name = options.tellsNumbers ? "device \(number): " : ""
            let lines = verdict.description.split(separator: "\n").map { String($0).printable() }
            for line in lines { context.output.note("pumpctl: verdict: \(name)\(line)") }
            // With `--run`, standard output belongs to the command.
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
