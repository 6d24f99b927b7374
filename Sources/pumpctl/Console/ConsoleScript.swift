import LineProtocol

/// Lines that come through a pipe, of which the next is sent when the device has said all that it has to say.
struct ConsoleScript {
    private var text: [UInt8] = []
    private var hasEnded = false
    private var waitingSince: ContinuousClock.Instant?
    /// Whether the line that was sent last was answered, or none was.
    private var isAnswered = true
    private var deviceError: String?

    /// How many lines were not sent, since they would have set the pump to another speed than they say.
    var refusals = 0

    /// Whether the device is given time to answer.
    var isWaiting: Bool { waitingSince != nil }

    /// Whether there is nothing more to send.
    var isOver: Bool { hasEnded && text.isEmpty }

    mutating func append(_ bytes: [UInt8]) { text += bytes }

    /// There will be no more lines; what the device still says is waited for.
    mutating func end(at instant: ContinuousClock.Instant) {
        hasEnded = true
        waitingSince = waitingSince ?? instant
    }

    /// The next line to send, without its end; nil where none is whole yet, or the device may still answer.
    mutating func nextLine() -> [UInt8]? {
        guard !isWaiting, let end = text.firstIndex(of: 0x0A) ?? (hasEnded && !text.isEmpty ? text.endIndex : nil)
        else {
            return nil
        }
        var line = text[..<end]
        text.removeFirst(min(text.count, end + 1))
        if line.last == 0x0D { line.removeLast() }
        return Array(line)
    }

    /// A line was sent, and the device may answer.
    mutating func waitForAnswer(from instant: ContinuousClock.Instant) {
        waitingSince = instant
        isAnswered = false
    }

    mutating func heard(at instant: ContinuousClock.Instant) {
        guard isWaiting else { return }
        waitingSince = instant
        isAnswered = true
    }

    mutating func stopWaiting() { waitingSince = nil }

    /// How much longer to wait: for the first of an answer for `timeout`, for the rest until the device is quiet; nil where
    /// nothing is waited for.
    func rest(
        ofQuiet quiet: Duration, timeout: Duration, at instant: ContinuousClock.Instant
    ) -> Duration? {
        waitingSince.map { (isAnswered ? quiet : timeout) - $0.duration(to: instant) }
    }

    /// Looks at what the device said.
    mutating func take(_ line: DeviceLine) {
        guard deviceError == nil else { return }
        if case .error(let code) = PumpMessage(line: Array(line.text.utf8).span, ending: .lineFeed) {
            deviceError = code.rawValue
        }
    }

    /// The failure of a link that broke: lines that follow are not sent to a device that may have started anew.
    func failure(_ reason: String) -> Failure {
        let rest = text.split(separator: 0x0A).count
        let unsent = isOver ? "" : "; not sent: \(rest) lines, and what follows"
        return Failure(.ioError, code: "link_lost", "the link broke: \(reason)\(unsent)")
    }

    /// Fails where a line was refused, by this program or by the device.
    func conclude() throws {
        if refusals > 0 {
            throw Failure(.usage, code: "usage", "\(refusals) of the lines were not sent", hint: "--force sends them")
        }
        if let deviceError {
            throw Failure(.refused, code: "refused", "the device answered \(deviceError)", deviceCode: deviceError)
        }
    }
}
