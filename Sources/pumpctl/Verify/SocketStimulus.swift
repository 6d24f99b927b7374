import ControlProtocol
import DescriptorIO
import Verification

/// Hands at a device, by the control socket of a simulator or of an emulated board.
struct SocketStimulus: Stimulus {
    let path: String
    let loop: EventLoop
    /// Half an hour that goes by at once takes an emulated board some seconds.
    private static let patience = Duration.seconds(60)

    func perform(_ verb: String, _ arguments: [String]) async throws { _ = try await ask(verb, arguments) }

    func state() async throws -> [String: String] {
        guard case .object(let state)? = try await ask("state", [])["state"] else { return [:] }
        return state.mapValues {
            switch $0 {
            case .text(let text): text
            case .null, .boolean, .integer, .number, .array, .object: $0.json
            }
        }
    }

    private func ask(_ verb: String, _ arguments: [String]) async throws -> [String: JSONValue] {
        let request: [String: JSONValue] = [
            "id": 1, "do": .text(verb), "arguments": .array(arguments.map(JSONValue.text)),
        ]
        return try await SimControlCommand.ask(JSONValue.object(request), at: path, loop, within: Self.patience)
    }

    /// Fails where nobody listens: that is better known before the first check.
    func check() async throws { try await perform("state", []) }
}
