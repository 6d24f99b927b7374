internal import StrictJSON

/// An item of a session with a device: a reading, an event, an error, or the session's beginning or end.
public struct Record: Sendable, Hashable {
    /// The kinds of items.
    public enum Content: Sendable, Hashable {
        /// The session has begun. Precedes all other items of the session.
        ///
        /// - `family`: `pump`, `storm`, …
        /// - `endpoint`: The endpoint for people, such as `/dev/ttyUSB0` or `ble:HMSoft`.
        /// - `device`: The identity of the device, such as `usb:0403:6001/A50285BI`; nil if unknown.
        case begun(family: String, endpoint: String, device: String?)
        /// The device reported values. `kind` is the occasion, as a word for programs, such as `status`.
        case reading(kind: String, Reading)
        /// An event occurred. `kind` is a word for programs, such as `received`.
        case event(kind: String, text: String?)
        /// An error of the device or of the link occurred. `code` is a word for programs, such as `lost`.
        case error(code: String, text: String)
        /// The session has ended; `reason` is a word for programs. Only events of the session may follow, such as that
        /// of a command whose reply was still expected when the link ended.
        case ended(reason: String)
    }

    /// The number of the session, chosen by the sender of the records.
    public var session: UInt64
    /// The time of the item.
    public var time: RecordTime
    /// The item.
    public var content: Content

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - session: The number of the session.
    ///   - time: The time of the item.
    ///   - content: The item.
    public init(session: UInt64, time: RecordTime, _ content: Content) {
        self.session = session
        self.time = time
        self.content = content
    }
}

extension Record {
    /// The record as a line, without its end. The fields are separated by tabs: the kind of item, the session, the
    /// milliseconds since 1970-01-01T00:00:00Z, and then JSON values.
    public var line: String {
        let fields: [String] =
            switch content {
            case .begun(let family, let endpoint, let device):
                ["begun", JSONValue.quoted(family), JSONValue.quoted(endpoint), Self.optional(device)]
            case .reading(let kind, let reading): ["reading", JSONValue.quoted(kind), reading.json]
            case .event(let kind, let text): ["event", JSONValue.quoted(kind), Self.optional(text)]
            case .error(let code, let text): ["error", JSONValue.quoted(code), JSONValue.quoted(text)]
            case .ended(let reason): ["ended", JSONValue.quoted(reason)]
            }
        var line: [UInt8] = []
        line.reserveCapacity(256)
        line += fields[0].utf8
        for field in [session.description, time.milliseconds.description] + fields[1...] {
            line.append(UInt8(ascii: "\t"))
            line += field.utf8
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Parses a line; nil if it is no record.
    public init?(line: Substring) {
        let fields = line.fields
        guard fields.count >= 4, let session = UInt64(fields[1]), let milliseconds = Int64(fields[2]) else {
            return nil
        }
        let texts = fields[3...].map { JSONValue.text(of: $0) }
        let content: Content? =
            switch (fields[0], fields.count) {
            case ("begun", 6):
                if let family = texts[0], let endpoint = texts[1] {
                    .begun(family: family, endpoint: endpoint, device: texts[2])
                } else {
                    nil
                }
            case ("reading", 5):
                if let kind = texts[0], let reading = Reading(json: fields[4]) {
                    .reading(kind: kind, reading)
                } else {
                    nil
                }
            case ("event", 5): texts[0].map { .event(kind: $0, text: texts[1]) }
            case ("error", 5):
                if let code = texts[0], let text = texts[1] { .error(code: code, text: text) } else { nil }
            case ("ended", 4): texts[0].map { .ended(reason: $0) }
            default: nil
            }
        guard let content else { return nil }
        self.init(session: session, time: RecordTime(milliseconds: milliseconds), content)
    }

    private static func optional(_ text: String?) -> String { text.map(JSONValue.quoted) ?? "null" }
}
