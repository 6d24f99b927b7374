internal import RecordFormat
package import StrictJSON

/// The messages that pumpctld, or a simulator with a control socket, sends to a program, each encoded as one line of
/// JSON with its line end.
package enum ControlMessage {
    /// The version of the interface, sent in the greeting. A change that removes something or changes a meaning
    /// increases the version.
    package static let version = 1

    /// Encodes the response to request `id`, which succeeded.
    package static func response(to id: JSONValue, _ members: [String: JSONValue]) -> [UInt8] {
        line(members.merging(["id": id, "ok": true]) { $1 })
    }

    /// Encodes the response to request `id`, which failed entirely or in part. If `id` is null, encodes the failure
    /// of a request whose ID can't be read, or the reason for closing the connection.
    package static func refusal(of id: JSONValue, _ failure: ControlFailure) -> [UInt8] {
        line(["id": id, "ok": false, "error": failure.json])
    }

    /// Encodes an event with the current time.
    package static func event(_ name: String, _ members: [String: JSONValue]) -> [UInt8] {
        line(members.merging(["event": .text(name), "time": .text(RecordTime.now.iso8601)]) { $1 })
    }

    private static func line(_ members: [String: JSONValue]) -> [UInt8] {
        Array(JSONValue.object(members).bytes) + [UInt8(ascii: "\n")]
    }
}
