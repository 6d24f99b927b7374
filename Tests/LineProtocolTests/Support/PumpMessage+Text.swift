import LineProtocol

extension PumpMessage {
    /// What a line of `text` means.
    init(text: String, ending: LineEnding = .lineFeed) {
        self.init(line: Array(text.utf8).span, ending: ending)
    }
}
