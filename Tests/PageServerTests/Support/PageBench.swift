import DescriptorIO
import RecordFormat
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

/// A server on a port of its own, with a scripted daemon.
struct PageBench {
    let folder = TemporaryFolder()
    let daemon: ScriptedDaemon
    let server: PageServer
    let port: Int
    /// The token of a session that may command.
    let token: String
    private let running: Task<Void, Never>
    private let ended = Watched(false)

    /// Whether the server has ended.
    var hasEnded: Bool { ended.state }

    static func run(
        limits: PageSettings.Limits = .init(), hello: String = ScriptedDaemon.hello, captures: String? = nil,
        pumpctl: String? = nil, otherDaemons: [String] = [], _ body: (PageBench) async throws -> Void
    ) async throws {
        let bench = try await PageBench(limits, hello, captures, pumpctl, otherDaemons)
        do { try await body(bench) } catch {
            await bench.close()
            throw error
        }
        await bench.close()
    }

    private init(
        _ limits: PageSettings.Limits, _ hello: String, _ captures: String?, _ pumpctl: String?,
        _ otherDaemons: [String]
    ) async throws {
        daemon = try await ScriptedDaemon(in: folder, hello: hello)
        let paths = [daemon.path] + otherDaemons
        var settings = PageSettings(
            .loopback(host: "127.0.0.1", port: 0), sessionPath: folder.path("sessions"), daemonSockets: { paths })
        (settings.limits, settings.captures, settings.pumpctl) = (limits, captures, pumpctl)
        // Refuse a wrong token at once: the delay of a second only makes guessing slow.
        settings.limits.wrongToken = 0
        // On a busy machine the daemon's answers may come late.
        settings.limits.answer = Int(patience / .milliseconds(1))
        settings.limits.unanswered = .max
        let server = try await PageServer.start(settings)
        self.server = server
        guard case .loopback(_, let port) = await server.address else { preconditionFailure("the server has no port") }
        self.port = port
        running = Task { [ended] in
            await server.run()
            ended.update { $0 = true }
        }
        token = try Self.token(folder)
    }

    /// Returns the token of a new session.
    static func token(_ folder: TemporaryFolder, mayCommand: Bool = true) throws -> String {
        var file = SessionFile(path: folder.path("sessions"))
        return try file.add(isCode: false, mayCommand: mayCommand, at: .now)
    }

    /// Asks the server to end.
    func end() { running.cancel() }

    private func close() async {
        await daemon.close()
        end()
        await running.value
    }

    func client() async throws -> PageClient { try await PageClient(port) }

    /// Sends a request on a connection of its own.
    func ask(
        _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil, more: String = ""
    ) async throws -> PageClient.Response {
        let client = try await client()
        defer { Task { await client.channel.close() } }
        try await client.send(method, path, body, token: token ?? self.token, more)
        return try await client.response()
    }

    /// The value of `seen` in the present list of devices. A client sends it with a change, to show which state of the
    /// devices it has seen.
    func seen() async throws -> JSONValue {
        try await ask("GET", "/api/v1/devices").json["seen"] ?? .null
    }

    /// Waits until the server has read everything that arrived before. It reads from its connections in the order of
    /// arrival, except within one turn of its loop, so several requests in a row come last.
    func untilTaken() async throws { for _ in 0..<5 { _ = try await ask("GET", "/api/v1/session") } }

    /// Sends a stop in a task of its own.
    func stop() -> Task<PageClient.Response, any Error> {
        Task { try await ask("POST", "/api/v1/devices/pump/stop") }
    }

    /// Sends a change in a task of its own.
    func change(_ name: String, id: String, seen: JSONValue) -> Task<PageClient.Response, any Error> {
        Task {
            try await ask(
                "POST", "/api/v1/devices/pump/commands", object(["id": .text(id), "seen": seen, "name": .text(name)]))
        }
    }
}

/// A connection of an HTTP client.
struct PageClient {
    struct Response: Sendable {
        let status: Int
        let head: String
        let body: [UInt8]

        /// The body; null if it is not JSON.
        var json: JSONValue { (try? JSONValue(body, size: .max)) ?? .null }
        var code: String? { json["code"]?.text }
        var outcome: String? { json["outcome"]?.text }
    }

    let channel: DescriptorChannel
    let received: Watched<ReceivedText>
    private let port: Int

    init(_ port: Int) async throws {
        self.port = port
        channel = try await DescriptorChannel.connect(
            to: .tcp(host: "127.0.0.1", port: UInt16(port)), deadline: .now.advanced(by: patience))
        received = channel.receivedText()
    }

    func send(_ text: String) async throws { try await channel.write(Array(text.utf8)) }

    /// Sends a request's head, and its body if there is one.
    func send(
        _ method: String, _ path: String, _ body: JSONValue? = nil, token: String?, _ more: String = ""
    ) async throws {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(more)"
        if let token { text += "Authorization: Bearer \(token)\r\n" }
        if let body { text += "Content-Type: application/json\r\nContent-Length: \(body.bytes.count)\r\n" }
        try await send(text + "\r\n" + (body.map { "\($0)" } ?? ""))
    }

    func ask(_ method: String, _ path: String, _ body: JSONValue? = nil, token: String?) async throws -> Response {
        try await send(method, path, body, token: token)
        return try await response()
    }

    /// Waits for a response of known length.
    func response() async throws -> Response {
        let head = try await received.text(upTo: "\r\n\r\n")
        func header(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }.map {
                String($0.dropFirst(name.count + 2))
            }
        }
        let length = header("content-length").flatMap { Int($0) } ?? 0
        let body = try await received.wait(for: "\(length) bytes of a body") { received in
            guard received.bytes.count >= length else { return nil as [UInt8]? }
            defer { received.bytes.removeFirst(length) }
            return Array(received.bytes[..<length])
        }
        return Response(status: Int(head.split(separator: " ")[1]) ?? 0, head: head, body: body)
    }

    /// Joins the chunks of a response's body. Their bounds depend on the time at which the pieces arrive.
    static func content(_ response: String) -> String {
        let bytes = Array(response.utf8)
        let lineEnd = Array("\r\n".utf8)
        guard let head = bytes.firstRange(of: lineEnd + lineEnd) else { return "" }
        var (content, rest) = ([UInt8](), bytes[head.upperBound...])
        while let end = rest.firstRange(of: lineEnd) {
            let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16) ?? 0
            if size == 0 { break }
            content += rest[end.upperBound...].prefix(size)
            rest = rest[end.upperBound...].dropFirst(size + lineEnd.count)
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Waits for an event with this name in a stream; returns its number and its data.
    func event(_ name: String) async throws -> (number: Int, data: JSONValue) {
        let before = try await received.text(upTo: "\nevent: \(name)\ndata: ")
        let data = try await received.line()
        let id = before.replacing("\r\n", with: "\n").split(separator: "\n").last { $0.hasPrefix("id: ") } ?? "id: "
        return (try #require(Int(id.dropFirst(4))), try JSONValue(Array(data.utf8), size: .max))
    }
}
