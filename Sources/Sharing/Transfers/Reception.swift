internal import DeviceKit
internal import LineProtocol
internal import StrictJSON

/// The content that programs can fetch from the devices of a family.
struct SharedContent: Sendable {
    /// The name of the content in requests.
    let name: String
    /// The line that asks for the content.
    let line: String
    /// Begins the reception of the reply.
    let begin: @Sendable () -> any Reception
}

/// The reception of a content from a device's reply, which arrives piece by piece. A content of any length takes no
/// more memory than a piece.
///
/// Receptions are pure values. The reply is that of a ``StreamSpeaker``, which has the link and the clock.
protocol Reception: Sendable {
    /// Whether the content has begun.
    var hasBegun: Bool { get }
    /// The size in bytes that the device has announced; nil if it has announced none.
    var byteCount: Int? { get }
    /// The name that the device has announced; nil if it has announced none.
    var name: String? { get }
    /// The reason that the content is incomplete or damaged; nil if there is none so far.
    var failure: ReceptionFailure? { get }
    /// The members of a response that state how the complete content was checked.
    var check: [String: JSONValue] { get }

    /// Adds a part of the reply, and returns the bytes of the content that are certain now.
    mutating func take(_ bytes: [UInt8]) -> [UInt8]

    /// Ends the reply, which is complete, and returns the rest of the content.
    mutating func finish() -> [UInt8]
}

/// The reason that a received content is incomplete or damaged.
enum ReceptionFailure: Error, Sendable, Hashable {
    /// The device refused the request, sent nothing more, or is of another family.
    case session(SessionError)
    /// The content ends early. The bytes before are right.
    case brokenOff(code: String, reason: String, hint: String)
    /// The content is damaged at an unknown place.
    case damaged(code: String, reason: String, hint: String)
}
