/// Recognizes devices of other families on a line where a peer was expected.
enum ForeignSpeech {
    /// The beginnings of other devices' lines. A pump answers `ERROR:UNKNOWN_COMMAND` to unknown commands.
    private static let beginnings = [
        "ERROR:", "STATUS:{", "TEMP:", "PUMP:", "MANUAL:", "SPEED:", "LED:", "LIVE LOG:", "LOG Values:",
    ].map { Array($0.utf8) }

    /// Whether a pump, a storm sensor, or an LED board sends such a line.
    static func isRecognised(_ line: [UInt8]) -> Bool { beginnings.contains { line.starts(with: $0) } }
}
