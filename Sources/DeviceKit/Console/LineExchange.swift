public import LineProtocol

/// Sends one line as it is, and hears what comes back until the device is quiet.
///
/// ```swift
/// let exchange = LineExchange(with: .pump, over: link, clock: ContinuousClock())
/// try await exchange.send(Array("STATUS".utf8)) { print($0.text) }
/// ```
public struct LineExchange: Sendable {
    /// What a device has answered.
    public struct Answer: Sendable, Hashable {
        /// How many lines, one without an end included.
        public internal(set) var lineCount = 0
        /// The code of the first error among them.
        public internal(set) var deviceError: String?
    }

    private let family: Family
    private let link: any Link
    private let clock: any Clock<Duration>

    /// An exchange over `link`, which stays the caller's.
    ///
    /// - Parameters:
    ///   - family: What the device is, by whose rules a line tells of an error.
    ///   - clock: Measures all times.
    public init(with family: Family, over link: any Link, clock: any Clock<Duration>) {
        self.family = family
        self.link = link
        self.clock = clock
    }

    /// Takes what has come before anything is sent, which is no answer; waits for nothing.
    public func earlierLines() async throws(LinkError) -> [DeviceLine] { try await DeviceLines.earlier(on: link) }

    /// Sends a line, and hears the answer. What has come before is left: see ``earlierLines()``.
    ///
    /// - Parameters:
    ///   - line: The line, without its end, which a device that takes a packet for a line is not sent.
    ///   - timeout: How long the first line is waited for.
    ///   - quiet: How long a silence ends the answer.
    ///   - hear: Called with each line that comes.
    public func send(
        _ line: [UInt8], within timeout: Duration = PumpSession.defaultTimeout, quiet: Duration = .milliseconds(500),
        hear: (DeviceLine) -> Void
    ) async throws(LinkError) -> Answer {
        var answer = Answer()
        var lines = DeviceLines()
        let reader = LinkReader(link, clock: clock)
        try await link.send(line + (link.keepsPacketBounds ? [] : [0x0A]))
        while let bytes = try await reader.next(within: answer.lineCount == 0 ? timeout : quiet) {
            for line in lines.append(bytes) { answer.take(line, of: family, hear) }
        }
        if let rest = lines.takePending() { answer.take(rest, of: family, hear) }
        return answer
    }
}

extension LineExchange.Answer {
    fileprivate mutating func take(_ line: DeviceLine, of family: Family, _ hear: (DeviceLine) -> Void) {
        lineCount += 1
        if deviceError == nil { deviceError = family.errorCode(of: line) }
        hear(line)
    }
}
