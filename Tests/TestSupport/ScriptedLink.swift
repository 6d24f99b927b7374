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
public final class ScriptedLink: Link {
    /// Returns the device's reply to one write; nil for no reply.
    public typealias Answer = @Sendable (_ sent: String) -> String?

    public let name = "scripted"
    public let keepsPacketBounds: Bool
    public let mayHaveReset: Bool
    public var maximumWriteLength: Int? { nil }
    public let mayBeMidLine: Bool
    public var executor: any SerialExecutor & TaskExecutor { loop }

    private enum End {
        case open
        case ended(LinkError?)
    }

    private struct HeldSend {
        let id: UInt64
        let continuation: UnsafeContinuation<LinkError?, Never>
    }

    private struct State {
        var arrived: [[UInt8]]
        var receiver: (@Sendable (LinkArrival) -> Void)?
        var reader: ReadContinuation?
        /// Identifies the current reader.
        var readerID: UInt64 = 0
        var end = End.open
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
    }

    public func packetCapacity() async -> Int? { capacity }

    private let capacity: Int?
    private let takesAtOnce: Bool
    private let loop: EventLoop
    private let answer: Answer?
    private let state: Mutex<State>
    private let closings = Watched(0)

    /// Creates a link on which `backlog` arrives before anyone listens.
    ///
    /// - Parameters:
    ///   - mayBeMidLine: Whether the device may have received the beginning of a line.
    ///   - takesAtOnce: Whether `sendAtOnce` sends, unless sends are held.
    ///   - packetCapacity: The stated capacity of one packet.
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

    /// Waits for the next text sent, one per `send`, and takes it. Returns ``nothing`` after ``patience``, or if the
    /// task is cancelled, so that the test can report the missing text.
    ///
    /// - Precondition: Only one caller waits at a time.
    public func nextSent() async -> String {
        let id = state.withLock { state in
            if state.sent.isEmpty { state.sentObserverID += 1 }
            return state.sent.isEmpty ? state.sentObserverID : nil
        }
        let timer = id.map { id in
            Task { if (try? await Task.sleep(for: patience)) != nil { self.stopWaitingForSent(id) } }
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

    /// The number of times that the link was closed.
    public var closeCount: Int { closings.state }

    /// Waits until the link was closed.
    public func untilClosed() async throws {
        _ = try await closings.wait(for: "the link to be closed") { $0 > 0 ? true : nil }
    }

    /// Delivers each of `pieces` separately. Returns after the receiver has been called with them; if there is no
    /// receiver, they wait for a read.
    public func deliver(_ pieces: [[UInt8]]) async {
        await onLoop { for piece in pieces { self.arrive(.bytes(piece)) } }
    }

    /// Delivers `text` in one piece, as the other `deliver` does.
    public func deliver(_ text: String) async { await deliver([Array(text.utf8)]) }

    /// Ends the link: with an error it is lost, with nil it reaches its end of input.
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

    /// Makes the next ``receiveAvailable()`` wait for ``releaseFirstRead()``.
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

    /// Makes ``confirmConnection()`` call `handler` and throw the error that it returns.
    public func onConfirmation(_ handler: @escaping @Sendable () async -> LinkError?) {
        state.withLock { $0.onConfirmation = handler }
    }

    // MARK: Link

    public func confirmConnection() async throws(LinkError) {
        let handler = state.withLock { $0.onConfirmation }
        if let error = await handler?() { throw error }
    }

    public func send(_ bytes: [UInt8]) async throws(LinkError) {
        let text = String(decoding: bytes, as: UTF8.self)
        try letOut(text)
        if let answer = answer?(text) { arrive(.bytes(Array(answer.utf8))) }
        guard state.withLock({ $0.holdsSends }) else { return }
        if let failure = await holdSend() { throw failure }
    }

    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        precondition(loop.isCurrent, "sendAtOnce is called on the link's executor")
        guard takesAtOnce, !state.withLock({ $0.holdsSends }) else { return false }
        let text = String(decoding: bytes, as: UTF8.self)
        try letOut(text)
        if let answer = answer?(text) { loop.execute { self.arrive(.bytes(Array(answer.utf8))) } }
        return true
    }

    /// Hands a sent text to the waiting ``nextSent()``, or keeps it for the next call.
    private func letOut(_ text: String) throws(LinkError) {
        let (failure, observer): (LinkError?, UnsafeContinuation<String, Never>?) = state.withLock { state in
            if let failure = state.sendFailure { return (failure, nil) }
            if case .ended(let error) = state.end {
                return (error ?? LinkError(.closed, name: name, activity: "send"), nil)
            }
            defer { state.sentObserver = nil }
            if state.sentObserver == nil { state.sent.append(text) }
            return (nil, state.sentObserver)
        }
        if let failure { throw failure }
        observer?.resume(returning: text)
    }

    public func receive() async throws(LinkError) -> [UInt8]? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let result: Result<[UInt8]?, LinkError>? = state.withLock { state in
                    if !state.arrived.isEmpty { return .success(state.arrived.removeFirst()) }
                    if case .ended(let error) = state.end { return error.map { .failure($0) } ?? .success(nil) }
                    if Task.isCancelled { return .failure(LinkError(.cancelled, name: name, activity: "receive")) }
                    state.reader = continuation
                    state.readerID = id
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                guard state.readerID == id else { return Optional<ReadContinuation>.none }
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: .failure(LinkError(.cancelled, name: name, activity: "receive")))
        }.get()
    }

    private typealias ReadContinuation = UnsafeContinuation<Result<[UInt8]?, LinkError>, Never>

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        if state.withLock({ $0.holdsFirstRead }) {
            await withUnsafeContinuation { continuation in
                let observer = state.withLock { state in
                    state.holdsFirstRead = false
                    state.firstRead = continuation
                    defer { state.firstReadObserver = nil }
                    return state.firstReadObserver
                }
                observer?.resume()
            }
        }
        return try state.withLock { state -> Result<[UInt8], LinkError> in
            if !state.arrived.isEmpty { return .success(state.arrived.removeFirst()) }
            if case .ended(let error?) = state.end { return .failure(error) }
            return .success([])
        }.get()
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        let (arrived, end) = state.withLock { state in
            if case .open = state.end { state.receiver = receiver }
            defer { state.arrived = [] }
            return (state.arrived, state.end)
        }
        for bytes in arrived { receiver(.bytes(bytes)) }
        if case .ended(let error) = end { receiver(.ended(error)) }
    }

    public func close() async {
        closings.update { $0 += 1 }
        await end(with: nil)
        let failure = LinkError(.closed, name: name, activity: "send")
        for send in takeHeld(andHoldOn: true) { send.continuation.resume(returning: failure) }
    }

    // MARK: Implementation

    private func onLoop(_ body: @escaping @Sendable () -> Void) async {
        if loop.isCurrent { return body() }
        await withUnsafeContinuation { continuation in
            loop.execute {
                body()
                continuation.resume()
            }
        }
    }

    /// Must be called on the loop's thread.
    private func arrive(_ arrival: LinkArrival) {
        precondition(loop.isCurrent, "a link's receiver is called on the link's executor")
        let (receiver, reader) = state.withLock { state in
            guard case .open = state.end else { return (Optional<@Sendable (LinkArrival) -> Void>.none, state.reader) }
            let receiver = state.receiver
            let reader = state.reader
            state.reader = nil
            switch arrival {
            case .bytes(let bytes): if receiver == nil, reader == nil { state.arrived.append(bytes) }
            case .ended(let error):
                state.end = .ended(error)
                state.receiver = nil
            }
            return (receiver, reader)
        }
        receiver?(arrival)
        switch arrival {
        case .bytes(let bytes): reader?.resume(returning: .success(bytes))
        case .ended(let error): reader?.resume(returning: error.map { .failure($0) } ?? .success(nil))
        }
    }

    private func holdSend() async -> LinkError? {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let result: LinkError?? = state.withLock { state in
                    if Task.isCancelled { return .some(LinkError(.cancelled, name: name, activity: "send")) }
                    guard state.holdsSends else { return .some(nil) }
                    if case .ended(let error) = state.end {
                        return .some(error ?? LinkError(.closed, name: name, activity: "send"))
                    }
                    state.held.append(HeldSend(id: id, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let send = state.withLock { state in
                state.held.firstIndex { $0.id == id }.map { state.held.remove(at: $0) }
            }
            send?.continuation.resume(returning: LinkError(.cancelled, name: name, activity: "send"))
        }
    }

    /// Removes and returns the waiting calls of `send`. Later calls wait too only if they would have until now and
    /// `holdsSends` is true.
    private func takeHeld(andHoldOn holdsSends: Bool) -> [HeldSend] {
        state.withLock { state in
            state.holdsSends = state.holdsSends && holdsSends
            defer { state.held = [] }
            return state.held
        }
    }
}
