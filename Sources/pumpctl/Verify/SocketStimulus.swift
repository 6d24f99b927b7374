import ControlProtocol
import DescriptorIO
import Verification

/// Hands at a device, by the control socket of a simulator or of an emulated board.
struct SocketStimulus: Stimulus {
    let path: String
    let loop: EventLoop

    func perform(_ verb: String, _ arguments: [String]) async throws {
        let request: [String: JSONValue] = [
            "id": 1, "do": .text(verb), "arguments": .array(arguments.map(JSONValue.text)),
        ]
        _ = try await SimControlCommand.ask(JSONValue.object(request), at: path, loop)
    }

    /// Fails where nobody listens: that is better known before the first check.
    func check() async throws { try await perform("state", []) }
}
