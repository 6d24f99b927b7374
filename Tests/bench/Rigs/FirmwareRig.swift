import Glibc
import LineProtocol
import Transports
import TestSupport

/// Our firmware on a simulated ATmega328P in nano-sim.
struct FirmwareRig: PumpRig {
    /// The command that gives the firmware time to notice a change: more than three turns of its main loop, each of
    /// which takes about 110 ms.
    private static let notice = "wait 0.4"

    private let endpoint: String
    private let process: ChildProcess

    /// nano-sim has refused a command, or its reply is not understood.
    struct Refused: Error { var command: String, answer: String }

    /// Starts a board, as soon as fewer boards run than there are processors.
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

    /// Sends a command to nano-sim; returns the words of the reply after `ok`.
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
        // The firmware's start takes 1.3 s.
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
