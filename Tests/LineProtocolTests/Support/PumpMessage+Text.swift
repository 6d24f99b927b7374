import LineProtocol

extension PumpMessage {
    /// Parses `text` as one line.
    init(text: String, ending: LineEnding = .lineFeed) {
        self.init(line: Array(text.utf8).span, ending: ending)
    }
}
