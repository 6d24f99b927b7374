import DescriptorIO
import Glibc
import LineProtocol
import StrictJSON
import Transports
import Verification

/// Operates a device through the control socket of a simulator or an emulated board.
struct SocketStimulus: Stimulus {
    let path: String
    let loop: EventLoop
    /// The time limit of a request. An emulated board needs some seconds to skip half an hour.
    private static let patience = Duration.seconds(60)

    func perform(_ verb: String, _ arguments: [String]) async throws { _ = try await ask(verb, arguments) }

    func state() async throws -> [String: String] {
        let state = try await ask("state", [])["state"]?.dictionary ?? [:]
        return state.mapValues { $0.text ?? $0.json }
    }

    private func ask(_ verb: String, _ arguments: [String]) async throws -> JSONValue {
        let request: [String: JSONValue] = [
            "id": 1, "do": .text(verb), "arguments": .array(arguments.map(JSONValue.text)),
        ]
        return try await SimControlCommand.ask(JSONValue.object(request), at: path, loop, within: Self.patience)
    }

    /// Fails if no simulator listens, or if the simulator controls a device on another serial port than `endpoint`.
    /// Does not fail if the ports can't be compared, as with a `tcp:` endpoint.
    ///
    /// A stimulus at another device could leave that device running: only the tested device is switched off at the end.
    func check(isAt endpoint: Endpoint) async throws {
        guard let port = try await state()["port"], port.hasPrefix("/"), endpoint.scheme == "serial",
            let theirs = realpath(port, nil), let ours = realpath(endpoint.address, nil)
        else { return }
        defer { for path in [theirs, ours] { free(path) } }
        guard strcmp(theirs, ours) != 0 else { return }
        throw Failure(
            .usage, code: "usage", "\(path) controls the device at \(port), not the device at \(endpoint.address)",
            hint: "name the control socket of the tested device: --stimulus SOCKET", outcome: "not_sent")
    }
}
