import DeviceKit
import FirmwareSim
import Foundation
import LineProtocol
import PeripheralSim
import TestSupport
import Testing
import Transports

/// The kind of LED board on the bench.
enum LEDRigKind: String, CaseIterable, Sendable {
    /// The simulator in this process.
    case simulatorOnTerminal, simulatorOnTCP
    /// The simulator in this process, over BLE with a fake bluetoothd.
    case simulatorOnRadio
    /// Our firmware's core in its own program, on a pseudo-terminal.
    case firmware
    /// The simulator in this process, shared on a pseudo-terminal.
    case shared

    /// Calls `body` with a board whose LED is off, and with a function that returns whether the LED is lit.
    func run(_ body: (_ board: LEDBoard, _ isLit: () async throws -> Bool) async throws -> Void) async throws {
        switch self {
        case .simulatorOnTerminal: try await simulate(on: .terminal, body)
        case .simulatorOnTCP: try await simulate(on: .tcp, body)
        case .simulatorOnRadio:
            let device = try await OfferedDevice(LEDPeripheral())
            let board = LEDBoard(endpoint: device.endpoint, environment: device.environment) {
                try await device.link("led")
            }
            try await body(board) { await device.host.change { led, _ in led.isLit } }
            await device.stop()
        case .firmware:
            let process = try await ChildProcess([SketchBuild.program("led-sim")])
            let endpoint = String(try await process.output.line("led-sim's pty").dropFirst("PTY ".count))
            try await body(LEDBoard(at: endpoint)) {
                try await process.write("lamp\n")
                return try await process.output.line("led-sim's answer") == "ok 1"
            }
            await process.closeInput()
            try await process.ending()
        case .shared:
            let device = try await ServedDevice(LEDFirmware(), on: .tcp)
            let share = try await DeviceShare(.led, by: .terminal) { try await device.link() }
            try await body(LEDBoard(at: share.endpoint)) { await device.host.change { led, _ in led.isLit } }
            await share.close()
            await device.stop()
        }
    }

    private func simulate(
        on place: ServedDevice<LEDFirmware>.Place, _ body: (LEDBoard, () async throws -> Bool) async throws -> Void
    ) async throws {
        let device = try await ServedDevice(LEDFirmware(), on: place)
        try await body(LEDBoard(at: device.endpoint)) { await device.host.change { led, _ in led.isLit } }
        await device.stop()
    }
}

/// An LED board on the bench, as a host reaches it.
struct LEDBoard {
    let endpoint: String
    /// The environment that a program needs to find the board.
    let environment: [String: String]
    /// Opens a link to the board.
    let link: () async throws -> any Link

    init(endpoint: String, environment: [String: String], link: @escaping () async throws -> any Link) {
        self.endpoint = endpoint
        self.environment = environment
        self.link = link
    }

    /// A board whose endpoint is valid for all programs.
    init(at endpoint: String) {
        self.init(endpoint: endpoint, environment: [:]) { try await LinkSchemes.standard.open(Endpoint(endpoint)) }
    }
}

@Suite("Bench: the LED board", .timeLimit(.minutes(5)))
struct LEDBenchTests {
    /// The time limit of a command in real time, so that a busy machine fails no test.
    static let patience = Duration.seconds(30)

    @Test("A session reads and writes the LED", arguments: LEDRigKind.allCases)
    func session(kind: LEDRigKind) async throws {
        try await kind.run { board, isLit in
            let led = try await LEDSession.begin(over: board.link(), clock: ContinuousClock())
            #expect(try await led.read(.led, timeout: Self.patience) == .boolean(false))
            for isOn in [true, true, false, true, false] {
                try await led.write(.boolean(isOn), to: .led, timeout: Self.patience)
                #expect(try await isLit() == isOn)
                #expect(try await led.read(.led, timeout: Self.patience) == .boolean(isOn))
            }
            await led.close()
        }
    }

    @Test("pumpctl led switches the LED", arguments: LEDRigKind.allCases)
    func commands(kind: LEDRigKind) async throws {
        try await kind.run { board, isLit in
            let steps = [
                ("get", false), ("on", true), ("get", true), ("on", true), ("toggle", false), ("toggle", true),
                ("off", false),
            ]
            for (command, isOn) in steps {
                let program = try await ChildProcess(
                    [Executable.pumpctl, "-p", board.endpoint, "--timeout", "30", "led", command],
                    environment: ChildProcess.surroundings.merging(board.environment) { $1 })
                let ending = try await program.ending()
                #expect(ending.status == 0, "\(ending)")
                #expect(ending.output == "led \(isOn ? "on" : "off")\n")
                #expect(try await isLit() == isOn)
            }
        }
    }
}
