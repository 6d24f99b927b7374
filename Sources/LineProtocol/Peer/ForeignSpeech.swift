/// What devices of other families say on a line where a peer was expected.
enum ForeignSpeech {
    /// How other devices begin their lines. A pump answers `ERROR:UNKNOWN_COMMAND` to what it does not know.
    private static let beginnings = [
        "ERROR:", "STATUS:{", "TEMP:", "PUMP:", "MANUAL:", "SPEED:", "LED:", "LIVE LOG:", "LOG Values:",
    ].map { Array($0.utf8) }

    /// Whether a pump, a storm sensor or an LED board says this.
    static func isRecognised(_ line: [UInt8]) -> Bool { beginnings.contains { line.starts(with: $0) } }
}
