/// One thing to keep of a session with a device: what was told, and when.
public struct Record: Sendable, Hashable {
    /// What can be kept.
    public enum Content: Sendable, Hashable {
        /// A session has begun. It comes before all else of that session.
        ///
        /// - `family`: `pump`, `storm`, …
        /// - `endpoint`: The endpoint as it was named.
        /// - `device`: What tells the device from others; nil where the carrier does not say.
        case begun(family: String, endpoint: String, device: String?)
        /// The device has told values.
        case reading(kind: String, Reading)
        /// Something has happened.
        case event(kind: String, text: String?)
        /// Something went wrong, with the device or with the link.
        case error(code: String, text: String)
        /// The session has ended. Nothing of that session comes behind it.
        case ended(reason: String)
    }

    /// Which session, by a number that the writer has chosen.
    public var session: UInt64
    /// When.
    public var time: RecordTime
    /// What.
    public var content: Content

    /// A record.
    public init(session: UInt64, time: RecordTime, _ content: Content) {
        self.session = session
        self.time = time
        self.content = content
    }
}

extension Record {
    /// The record on one line without its end: fields between tabs, each a word, a number, or a piece of JSON.
    public var line: String {
        let fields: [String] =
            switch content {
            case .begun(let family, let endpoint, let device):
                ["begun", JSONText.quoted(family), JSONText.quoted(endpoint), Self.optional(device)]
            case .reading(let kind, let reading): ["reading", JSONText.quoted(kind), reading.json]
            case .event(let kind, let text): ["event", JSONText.quoted(kind), Self.optional(text)]
            case .error(let code, let text): ["error", JSONText.quoted(code), JSONText.quoted(text)]
            case .ended(let reason): ["ended", JSONText.quoted(reason)]
            }
        return ([fields[0], "\(session)", "\(time.milliseconds)"] + fields[1...]).joined(separator: "\t")
    }

    /// Reads a line; nil if it is none of a record.
    public init?(line: Substring) {
        let fields = line.fields
        guard fields.count >= 4, let session = UInt64(fields[1]), let milliseconds = Int64(fields[2]) else {
            return nil
        }
        let texts = fields[3...].map { JSONText.unquoted($0) }
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

    private static func optional(_ text: String?) -> String { text.map(JSONText.quoted) ?? "null" }
}
