import DeviceKit
import SimControl
import StrictJSON
import Testing
import TestSupport

/// A pump on the bench with a control socket. Tests do not see which kind of pump it is.
struct ControlledPump: Sendable {
    /// The kind of pump. Both behave like the devices in the field.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        /// The simulator, with the socket of `pumpctl sim pump --control`.
        case simulator
        /// The firmware on the emulated board, with the socket of `nano-sim --control`.
        case firmware

        var testDescription: String { rawValue }
    }

    /// The path of the control socket.
    let path: String
    /// A client of the control socket.
    let client: SimulationClient
    /// The pump's own line, for commands such as ON.
    let line: PumpLine

    /// Performs a verb; returns the pump's observable state after it.
    @discardableResult
    func perform(_ verb: String, _ arguments: String...) async throws -> [String: JSONValue] {
        let request: [String: JSONValue] = [
            "id": 1, "do": .text(verb), "arguments": .array(arguments.map(JSONValue.text)),
        ]
        let answer = try await client.ask(JSONValue.object(request).json)
        return try #require(answer["state"]?.dictionary, "\(verb): \(answer.json)")
    }

    /// Calls `body` with a pump of this kind, and stops the pump afterwards. Skips the test if the firmware can't be
    /// built here.
    static func run(_ kind: Kind, _ body: (ControlledPump) async throws -> Void) async throws {
        let folder = TemporaryFolder()
        let path = folder.path("control")
        switch kind {
        case .simulator:
            let rig = try await SimulatedRig(thermistors: 2)
            try await withCleanup(rig.stop) {
                let server = try await rig.controlled(at: path)
                try await withCleanup(server.close) { try await use(rig, at: path, body) }
            }
        case .firmware:
            if let reason = FirmwareBuild.reasonToSkip { try Test.cancel(Comment(rawValue: reason)) }
            let rig = try await FirmwareRig(thermistors: 2, isField: true, control: path)
            try await withCleanup(rig.stop) { try await use(rig, at: path, body) }
        }
    }

    private static func use(
        _ rig: any PumpRig, at path: String, _ body: (ControlledPump) async throws -> Void
    ) async throws {
        let pump = ControlledPump(path: path, client: try await SimulationClient(path), line: try await .open(rig))
        try await withCleanup(pump.leave) {
            // The status LED is lit for a moment after each command, also after the TEMP that `PumpLine.open` sends.
            try await pump.perform("advance", "1s")
            try await body(pump)
        }
    }

    private func leave() async {
        await client.close()
        await line.close()
    }
}
