import Foundation
import TestSupport
import Testing

@testable import SerialPort

/// `pumpctl monitor` on devices that umockdev simulates. Its adapter is unplugged, and another adapter of the same
/// model appears before its own returns.
@Suite(.enabled(if: MockTestbed.isAvailable, MockTestbed.needed), .timeLimit(.minutes(5)))
struct ReopeningCommandTests {
    private let testbed: MockTestbed

    init() async throws {
        testbed = try await MockTestbed()
        #expect(try await testbed.letTerminalsAnswer() == "ok")
    }

    /// An adapter, the endpoint that names it, and another adapter of the same kind in another USB port.
    struct Pair: CustomTestStringConvertible, Sendable {
        let endpoint: String
        let mine: MockTestbed.Adapter
        let other: MockTestbed.Adapter
        var testDescription: String { endpoint }
    }

    @Test(
        "A replugged adapter is reopened, and never another one of its model",
        arguments: [
            Pair(endpoint: "usb:1a86:7523@1-2", mine: .ch340, other: .ch340),
            Pair(
                endpoint: "usb:0403:6001/A50285BI", mine: .ft232(serialNumber: "A50285BI"),
                other: .ft232(serialNumber: "A50285BJ")),
        ])
    func oneOfAKind(pair: Pair) async throws {
        let first = try await SimulatedPump()
        try await testbed.plug(pair.mine, at: "1-2", as: "ttyUSB0", terminal: first.path)
        let monitor = try await testbed.start(
            "pumpctl", "--no-record", "--port", pair.endpoint, "--json", "monitor", "--interval", "0.5")
        _ = try await monitor.output.line()
        // This order matters: the number of a closed terminal is reused by the next terminal that is created.
        try await testbed.unplug("ttyUSB0")
        try await first.stop()

        let other = try await SimulatedPump()
        try await testbed.plug(pair.other, at: "1-4", as: "ttyUSB1", terminal: other.path)
        let second = try await SimulatedPump()
        // A terminal's number is reused only after the terminal is gone.
        try #require(second.path != other.path, "\(other.errors)")
        try await testbed.plug(pair.mine, at: "1-2", as: "ttyUSB2", terminal: second.path)
        try await expect(monitor, opens: second, andNot: other)
    }

    @Test("After an unplug from a busy port, another adapter under the old name is not opened")
    func busyAndGone() async throws {
        let first = try await SimulatedPump()
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB0", terminal: first.path)
        let monitor = try await testbed.start(
            "pumpctl", "--no-record", "--port", "usb:1a86:7523@1-2", "--json", "monitor", "--interval", "0.5")
        _ = try await monitor.output.line()
        try await testbed.unplug("ttyUSB0")
        try await first.stop()

        let taken = try PseudoTerminal()
        let holder = open(taken.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(holder) }
        try #require(flock(holder, LOCK_EX) == 0)
        let attempts = Watched(0)
        let watch = try await OpeningWatch.shared.begin(taken.path) { attempts.update { $0 += 1 } }
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB1", terminal: taken.path)
        try await attempts.wait(for: "an attempt to open it") { $0 > 0 ? () : nil }
        await OpeningWatch.shared.end(watch)
        try await testbed.unplug("ttyUSB1")

        let other = try await SimulatedPump()
        try await testbed.plug(.ch340, at: "1-4", as: "ttyUSB1", terminal: other.path)
        let second = try await SimulatedPump()
        try await testbed.plug(.ch340, at: "1-2", as: "ttyUSB2", terminal: second.path)
        try await expect(monitor, opens: second, andNot: other)
    }

    /// Waits until the monitor has the terminal of `second` open, and expects that it does not have that of `other`
    /// open.
    private func expect(_ monitor: ChildProcess, opens second: SimulatedPump, andNot other: SimulatedPump) async throws
    {
        while !monitor.opened.contains(second.path) {
            try #require(!monitor.opened.contains(other.path), "\(second.path) is its own")
            _ = try await monitor.output.line("news of the adapter that is back")
        }
        #expect(!monitor.opened.contains(other.path), "\(second.path) is its own")
    }
}

/// A pump that `pumpctl sim` simulates on a pseudo-terminal.
private final class SimulatedPump {
    let path: String
    private let program: ChildProcess

    init() async throws {
        program = try await ChildProcess([Executable.pumpctl, "sim", "pump", "--unpaced", "--pty"])
        let words = try await program.output.line().split(separator: " ")
        path = String(try #require(words.first { $0.hasPrefix("/dev/pts/") }))
    }

    /// The program's error output.
    var errors: String { "\(program.errors.state)" }

    func stop() async throws {
        program.send(signal: SIGTERM)
        try await program.ending()
    }
}

extension ChildProcess {
    /// The files that the process has open now.
    fileprivate var opened: Set<String> {
        let folder = "/proc/\(processID)/fd"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return Set(numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") })
    }
}
