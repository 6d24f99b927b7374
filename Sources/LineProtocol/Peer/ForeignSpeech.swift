/// Recognizes the lines of other families' devices, if a peer was expected.
enum ForeignSpeech {
    /// The beginnings of other devices' lines. A pump answers `Hello` with `ERROR:UNKNOWN_COMMAND`.
    private static let beginnings = [
        "ERROR:", "STATUS:{", "TEMP:", "PUMP:", "MANUAL:", "SPEED:", "LED:", "LIVE LOG:", "LOG Values:",
    ].map { Array($0.utf8) }

    /// Whether the line begins like a line of a pump, a storm sensor, or an LED board.
    static func isRecognised(_ line: [UInt8]) -> Bool { beginnings.contains { line.starts(with: $0) } }
}
