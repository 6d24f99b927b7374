import LineProtocol

/// Lines that come through a pipe, of which the next is sent when the device has said all that it has to say.
struct ConsoleScript {
    private var text: [UInt8] = []
    private var hasEnded = false
    private var waitingSince: ContinuousClock.Instant?
    /// Whether the line that was sent last was answered, or none was.
    private var isAnswered = true
    private var deviceError: String?
    /// What was sent last, and the first of what was sent and not answered.
    private var lastLine: [UInt8] = []
    private var unanswered: [UInt8]?

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
    mutating func waitForAnswer(to line: [UInt8], from instant: ContinuousClock.Instant) {
        waitingSince = instant
        isAnswered = false
        lastLine = line
    }

    mutating func heard(at instant: ContinuousClock.Instant) {
        guard isWaiting else { return }
        waitingSince = instant
        isAnswered = true
    }

    /// Nothing more is waited for.
    ///
    /// - Returns: The line that was not answered; nil where it was.
    mutating func stopWaiting() -> [UInt8]? {
        waitingSince = nil
        guard !isAnswered else { return nil }
        isAnswered = true
        unanswered = unanswered ?? lastLine
        return lastLine
    }

    /// How much longer to wait: for the first of an answer for `timeout`, for the rest until the device is quiet; nil where
    /// nothing is waited for.
    func rest(
        ofQuiet quiet: Duration, timeout: Duration, at instant: ContinuousClock.Instant
    ) -> Duration? {
        waitingSince.map { (isAnswered ? quiet : timeout) - $0.duration(to: instant) }
    }

    /// Looks at what the device said.
    ///
    /// - Parameter errorCode: Tells the code of the error that a line tells of, by the rules of the device's family.
    mutating func take(_ line: DeviceLine, errorCode: (Span<UInt8>, LineEnding) -> String?) {
        guard deviceError == nil, !line.isContinuation else { return }
        deviceError = errorCode(Array(line.text.utf8).span, line.hasEnd ? .lineFeed : .cut)
    }

    /// The failure of a link that broke: lines that follow are not sent to a device that may have started anew.
    func failure(_ reason: String) -> Failure {
        let rest = text.split(separator: 0x0A).count
        let lines = rest == 0 ? [] : [rest == 1 ? "1 line" : "\(rest) lines"]
        let unsent = lines + (hasEnded ? [] : ["what follows"])
        return Failure(
            .ioError, code: "link_lost",
            "the link broke: \(reason)" + (unsent.isEmpty ? "" : "; not sent: \(unsent.joined(separator: ", and "))"))
    }

    /// Fails where a line was refused, by this program or by the device, or not answered.
    ///
    /// - Parameter timeout: How long each answer was waited for.
    func conclude(_ timeout: Duration, _ family: FamilyName, at place: DevicePlace) throws(Failure) {
        if refusals > 0 {
            throw Failure(
                .usage, code: "usage", "\(refusals) of the lines were not sent", hint: "send them as they are: --force")
        }
        if let deviceError {
            throw Failure(
                .refused, code: "refused", "\(place.name): the device answered \(deviceError)",
                hint: family.facts.hint(deviceError), deviceCode: deviceError)
        }
        if let unanswered {
            throw Failure(
                .temporaryFailure, code: "no_answer",
                "\(place.name): no answer to '\(unanswered.printable(limit: 60))' in \(timeout.inSeconds) s",
                hint: DevicePlace.adviceOnSilence(at: place, family))
        }
    }
}
