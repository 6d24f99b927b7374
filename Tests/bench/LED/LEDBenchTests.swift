import FirmwareSim
import LineProtocol
import TestSupport
import Testing
import Transports

/// Which LED board is on the bench.
enum LEDRigKind: String, CaseIterable, Sendable {
    /// The simulator, in this process.
    case simulatorOnTerminal, simulatorOnTCP
    /// Our firmware's core, in a program of its own, on a pseudo-terminal.
    case firmware

    /// Runs `body` with a dark board on the bench: where it is, and how its lamp is looked at.
    func run(_ body: (_ endpoint: String, _ isLit: () async throws -> Bool) async throws -> Void) async throws {
        switch self {
        case .simulatorOnTerminal: try await simulate(on: .terminal, body)
        case .simulatorOnTCP: try await simulate(on: .tcp, body)
        case .firmware:
            let process = try await ChildProcess([SketchBuild.program("led-sim")])
            let endpoint = String(try await process.output.line("led-sim's pty").dropFirst("PTY ".count))
            try await body(endpoint) {
                try await process.write("lamp\n")
                return try await process.output.line("led-sim's answer") == "ok 1"
            }
            await process.closeInput()
            try await process.ending()
        }
    }

    private func simulate(
        on place: ServedDevice<LEDFirmware>.Place, _ body: (String, () async throws -> Bool) async throws -> Void
    ) async throws {
        let device = try await ServedDevice(LEDFirmware(), on: place)
        try await body(device.endpoint) { await device.host.change { led, _ in led.isLit } }
        await device.stop()
    }
}

@Suite("Bench: the LED board", .timeLimit(.minutes(5)))
struct LEDBenchTests {
    static let patience = Duration.seconds(30)

    @Test("A session reads and writes its value", arguments: LEDRigKind.allCases)
    func session(kind: LEDRigKind) async throws {
        try await kind.run { endpoint, isLit in
            let link = try await LinkSchemes.standard.open(Endpoint(endpoint))
            let led = try await LEDSession.begin(over: link, clock: ContinuousClock())
            #expect(try await led.read(.led, timeout: Self.patience) == .boolean(false))
            for isOn in [true, true, false, true, false] {
                try await led.write(.boolean(isOn), to: .led, timeout: Self.patience)
                #expect(try await isLit() == isOn)
                #expect(try await led.read(.led, timeout: Self.patience) == .boolean(isOn))
            }
            await led.close()
        }
    }

    @Test("pumpctl led switches it", arguments: LEDRigKind.allCases)
    func commands(kind: LEDRigKind) async throws {
        try await kind.run { endpoint, isLit in
            let steps = [
                ("get", false), ("on", true), ("get", true), ("on", true), ("toggle", false), ("toggle", true),
                ("off", false),
            ]
            for (command, isOn) in steps {
                let program = try await ChildProcess([
                    Executable.pumpctl, "-p", endpoint, "--timeout", "30", "led", command,
                ])
                let ending = try await program.ending()
                #expect(ending.status == 0, "\(ending)")
                #expect(ending.output == "led \(isOn ? "on" : "off")\n")
                #expect(try await isLit() == isOn)
            }
        }
    }
}
