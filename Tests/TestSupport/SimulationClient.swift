internal import DescriptorIO
package import StrictJSON

/// A program at the control socket of a simulator. It checks each message in both directions against the JSON schema.
package final class SimulationClient: Sendable {
    private static let schema = JSONSchema(path: "packaging/schema/simulation.schema.json")

    /// A line that the schema rejects although it should accept it, or the reverse.
    package struct NotBySchema: Error { package var line: String }
    /// The simulator has hung up.
    package struct HungUp: Error {}

    /// The simulator's first message.
    package let hello: JSONValue
    private let channel: DescriptorChannel
    private let lines: Watched<JSONLines>

    package init(_ path: String) async throws {
        channel = try await .connect(to: .unix(path: path), deadline: .now + patience)
        lines = Watched(JSONLines())
        hello = try await Self.message(from: channel, lines)
    }

    /// Sends a line and returns the reply. The schema must accept the line if and only if `isRequest`.
    ///
    /// - Throws: ``NotBySchema`` for `line`, before it is sent, or for the reply; ``HungUp``.
    package func ask(_ line: String, isRequest: Bool = true) async throws -> JSONValue {
        let value = try? JSONValue(parsing: line)
        let fits = value.map { Self.schema.fits($0, "request") } ?? false
        guard fits == isRequest else { throw NotBySchema(line: line) }
        try await channel.write(Array((line + "\n").utf8))
        return try await Self.message(from: channel, lines)
    }

    package func close() async { await channel.close() }

    private static func message(
        from channel: DescriptorChannel, _ lines: Watched<JSONLines>
    ) async throws -> JSONValue {
        while true {
            if let line = lines.update({ $0.next() }) {
                let value = try JSONValue(line, size: .max)
                guard schema.fits(value, "message") else { throw NotBySchema(line: value.json) }
                return value
            }
            guard let bytes = try await channel.read() else { throw HungUp() }
            lines.update { $0.append(bytes) }
        }
    }
}
