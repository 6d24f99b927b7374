import Glibc
import LineProtocol
import Transports
import TestSupport

/// Our firmware on a simulated ATmega328P in nano-sim.
struct FirmwareRig: PumpRig {
    /// Longer than a turn of the main loop.
    private static let notice = "wait 0.4"

    private let endpoint: String
    private let process: ChildProcess

    struct Refused: Error { var command: String, answer: String }

    /// Starts a board once a processor is available.
    ///
    /// - Parameter control: The path of a control socket; nil for none.
    init(thermistors: Int, isField: Bool = false, control: String? = nil) async throws {
        try await FirmwareBuild.ready()
        await FirmwareSlots.shared.take()
        do {
            (process, endpoint) = try await Self.start(thermistors: thermistors, isField: isField, control: control)
        } catch {
            await FirmwareSlots.shared.giveBack()
            throw error
        }
    }

    func link() async throws -> any Link { try await LinkSchemes.standard.open(Endpoint(endpoint)) }

    private static func start(
        thermistors: Int, isField: Bool, control: String?
    ) async throws -> (ChildProcess, endpoint: String) {
        let options = [
            "--on-demand", "--exit-on-eof", "--water", "\(RigKind.water)", "--skin", "\(RigKind.skin)", "--knob",
            "\(RigKind.potentiometer)",
        ]
        let firmware = FirmwareBuild.firmware(thermistors: thermistors, isField: isField)
        let process = try await ChildProcess(
            [FirmwareBuild.nanoSim] + options + (control.map { ["--control", $0] } ?? []) + [firmware])
        let ready = try await process.output.line("nano-sim's pty")
        return (process, String(ready.dropFirst("PTY ".count)))
    }

    /// Sends a command; returns the reply after the `ok`.
    @discardableResult
    private func order(_ command: String) async throws -> [Substring] {
        try await process.write(command + "\n")
        let answer = try await process.output.line("nano-sim's answer to \(command)")
        let words = answer.split(separator: " ")
        guard words.first == "ok" else { throw Refused(command: command, answer: answer) }
        return Array(words.dropFirst())
    }

    func pressButton() async throws { try await order("press") }

    func setSkin(_ celsius: Double) async throws { try await order("temperature skin \(celsius)") }

    func setWater(_ celsius: Double) async throws { try await order("temperature water \(celsius)") }

    func setPotentiometer(_ reading: Int) async throws { try await order("turn \(Double(reading) / 1023)") }

    func run(for time: Duration) async throws { try await order("wait \(time / .seconds(1))") }

    func moveClock(by time: Duration) async throws {
        try await order("skip \(time / .seconds(1))")
        try await order(Self.notice)
    }

    func reset() async throws {
        try await order("reset")
        try await order("wait 2")
    }

    func motor() async throws -> Motor {
        let words = try await order("pwm")
        guard words.count == 2, let duty = Int(words[1]) else {
            throw Refused(command: "pwm", answer: words.joined(separator: " "))
        }
        return Motor(isEnabled: words[0] == "1", duty: duty)
    }

    func stop() async {
        await process.closeInput()
        _ = try? await process.ending()
        await FirmwareSlots.shared.giveBack()
    }
}
