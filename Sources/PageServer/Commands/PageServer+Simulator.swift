internal import NIOCore
internal import StrictJSON

// The verbs of simulated devices. They change the world around a device, not the device, so their requests need no
// `seen`.
extension PageServer {
    /// Describes the verbs of a device's simulator.
    func simulator(of device: String, _ channel: any Channel) async throws(Problem) -> Reply {
        Reply(json: try await look(["do": "simulator", "device": .text(device)], channel))
    }

    /// Performs a verb of a device's simulator.
    func simulate(
        _ body: [UInt8], _ device: String, _ session: Session?, _ channel: any Channel
    ) async throws(Problem) -> Reply {
        let members = try members(of: body, ["verb", "arguments"])
        guard let verb = members["verb"]?.text else { throw .badRequest("'verb' must be a string") }
        let arguments = members["arguments"] ?? .array([])
        guard let texts = arguments.elements, texts.allSatisfy(\.isText) else {
            throw .badRequest("'arguments' must be an array of strings")
        }
        let request: [String: JSONValue] = [
            "do": "simulate", "device": .text(device), "verb": .text(verb), "arguments": arguments,
            "by": author(session),
        ]
        let answer = try await look(request, channel, outcome: "unknown")
        return Reply(json: ["outcome": "done", "state": answer["state"] ?? .object([:])])
    }
}
