/// Bytes that a test has collected and not yet taken, such as the output of a program, or the input of a simulated
/// device.
public struct ReceivedText: Sendable, CustomStringConvertible {
    public var bytes: [UInt8] = []
    /// Whether the end of input was reached.
    public var hasEnded = false

    public init() {}

    public var text: String { String(decoding: bytes, as: UTF8.self) }
    public var description: String { text.debugDescription + (hasEnded ? ", then the end" : "") }

    /// Takes the next line, without LF or CR LF; nil if no complete line has arrived.
    public mutating func takeLine() -> String? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = bytes[..<end]
        bytes.removeSubrange(...end)
        return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }
}

/// The end of input came before the awaited text.
public struct EndedEarly: Error, CustomStringConvertible {
    public var what: String
    public var seen: String
    public var description: String { "the end came before \(what); there was: \(seen)" }
}

extension Watched where State == ReceivedText {
    /// Waits for the next line, and takes it; returns it without LF or CR LF.
    ///
    /// - Throws: ``EndedEarly`` at the end of input, ``NotInTime`` after `deadline`.
    public func line(_ what: String = "a line", within deadline: Duration = patience) async throws -> String {
        try await wait(for: what, within: deadline) { received in
            if let line = received.takeLine() { return line }
            if received.hasEnded { throw EndedEarly(what: what, seen: received.text) }
            return nil
        }
    }

    /// Waits for `text`, and takes and returns all input up to and including `text`.
    ///
    /// - Throws: ``EndedEarly`` at the end of input, ``NotInTime`` after ``patience``.
    @discardableResult
    public func text(upTo text: String) async throws -> String {
        try await wait(for: text.debugDescription) { received in
            let wanted = Array(text.utf8)
            if let range = received.bytes.firstRange(of: wanted) {
                defer { received.bytes.removeSubrange(..<range.upperBound) }
                return String(decoding: received.bytes[..<range.upperBound], as: UTF8.self)
            }
            if received.hasEnded { throw EndedEarly(what: text.debugDescription, seen: received.text) }
            return nil
        }
    }

    /// Waits for the end of input; returns all input that was not taken.
    ///
    /// - Parameter what: A name for the input, for the error message.
    public func all(_ what: String) async throws -> String {
        try await wait(for: "the end of \(what)") { $0.hasEnded ? $0.text : nil }
    }
}
