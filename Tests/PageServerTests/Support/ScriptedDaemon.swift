import DescriptorIO
import StrictJSON
import TestSupport

/// A stand-in for pumpctld that leaves most requests to the test: ``next(_:)`` takes a request, and
/// ``Heard/answer(_:)`` answers it.
final class ScriptedDaemon: Sendable {
    /// A request that arrived.
    struct Heard: Sendable {
        let request: JSONValue
        let channel: DescriptorChannel

        var verb: String { request["do"]?.text ?? "" }

        /// Sends the response with these members.
        func answer(_ members: [String: JSONValue] = [:]) async throws {
            let response = JSONValue.object(
                ["ok": true].merging(members) { $1 }.merging(["id": request["id"] ?? .null]) { $1 })
            try await channel.write(Array(response.bytes) + [0x0A])
        }
    }

    let path: String
    /// The requests that no test has taken yet.
    private let heard = Watched<[Heard]>([])
    private let channels = Watched<[DescriptorChannel]>([])
    /// The connections that the server has closed.
    private let ended = Watched<[DescriptorChannel]>([])
    /// The connections that wait for the greeting; nil while connections are greeted immediately.
    private let held = Watched<[DescriptorChannel]?>(nil)
    private let listener: SocketListener
    /// The greeting.
    private let hello: String

    static let hello = #"{"event":"hello","version":1}"#

    /// Listens. The requests `devices`, `describe` and `state` are answered at once, with one pump. All others wait for
    /// ``next(_:)``.
    init(in folder: TemporaryFolder, hello: String) async throws {
        path = folder.path("daemon")
        self.hello = hello
        let listener = try await SocketListener.listen(at: .unix(path: path))
        self.listener = listener
        Task { [weak self] in
            while let channel = try await listener.accept() {
                guard let self else { return }
                channels.update { $0.append(channel) }
                if held.update({ held in
                    held?.append(channel)
                    return held == nil
                }) {
                    try? await channel.write(Array("\(hello)\n".utf8))
                }
                Task { [weak self] in
                    defer { self?.ended.update { $0.append(channel) } }
                    var lines = JSONLines()
                    while let bytes = try await channel.read() {
                        lines.append(bytes)
                        while let line = lines.next() {
                            try await self?.take(Heard(request: try JSONValue(line, size: .max), channel: channel))
                        }
                    }
                }
            }
        }
    }

    private func take(_ heard: Heard) async throws {
        guard heard.request["id"]?.integer != nil else { return await heard.channel.close() }
        switch heard.verb {
        case "devices": try await heard.answer(["devices": .array([object(["name": "pump", "family": "pump"])])])
        case "describe":
            try await heard.answer(["families": .array([object(["name": "pump", "stop": "off"])])])
        case "state": try await heard.answer(["device": "pump", "link": "up", "values": object(["state": "OFF"])])
        case "subscribe":
            // The first state event has the link only: a test sends the values.
            try await heard.channel.write(Array("{\"event\":\"state\",\"device\":\"pump\",\"link\":\"up\"}\n".utf8))
            self.heard.update { $0.append(heard) }
        default: self.heard.update { $0.append(heard) }
        }
    }

    /// Waits for the next request with this verb.
    func next(_ verb: String) async throws -> Heard {
        try await heard.wait(for: "a request '\(verb)'") { heard in
            heard.firstIndex { $0.verb == verb }.map { heard.remove(at: $0) }
        }
    }

    /// Accepts new connections without a greeting from now on.
    func holdGreetings() { held.update { $0 = [] } }

    /// Waits until a connection waits for the greeting.
    func untilHeld() async throws {
        _ = try await held.wait(for: "a connection") { $0?.isEmpty == false ? true : nil }
    }

    /// Greets the connections that wait, and later ones immediately.
    func greet() async throws {
        let channels = held.update { held in
            defer { held = nil }
            return held ?? []
        }
        for channel in channels { try await channel.write(Array("\(hello)\n".utf8)) }
    }

    /// Whether the server has closed a connection.
    func hasEnded(_ channel: DescriptorChannel) -> Bool { ended.state.contains { $0 === channel } }

    /// Waits until the server has closed a connection.
    func untilEnded(_ channel: DescriptorChannel) async throws {
        _ = try await ended.wait(for: "the end of a connection") { $0.contains { $0 === channel } ? true : nil }
    }

    /// The number of requests with this verb that no test has taken.
    func count(_ verb: String) -> Int { heard.state.count { $0.verb == verb } }

    /// Closes all connections and stops listening.
    func close() async {
        await listener.close()
        for channel in channels.state { await channel.close() }
    }
}

/// Returns a JSON object.
func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
    .object(Dictionary(members.map { ($0, $1) }) { $1 })
}
