public import DescriptorIO
public import LineProtocol
internal import Synchronization

/// A link whose far end is the test: it records the sent text and delivers the test's input.
///
///     let link = ScriptedLink()
///     let session = try await PumpSession.begin(over: link, clock: ManualClock())
///     async let temperatures = session.readTemperatures()
///     #expect(await link.nextSent() == "TEMP\n")
///     await link.deliver("TEMP:34.5\r\n")
///
/// Text is UTF-8: a sent byte that is no part of a character is recorded as U+FFFD.
public final class ScriptedLink: Link {
    /// Returns the device's reply to one write; nil for no reply.
    public typealias Answer = @Sendable (_ sent: String) -> String?

    public let name = "scripted"
    public let keepsPacketBounds: Bool
    public let mayHaveReset: Bool
    public var maximumWriteLength: Int? { nil }
    public let mayBeMidLine: Bool
    public var executor: any SerialExecutor & TaskExecutor { loop }

    enum End {
        case open
        case ended(LinkError?)
    }

    /// A call of `send` that waits for ``releaseSends()``.
    struct HeldSend {
        let id: UInt64
        let continuation: UnsafeContinuation<LinkError?, Never>
    }

    typealias ReadContinuation = UnsafeContinuation<Result<[UInt8]?, LinkError>, Never>

    struct State {
        var arrived: [[UInt8]]
        var receiver: (@Sendable (LinkArrival) -> Void)?
        var reader: ReadContinuation?
        /// Identifies the current reader.
        var readerID: UInt64 = 0
        var end = End.open
        /// The texts sent that ``nextSent()`` has not returned yet.
        var sent: [String] = []
        var sentObserver: UnsafeContinuation<String, Never>?
        /// Identifies the current observer.
        var sentObserverID: UInt64 = 0
        var sendFailure: LinkError?
        var holdsSends = false
        var held: [HeldSend] = []
        var lastID: UInt64 = 0
        var holdsFirstRead = false
        var firstRead: UnsafeContinuation<Void, Never>?
        var firstReadObserver: UnsafeContinuation<Void, Never>?
        var onConfirmation: (@Sendable () async -> LinkError?)?
        var closeCount = 0
    }

    let capacity: Int?
    let takesAtOnce: Bool
    let loop: EventLoop
    let answer: Answer?
    let state: Mutex<State>
    /// Ends when ``close()`` is called.
    let untilClose = AsyncStream<Never>.makeStream()

    /// Creates an open link.
    ///
    /// - Parameters:
    ///   - backlog: The pieces of input that have arrived before the host reads.
    ///   - keepsPacketBounds: Whether each piece of input is a packet.
    ///   - mayHaveReset: Whether opening the link may have reset the device.
    ///   - mayBeMidLine: Whether the device may have received the beginning of a line.
    ///   - takesAtOnce: Whether `sendAtOnce` sends, unless sends are held. If false, it always refuses.
    ///   - packetCapacity: The result of ``packetCapacity()``, in bytes; nil for unknown. The link does not cut
    ///     packets.
    ///   - loop: The event loop of the link.
    ///   - answer: Returns the immediate reply to a write, which arrives before `send` returns, or after `sendAtOnce`.
    public init(
        backlog: [String] = [], keepsPacketBounds: Bool = false, mayHaveReset: Bool = false, mayBeMidLine: Bool = false,
        takesAtOnce: Bool = false, packetCapacity: Int? = nil, on loop: EventLoop = .shared, answer: Answer? = nil
    ) {
        self.takesAtOnce = takesAtOnce
        capacity = packetCapacity
        self.mayBeMidLine = mayBeMidLine
        self.loop = loop
        self.keepsPacketBounds = keepsPacketBounds
        self.mayHaveReset = mayHaveReset
        self.answer = answer
        state = Mutex(State(arrived: backlog.map { Array($0.utf8) }))
    }

    // MARK: Test actions

    /// The result of ``nextSent()`` if nothing was sent in time.
    public static let nothing = "(nothing was sent)"

    /// Waits for the next text sent, one per `send` or `sendAtOnce`, and takes it. Returns ``nothing`` after two
    /// minutes of real time, or if the task is cancelled, so that the test can report the missing text.
    ///
    /// - Precondition: Only one caller waits at a time.
    public func nextSent() async -> String {
        let id = state.withLock { state in
            if state.sent.isEmpty { state.sentObserverID += 1 }
            return state.sent.isEmpty ? state.sentObserverID : nil
        }
        let timer = id.map { id in
            Task { if (try? await Task.sleep(for: .seconds(120))) != nil { self.stopWaitingForSent(id) } }
        }
        defer { timer?.cancel() }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let sent: String? = state.withLock { state in
                    guard state.sent.isEmpty else { return state.sent.removeFirst() }
                    precondition(state.sentObserver == nil, "one waits for what is sent at a time")
                    if Task.isCancelled { return Self.nothing }
                    state.sentObserver = continuation
                    return nil
                }
                if let sent { continuation.resume(returning: sent) }
            }
        } onCancel: {
            if let id { stopWaitingForSent(id) }
        }
    }

    private func stopWaitingForSent(_ id: UInt64) {
        let observer = state.withLock { state in
            guard state.sentObserverID == id else { return Optional<UnsafeContinuation<String, Never>>.none }
            defer { state.sentObserver = nil }
            return state.sentObserver
        }
        observer?.resume(returning: Self.nothing)
    }

    /// Waits for the next `count` texts sent.
    public func nextSent(_ count: Int) async -> [String] {
        var sent: [String] = []
        for _ in 0..<count { sent.append(await nextSent()) }
        return sent
    }

    /// The texts sent that ``nextSent()`` has not returned yet.
    public var unreadSent: [String] { state.withLock { $0.sent } }

    /// The number of calls of ``close()``.
    public var closeCount: Int { state.withLock { $0.closeCount } }

    /// Waits until ``close()`` was called, or the task is cancelled.
    public func untilClosed() async { for await _ in untilClose.stream {} }

    /// Delivers each of `pieces` separately. Returns after the receiver has been called with them; if there is no
    /// receiver, they wait for a read.
    public func deliver(_ pieces: [[UInt8]]) async {
        await onLoop { for piece in pieces { self.arrive(.bytes(piece)) } }
    }

    /// Delivers `text` in one piece, as the other `deliver` does.
    public func deliver(_ text: String) async { await deliver([Array(text.utf8)]) }

    /// Ends the link: with an error it is lost, with nil it is closed at this end.
    public func end(with error: LinkError?) async { await onLoop { self.arrive(.ended(error)) } }

    /// Makes every later `send` throw `error` and send nothing; with nil, later calls send again.
    public func failSends(with error: LinkError?) { state.withLock { $0.sendFailure = error } }

    /// Makes every later `send` wait for ``releaseSends()`` after it has sent its bytes, and `sendAtOnce` refuse.
    public func holdSends() { state.withLock { $0.holdsSends = true } }

    /// Lets waiting and later calls of `send` return.
    public func releaseSends() {
        for send in takeHeld(andHoldOn: false) { send.continuation.resume(returning: nil) }
    }

    /// The number of waiting calls of `send`.
    public var heldSendCount: Int { state.withLock { $0.held.count } }

    /// Makes the next ``receiveAvailable()`` wait for ``releaseFirstRead()``: in a starting session, the first read,
    /// which takes the bytes that have arrived before.
    public func holdFirstRead() { state.withLock { $0.holdsFirstRead = true } }

    /// Waits until a call of ``receiveAvailable()`` is held.
    public func untilFirstReadIsHeld() async {
        await withUnsafeContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.firstRead == nil { state.firstReadObserver = continuation }
                return state.firstRead != nil
            }
            if isHeld { continuation.resume() }
        }
    }

    /// Lets the held ``receiveAvailable()`` continue.
    public func releaseFirstRead() {
        let held = state.withLock { state in
            defer { state.firstRead = nil }
            return state.firstRead
        }
        held?.resume()
    }

    /// Makes ``confirmConnection()`` call `handler`, and throw the error that `handler` returns; nil for none.
    public func onConfirmation(_ handler: @escaping @Sendable () async -> LinkError?) {
        state.withLock { $0.onConfirmation = handler }
    }
}
