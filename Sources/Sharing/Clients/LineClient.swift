internal import DescriptorIO
internal import LineProtocol

/// Identifies a client of a device.
struct ClientID: Hashable, Sendable {
    let number: UInt64
}

/// A client that uses a device by its lines: the queue of its requests, and the queue of its output.
///
/// Both queues are bounded, so that no client can exhaust the memory.
final class LineClient: @unchecked Sendable {
    // @unchecked: only the thread of the channel's loop uses this object, through the device, whose executor is the
    // loop, and through the object's own tasks, which prefer the loop.

    /// The kinds of clients, which differ in how they are disconnected.
    enum Kind: Sendable {
        /// A connection, which can be closed.
        case connection
        /// A connection to the control socket that was attached to the device. It is closed with the device's link.
        case attached
        /// A visit to a pseudo-terminal: the time in which at least one program has it open. An offence of these
        /// programs does not end the visit.
        case terminal
    }

    /// The maximum number of bytes of queued output. A single message of any length is accepted while at most half of
    /// this limit is in use.
    static let outgoingLimit = 1 << 16
    /// The maximum number of bytes that wait to be sent to the device.
    static let incomingLimit = 1 << 16

    /// The maximum number of a client's stop lines (OFF) in flight. Further stop lines are neither sent nor answered:
    /// the pending ones make the device safe. The number is chosen, not measured.
    static let stopLimit = 16

    /// The maximum size in bytes of a write of queued output. A client that takes this much within
    /// ``SharedDevice/patience`` is not stalled.
    private static let pieceLength = 4096

    let id: ClientID
    /// The client's name in the log.
    let name: String
    let kind: Kind
    let channel: DescriptorChannel
    /// Whether the client was admitted above the client limit. Such a client may send stop lines and queries for
    /// ``SharedDevice/patience``.
    let isExtra: Bool
    /// The beginning of the client's input; nil once the input is known to be for the device, and for a client that is
    /// not a ``Kind/connection``.
    private var firstLine: FirstLine?
    /// Whether the client has ended its input.
    var hasEnded = false
    /// Whether a task is working through the client's queue.
    var isServed = false
    /// Called when the connection is closed. Until then the client counts against the limit.
    var onEnd: (@Sendable () -> Void)?
    /// The number of the client's stop lines in flight.
    var stopCount = 0
    /// The stop line that waits for an earlier one of the client; nil if none waits. Its reply also answers the stop
    /// lines that arrive until it is sent.
    var waitingStop: StopSending?
    /// The value of ``DeviceWatch/elapsed`` at the client's last stop line; nil if there was none.
    var lastStop: Duration?
    /// Whether an offence of this client on a pseudo-terminal was reported. Further offences are not.
    var isReproached = false
    /// Whether a reply to one of the client's lines may follow.
    var isOwedAnswer: Bool { isServed || stopCount > 0 }

    /// Whether output is still delivered.
    private var isListening = true
    /// The framer before any input, which replaces ``framer`` to drop an incomplete line.
    private let newFramer: ClientFramer
    private var framer: ClientFramer
    /// The queue of lines to the device, and its size in bytes with one line end for each line.
    private var lines: [WaitingLine] = []
    private var lineBytes = 0
    /// The queue of output to the client, without the bytes that are being written.
    private var outgoing: [UInt8] = []
    /// The number of bytes that were taken from `outgoing` and are being written.
    private var beingWritten = 0
    private var writer: Task<Void, Never>?
    /// The tasks that wait for the client to read something.
    private var waiters: [CheckedContinuation<Bool, Never>] = []

    /// - Parameter framer: Splits the client's input.
    init(
        _ id: ClientID, _ name: String, _ kind: Kind, _ channel: DescriptorChannel, _ framer: ClientFramer,
        isExtra: Bool = false
    ) {
        self.isExtra = isExtra
        firstLine = kind == .connection ? FirstLine() : nil
        self.id = id
        self.name = name
        self.kind = kind
        self.channel = channel
        newFramer = framer
        self.framer = framer
    }

    // MARK: Input

    /// A reason to disconnect a client. On a pseudo-terminal it is only reported.
    enum Offence: String, Error {
        /// A line exceeds the limit.
        case longLine = "the line is too long"
        /// The queue to the device is full.
        case flood = "the client sends faster than the device accepts"
        /// The queue of output is full.
        case doesNotRead = "the client does not read"
        /// The client asked for a long answer and read nothing of it for ``SharedDevice/patience``.
        case stalled = "the client has stopped reading the reply"
        /// The client is a browser, or another program that does not expect a device.
        case foreignProtocol = "the client speaks HTTP, TLS or SSH; none of its input was sent"
        /// The client was admitted above the client limit, and either its time is over or it sent something else than a
        /// stop line or a query.
        case noPlace = "there are too many clients"
        /// The answer broke off. Only the disconnection can tell the client that the answer is incomplete.
        case brokenOff = "the reply is incomplete"
    }

    /// A stop line that is sent to the device on behalf of one or more equal ones.
    final class StopSending: @unchecked Sendable {
        // @unchecked: only used on the device's executor.

        /// The number of lines that its reply answers.
        var count = 1
    }

    /// A line in the queue.
    struct WaitingLine {
        var line: ClientLine
        /// The number of stop lines, of all clients, that arrived before this line.
        var stopsBefore: UInt64
        /// The number of process pauses before the line arrived; nil if the line may have arrived during a pause.
        var epoch: UInt32?
    }

    /// Adds the client's bytes and returns the frames that they complete.
    ///
    /// - Throws: ``Offence/foreignProtocol`` or ``Offence/longLine``, for the first line.
    func append(_ bytes: [UInt8]) throws(Offence) -> [ClientFramer.Frame] {
        guard let verdict = firstLine?.append(bytes) else { return framer.append(bytes) }
        switch verdict {
        case .undecided: return []
        case .foreign: throw .foreignProtocol
        case .tooLong: throw .longLine
        case .own(let all):
            firstLine = nil
            return framer.append(all)
        }
    }

    /// Adds a line to the queue; returns false if the queue is full.
    func enqueue(_ waiting: WaitingLine) -> Bool {
        guard lineBytes + waiting.line.bytes.count <= Self.incomingLimit else { return false }
        lines.append(waiting)
        lineBytes += waiting.line.bytes.count + 1
        return true
    }

    /// Whether lines wait in the queue.
    var hasLines: Bool { !lines.isEmpty }

    /// Removes and returns the next line of the queue; nil if the queue is empty.
    func nextLine() -> WaitingLine? {
        guard !lines.isEmpty else { return nil }
        let next = lines.removeFirst()
        lineBytes -= next.line.bytes.count + 1
        return next
    }

    /// Removes and returns the queued lines that satisfy a condition.
    func takeLines(where isTaken: (_ line: ClientLine) -> Bool) -> [ClientLine] {
        let taken = lines.map(\.line).filter(isTaken)
        lines.removeAll { isTaken($0.line) }
        lineBytes -= taken.reduce(0) { $0 + $1.bytes.count + 1 }
        return taken
    }

    /// Drops all queued lines, and an incomplete line.
    func forgetLines() {
        forgetQueuedLines()
        forgetLineBegun()
    }

    /// Drops all queued lines.
    func forgetQueuedLines() { (lines, lineBytes) = ([], 0) }

    /// Drops an incomplete line.
    func forgetLineBegun() { framer = newFramer }

    /// Returns whether an incomplete line is buffered, and `bytes` by themselves begin with a complete line that
    /// satisfies a condition. Always false except on a pseudo-terminal.
    ///
    /// On a pseudo-terminal such a line comes from another user, whose input must not be joined to the incomplete line.
    func isInterrupted(by bytes: [UInt8], where isLine: (_ line: [UInt8]) -> Bool) -> Bool {
        guard kind == .terminal, framer.hasBegun else { return false }
        var own = newFramer
        guard case .whole(let line)? = own.append(bytes).first else { return false }
        return isLine(line)
    }

    // MARK: Output

    /// Writes `bytes`, or queues them; returns false if the queue is full. Drops them and returns true if the
    /// connection has ended.
    func tell(_ bytes: [UInt8]) -> Bool {
        guard isListening else { return true }
        if writer == nil, (try? channel.writeAtOnce(bytes)) ?? true { return true }
        let waiting = outgoing.count + beingWritten
        // A single message, such as a list of many devices, may be longer than the limit.
        guard waiting <= Self.outgoingLimit / 2 || waiting + bytes.count <= Self.outgoingLimit else { return false }
        outgoing += bytes
        write()
        return true
    }

    /// Whether at most half of the output queue is in use.
    var hasRoom: Bool { outgoing.count + beingWritten <= Self.outgoingLimit / 2 }

    /// Whether at most a quarter of the output queue is in use: a piece of a transfer then leaves room for other
    /// messages.
    var hasRoomForPiece: Bool { outgoing.count + beingWritten <= Self.outgoingLimit / 4 }

    /// Waits until at most half of the output queue is in use.
    ///
    /// - Parameter patience: The longest time in which the client may read nothing.
    /// - Returns: Whether there is room; true also if the client has left.
    func hasRoom(within patience: Duration, by clock: any Clock<Duration>) async -> Bool {
        while !hasRoom {
            guard await takesSome(within: patience, by: clock) else { return false }
        }
        return true
    }

    /// Waits until the client has read something, or has left, or ``wakeWaiters()``. Returns false if `patience` ends
    /// first.
    func takesSome(within patience: Duration, by clock: any Clock<Duration>) async -> Bool {
        let timer = Task(executorPreference: channel.loop) {
            if (try? await clock.sleep(for: patience)) != nil { self.endWait(takesSome: false) }
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { waiters.append($0) }
    }

    /// Ends all waits for the client to read something, so that each waiting task looks whether it still has to wait.
    func wakeWaiters() { endWait(takesSome: true) }

    /// The end of one task's patience ends the waits of all tasks: the client has read nothing in that time.
    private func endWait(takesSome: Bool) {
        for waiter in waiters { waiter.resume(returning: takesSome) }
        waiters = []
    }

    private func write() {
        guard writer == nil else { return }
        writer = Task(executorPreference: channel.loop) {
            while !self.outgoing.isEmpty {
                let bytes = Array(self.outgoing.prefix(Self.pieceLength))
                self.outgoing.removeFirst(bytes.count)
                self.beingWritten = bytes.count
                // The reader reports a client that has left.
                guard (try? await self.channel.write(bytes)) != nil else { break }
                self.beingWritten = 0
                self.endWait(takesSome: true)
            }
            self.endWriting()
        }
    }

    private func endWriting() {
        (outgoing, beingWritten, writer) = ([], 0, nil)
        endWait(takesSome: true)
    }

    /// Closes the client's connection.
    func close() async {
        await channel.close()
        onEnd?()
        onEnd = nil
    }

    /// Waits until the kernel has taken all output for the client, or the connection has ended.
    func finish() async {
        await writer?.value
        // `writeAtOnce(_:)` may have left a part for the kernel to take later; this write completes after it.
        try? await channel.write([])
    }

    /// Discards queued output and all further output.
    func fallSilent() {
        isListening = false
        writer?.cancel()
        channel.cancelWriting()
        endWriting()
    }
}
