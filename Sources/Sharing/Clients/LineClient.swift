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
        /// A pseudo-terminal, which outlives its users.
        case terminal
    }

    /// The most bytes that may wait to be taken: more than any answer that is not handed over piece by piece.
    static let outgoingLimit = 1 << 16
    /// The most bytes that may wait to be sent to the device.
    static let incomingLimit = 1 << 16

    let id: ClientID
    /// What the log calls it.
    let name: String
    let kind: Kind
    let channel: DescriptorChannel
    /// Whether it takes what the device says.
    var isListening: Bool
    /// Whether it has said all that it will.
    var hasEnded = false
    /// Whether its lines are being attended to.
    var isServed = false

    private var framer: LineFramer
    private(set) var lines: [[UInt8]] = []
    private var lineBytes = 0
    private var outgoing: [UInt8] = []
    private var beingWritten = 0
    private var writer: Task<Void, Never>?
    /// Who waits for room.
    private var waiter: CheckedContinuation<Bool, Never>?

    init(_ id: ClientID, _ name: String, _ kind: Kind, _ channel: DescriptorChannel, lineLimit: Int) {
        self.id = id
        self.name = name
        self.kind = kind
        self.channel = channel
        isListening = kind != .terminal
        framer = LineFramer(limit: lineLimit)
    }

    // MARK: What it asks for

    /// What is wrong with what a client says.
    enum Offence: String, Sendable {
        /// A line is longer than any that a device takes.
        case longLine = "its line is too long"
        /// So much waits to be sent to the device that no more is kept.
        case flood = "it sends faster than the device takes"
        /// So much waits to be taken by it that no more is kept.
        case doesNotRead = "it does not read"
        /// It has taken nothing for a while of what it asked for.
        case stalled = "it has stopped reading what it asked for"
    }

    /// Takes in what it said; the lines that this completes.
    func append(_ bytes: [UInt8]) -> Result<[[UInt8]], Failure> {
        var lines: [[UInt8]] = []
        var isCut = false
        framer.append(bytes.span) { line, ending in
            isCut = isCut || ending == .cut
            if !line.isEmpty { lines.append(line.withUnsafeBufferPointer { Array($0) }) }
        }
        return isCut ? .failure(Failure(offence: .longLine)) : .success(lines)
    }

    struct Failure: Error {
        let offence: Offence
    }

    /// Keeps a line until its turn; returns false where too much waits already.
    func enqueue(_ line: [UInt8]) -> Bool {
        guard lineBytes + line.count < Self.incomingLimit else { return false }
        lines.append(line)
        lineBytes += line.count + 1
        return true
    }

    /// Takes out the line whose turn it is.
    func nextLine() -> [UInt8]? {
        guard !lines.isEmpty else { return nil }
        let line = lines.removeFirst()
        lineBytes -= line.count + 1
        return line
    }

    /// Takes out the lines that wait.
    func takeLines() -> [[UInt8]] {
        defer { (lines, lineBytes) = ([], 0) }
        return lines
    }

    /// Forgets all that it has asked for, the beginning of a line too.
    func forgetLines() {
        _ = takeLines()
        framer = LineFramer(limit: framer.limit)
    }

    // MARK: What it is told

    /// Tells it `bytes` as soon as it takes them; returns false where too much waits already.
    func tell(_ bytes: [UInt8]) -> Bool {
        guard isListening else { return true }
        if writer == nil, (try? channel.writeAtOnce(bytes)) ?? true { return true }
        guard outgoing.count + beingWritten + bytes.count <= Self.outgoingLimit else { return false }
        outgoing += bytes
        write()
        return true
    }

    /// Waits until it has taken so much of what it was told that there is room for more.
    ///
    /// - Parameter patience: How long it may take for that.
    /// - Returns: Whether it did; true also where it has left.
    func hasRoom(within patience: Duration, by clock: any Clock<Duration>) async -> Bool {
        guard outgoing.count + beingWritten > Self.outgoingLimit / 2 else { return true }
        let timer = Task(executorPreference: channel.loop) {
            if (try? await clock.sleep(for: patience)) != nil { self.endWait(hasRoom: false) }
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { waiter = $0 }
    }

    private func endWait(hasRoom: Bool) {
        waiter?.resume(returning: hasRoom)
        waiter = nil
    }

    private func write() {
        guard writer == nil else { return }
        writer = Task(executorPreference: channel.loop) {
            while !self.outgoing.isEmpty {
                let bytes = self.outgoing
                (self.outgoing, self.beingWritten) = ([], bytes.count)
                // One that has left is told of by its reader.
                guard (try? await self.channel.write(bytes)) != nil else { break }
                self.beingWritten = 0
                self.endWait(hasRoom: true)
            }
            (self.outgoing, self.beingWritten, self.writer) = ([], 0, nil)
            self.endWait(hasRoom: true)
        }
    }

    /// Waits until it has taken what it was told.
    func finish() async { await writer?.value }

    /// Stops listening: what waits to be taken is forgotten.
    func fallSilent() {
        isListening = false
        writer?.cancel()
        outgoing = []
    }
}
