internal import ControlProtocol
internal import DeviceKit
internal import RecordFormat
internal import StrictJSON
internal import Synchronization

/// The last change of a device: a command that was sent, or a change that the device reported as made by hand, such as a
/// press of its button.
struct DeviceChange: Sendable {
    /// The author of a change that a person made at the device.
    static let byHand = "by hand"

    /// The name of the command; of a change by hand, the name of the command with the same effect, or else of the event
    /// by which the device has reported the change; nil for a line that is no command of the family.
    var command: String?
    /// The program that has sent the command, or ``byHand``.
    var by: String
    /// Whether the device has carried out the change; false if that is not known.
    var isDone = true
    /// The time at which the reply or the report of the device arrived, or at which the wait for the reply ended.
    var time = RecordTime.now

    /// The change as `last_change`.
    var json: JSONValue {
        .object([
            "command": command.map(JSONValue.text) ?? .null, "by": .text(by), "time": .text(time.iso8601),
            "outcome": isDone ? "done" : "unknown",
        ])
    }
}

/// The time at which anything last arrived from a device, over all of its links.
final class HeardTime: Sendable {
    private let milliseconds = Mutex<Int64?>(nil)

    func note() { milliseconds.withLock { $0 = RecordTime.now.milliseconds } }

    /// The time as ISO 8601; null if nothing has arrived yet.
    var json: JSONValue {
        milliseconds.withLock(\.self).map { .text(RecordTime(milliseconds: $0).iso8601) } ?? .null
    }
}
