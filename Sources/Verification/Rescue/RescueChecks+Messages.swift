internal import LineProtocol
internal import StrictJSON

extension FamilyVerification {
    /// Checks of the messages that a phone sends without being asked. Each member of a message has a check of its own.
    static let messageChecks: [Check] = [
        Check("rescue.message.object", 3, "a message is one JSON object") { bench in
            bench.recall(bench.opening.steps)
            let objects = bench.opening.lines.filter { $0.bytes.first == UInt8(ascii: "{") }
            // If there are objects, another check judges the bytes between them.
            for line in objects.isEmpty ? bench.opening.lines : objects {
                try require(JSONValue(received: line.bytes) != nil, "a JSON object", got: line.bytes.shown)
            }
        },
        Check("rescue.message.unended", 4, "there are no bytes after a message or between two messages") { bench in
            bench.recall(bench.opening.steps)
            let stray = bench.opening.lines.first { $0.bytes.first != UInt8(ascii: "{") }
            try require(stray == nil, "nothing between two messages", got: stray?.bytes.shown ?? "")
        },
        Check("rescue.message.members", 12, "a message contains each member once") { bench in
            guard !bench.openingMessages().isEmpty else { throw CheckSkip(reason: "the phone has sent no message") }
            for message in bench.openingMessages() {
                let names = message.members?.map(\.name) ?? []
                for name in memberNames where names.count(where: { $0 == name }) != 1 {
                    let got =
                        names.contains(name) ? "\"\(name)\" several times" : names.map(\.asWord).joined(separator: ", ")
                    throw CheckFailure(expected: "\"\(name)\" once", got: got)
                }
            }
        },
        memberCheck("id", 5, "id is an upper-case UUID", "an upper-case UUID") { isUpperCaseUUID($0.text ?? "") },
        memberCheck("content", 6, "content is a string", "a string") { $0.text != nil },
        memberCheck("latitude", 7, "latitude is a number from −90 to 90", "a number from −90 to 90") {
            $0.number.map { (-90...90).contains($0) } ?? false
        },
        memberCheck("longitude", 8, "longitude is a number from −180 to 180", "a number from −180 to 180") {
            $0.number.map { (-180...180).contains($0) } ?? false
        },
        // The limit separates the epochs: seconds since 1970 have exceeded it since 2020, seconds since 2001 will in
        // 2051.
        memberCheck(
            "timestamp", 9, "timestamp is the number of seconds since 2001-01-01T00:00:00Z",
            "a number of seconds since 2001"
        ) { $0.number.map { (0...1_600_000_000).contains($0) } ?? false },
        memberCheck("status", 10, "status is pending_sync or synced", "pending_sync or synced") {
            ["pending_sync", "synced"].contains($0.text)
        },
        memberCheck(
            "category", 11, "category is Road Closure, Flooding, Shelter, Resource, SOS or Other",
            "Road Closure, Flooding, Shelter, Resource, SOS or Other"
        ) { ["Road Closure", "Flooding", "Shelter", "Resource", "SOS", "Other"].contains($0.text) },
        Check("rescue.message.unique", 13, "each message has a unique id") { bench in
            var contents: [String: Set<String>] = [:]
            for message in bench.openingMessages() {
                // A phone may send the same message twice, so count only different contents.
                guard let id = message["id"]?.text, let content = message["content"]?.text else { continue }
                contents[id, default: []].insert(content)
            }
            guard contents.values.reduce(0, { $0 + $1.count }) > 1 else {
                throw CheckSkip(reason: "the phone has not sent two different messages")
            }
            let double = contents.first { $0.value.count > 1 }?.key
            try require(double == nil, "a unique id for each message", got: "\(double ?? "") in several messages")
        },
    ]

    /// Checks of messages that are written on the phone.
    static let writingChecks: [Check] = [
        Check(
            "rescue.write.sent", 14, "a phone sends each message that is written on it",
            needs: [.send, .stimulus]
        ) {
            bench in
            let content = "TEST of pumpctl verify (Grüße, \"quoted\" \\ 🌊), please ignore"
            try await bench.act("write", "Resource", content)
            let deadline = bench.elapsed + max(bench.options.timeout, .seconds(2))
            while let line = try await bench.line(by: deadline) {
                guard let message = JSONValue(received: line.bytes), message["content"]?.text == content else {
                    continue
                }
                let category = message["category"]?.text
                return try require(category == "Resource", "Resource", got: category ?? "no category")
            }
            throw CheckFailure(expected: "the message that was written", got: "no message with this content")
        },
        Check(
            "rescue.write.pending", 14, "a message written on a phone is sent with the status pending_sync",
            needs: [.send, .stimulus]
        ) {
            bench in
            let content = "TEST of pumpctl verify (pending), please ignore"
            try await bench.act("write", "Shelter", content)
            let deadline = bench.elapsed + max(bench.options.timeout, .seconds(2))
            while let line = try await bench.line(by: deadline) {
                guard let message = JSONValue(received: line.bytes), message["content"]?.text == content else {
                    continue
                }
                let status = message["status"]?.text
                return try require(status == "pending_sync", "pending_sync", got: status ?? "no status")
            }
            throw CheckSkip(reason: "the phone has not sent the message that was written on it")
        },
    ]

    private static let memberNames = [
        "id", "content", "latitude", "longitude", "timestamp", "status", "category",
    ]

    /// Returns a check that the member `name` has the right form in each message that contains it.
    private static func memberCheck(
        _ name: String, _ number: Int, _ words: String, _ expected: String,
        _ fits: @escaping @Sendable (JSONValue) -> Bool
    ) -> Check {
        Check("rescue.message.\(name)", number, words) { bench in
            let values = bench.openingMessages().compactMap { $0[name] }
            guard !values.isEmpty else { throw CheckSkip(reason: "no message has the member \"\(name)\"") }
            for value in values { try require(fits(value), expected, got: value.shown) }
        }
    }

    private static func isUpperCaseUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) } }
    }
}

extension JSONValue {
    /// Parses a message; nil if the bytes are not an object in UTF-8, or have white space around it. A member that is
    /// there twice is kept twice.
    init?(received bytes: [UInt8]) {
        let value = try? JSONValue(bytes, size: .max, isLenient: true)
        guard let value, value.isObject, value.bytes.count == bytes.count, value.isUnicode else { return nil }
        self = value
    }

    /// Whether all texts are Unicode.
    private var isUnicode: Bool {
        if isText { return text != nil }
        return (elements ?? members?.flatMap { [$0.nameValue, $0.value] } ?? []).allSatisfy(\.isUnicode)
    }

    fileprivate var shown: String {
        text.map { "\"\($0)\"" } ?? (isNumber ? json : "neither a string nor a number")
    }
}

extension Bench {
    /// Returns the readable messages that the phone sent before the first check, and adds the steps from that time to
    /// the transcript.
    fileprivate func openingMessages() -> [JSONValue] {
        recall(opening.steps)
        return opening.lines.compactMap { JSONValue(received: $0.bytes) }
    }
}
