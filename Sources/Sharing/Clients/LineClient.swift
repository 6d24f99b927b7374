internal import DescriptorIO
internal import LineProtocol

/// Names one client of a device.
struct ClientID: Hashable, Sendable {
    let number: UInt64
}

/// One client that has a device by its lines: what it has asked for, and what waits to be taken by it.
///
/// What waits is bounded, so that a client that does not read holds up nobody else.
final class LineClient: @unchecked Sendable {
    // @unchecked: it is touched on the thread of its channel's loop only: by its device, whose executor that is, and by its
    // own tasks, which prefer it.

    /// What becomes of a client that does not read, or that leaves.
    enum Kind: Sendable {
        /// A connection, which is closed.
        case connection
        /// A connection that lasts as long as the link to the device does.
        case attached
        /// A visit to a pseudo-terminal, which only its users can end.
        case terminal
    }

    /// The most bytes that may wait to be taken, but for one answer of any length that comes while less than half of that waits.
    static let outgoingLimit = 1 << 16
    /// The most bytes that may wait to be sent to the device.
    static let incomingLimit = 1 << 16

    /// The most lines that make the device safe that may be under way; more get no answer of their own.
    static let stopLimit = 16

    /// How much is written at once. A client that takes this much within the patience of its device is not stalled.
    private static let pieceLength = 4096

    let id: ClientID
    /// What the log calls it.
    let name: String
    let kind: Kind
    let channel: DescriptorChannel
    /// Whether it came when as many were there as may be: it may make the device safe and ask, for a short time.
    let isExtra: Bool
    /// What it has said of its first line; nil once that is known to be for the device.
    private var firstLine: FirstLine?
    /// Whether it has said all that it will.
    var hasEnded = false
    /// Whether its lines are being attended to.
    var isServed = false
    /// Called once its connection is closed: until then it counts.
    var onEnd: (@Sendable () -> Void)?
    /// How many of its lines that make the device safe are under way.
    var stopCount = 0
    /// When it last sent a line that makes the device safe, by its device's clock.
    var lastStop: Duration?
    /// Whether it was reproached with an offence that does not part with it.
    var isReproached = false
    /// Whether an answer to one of its lines may follow.
    var isOwedAnswer: Bool { isServed || stopCount > 0 }

    /// Whether it takes what it is told.
    private var isListening = true
    private let newFramer: ClientFramer
    private var framer: ClientFramer
    private var lines: [WaitingLine] = []
    private var lineBytes = 0
    private var outgoing: [UInt8] = []
    private var beingWritten = 0
    private var writer: Task<Void, Never>?
    /// Who waits for it to take something.
    private var waiters: [CheckedContinuation<Bool, Never>] = []

    /// - Parameter framer: Cuts what it says.
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

    // MARK: What it asks for

    /// What is wrong with what a client says.
    enum Offence: String, Error {
        /// A line is longer than any that a device takes.
        case longLine = "its line is too long"
        /// So much waits to be sent to the device that no more is kept.
        case flood = "it sends faster than the device takes"
        /// So much waits to be taken by it that no more is kept.
        case doesNotRead = "it does not read"
        /// It has taken nothing for a while of what it asked for.
        case stalled = "it has stopped reading what it asked for"
        /// It is a browser, or another program that means no device.
        case foreignProtocol = "it speaks HTTP, TLS or SSH; nothing of it was sent"
        /// It came when as many were there as may be, and had its time, or wants more than to make the device safe.
        case noPlace = "there are too many clients"
        /// What it has asked for has broken off. Hanging up tells it so.
        case brokenOff = "the answer has broken off"
    }

    /// A line that waits for its turn.
    struct WaitingLine {
        var line: ClientLine
        /// How many lines that make the device safe had come before it, by all clients.
        var stopsBefore: UInt64
        /// In which of the times between two pauses of this process it came; nil where it may have come in a pause.
        var epoch: UInt32?
    }

    /// Takes in what it said; what this completes.
    ///
    /// - Throws: ``Offence/foreignProtocol`` or ``Offence/longLine``, of its first line.
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

    /// Keeps a line until its turn; returns false where too much waits already.
    func enqueue(_ waiting: WaitingLine) -> Bool {
        guard lineBytes + waiting.line.bytes.count < Self.incomingLimit else { return false }
        lines.append(waiting)
        lineBytes += waiting.line.bytes.count + 1
        return true
    }

    /// Takes out the line whose turn it is.
    func nextLine() -> WaitingLine? {
        guard !lines.isEmpty else { return nil }
        let next = lines.removeFirst()
        lineBytes -= next.line.bytes.count + 1
        return next
    }

    /// Takes out those of the lines that wait for which a condition holds.
    func takeLines(where isTaken: (_ line: ClientLine) -> Bool) -> [ClientLine] {
        let taken = lines.map(\.line).filter(isTaken)
        lines.removeAll { isTaken($0.line) }
        lineBytes -= taken.reduce(0) { $0 + $1.bytes.count + 1 }
        return taken
    }

    /// Forgets all that it has asked for, the beginning of a line too.
    func forgetLines() {
        (lines, lineBytes) = ([], 0)
        forgetLineBegun()
    }

    /// Forgets the beginning of a line.
    func forgetLineBegun() { framer = newFramer }

    /// Whether it has begun a line, and bytes that come by themselves begin with a whole line for which a condition holds:
    /// another user of the pseudo-terminal says it.
    func isInterrupted(by bytes: [UInt8], where isLine: (_ line: [UInt8]) -> Bool) -> Bool {
        guard kind == .terminal, framer.hasBegun else { return false }
        var own = newFramer
        guard case .whole(let line)? = own.append(bytes).first else { return false }
        return isLine(line)
    }

    // MARK: What it is told

    /// Tells it `bytes` as soon as it takes them; returns false where too much waits already.
    func tell(_ bytes: [UInt8]) -> Bool {
        guard isListening else { return true }
        if writer == nil, (try? channel.writeAtOnce(bytes)) ?? true { return true }
        let waiting = outgoing.count + beingWritten
        // A list of many devices is longer than the limit.
        guard waiting <= Self.outgoingLimit / 2 || waiting + bytes.count <= Self.outgoingLimit else { return false }
        outgoing += bytes
        write()
        return true
    }

    /// Waits until it has taken so much of what it was told that there is room for more.
    ///
    /// - Parameter patience: How long it may take nothing at all.
    /// - Returns: Whether it did; true also if it has left.
    func hasRoom(within patience: Duration, by clock: any Clock<Duration>) async -> Bool {
        while outgoing.count + beingWritten > Self.outgoingLimit / 2 {
            guard await takesSome(within: patience, by: clock) else { return false }
        }
        return true
    }

    /// Waits until it has taken something.
    private func takesSome(within patience: Duration, by clock: any Clock<Duration>) async -> Bool {
        let timer = Task(executorPreference: channel.loop) {
            if (try? await clock.sleep(for: patience)) != nil { self.endWait(takesSome: false) }
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { waiters.append($0) }
    }

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
                // One that has left is told of by its reader.
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

    /// Closes its connection.
    func close() async {
        await channel.close()
        onEnd?()
        onEnd = nil
    }

    /// Waits until it has taken what it was told.
    func finish() async {
        await writer?.value
        // Behind what was told at once, of which the kernel may have taken a part.
        try? await channel.write([])
    }

    /// Stops listening: what waits to be taken is forgotten.
    func fallSilent() {
        isListening = false
        writer?.cancel()
        channel.cancelWriting()
        endWriting()
    }
}
