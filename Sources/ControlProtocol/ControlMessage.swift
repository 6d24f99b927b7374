internal import RecordFormat

/// What a program is told, as the line that is sent to it.
package enum ControlMessage {
    /// The version of the interface that the first line names. It grows when something is taken away or means something else.
    package static let version = 1

    /// The request `id` was done.
    package static func response(to id: JSONValue, _ members: [String: JSONValue]) -> [UInt8] {
        line(members.merging(["id": id, "ok": true]) { $1 })
    }

    /// The request `id` was not done, or not all of it.
    package static func refusal(of id: JSONValue, _ failure: ControlFailure) -> [UInt8] {
        line(["id": id, "ok": false, "error": failure.json])
    }

    /// Something that nobody asked for.
    package static func event(_ name: String, _ members: [String: JSONValue]) -> [UInt8] {
        line(members.merging(["event": .text(name), "time": .text(RecordTime.now.iso8601)]) { $1 })
    }

    private static func line(_ members: [String: JSONValue]) -> [UInt8] {
        Array((JSONValue.object(members).json + "\n").utf8)
    }
}
