public import DescriptorIO
internal import Glibc
internal import LineProtocol
public import RecordFormat
internal import Synchronization
public import Transports

/// Hands what a device says to the program that keeps the record, and never waits for it.
///
/// What is wrong with the record is told once; the device is controlled on.
public final class Recording: Sendable {
    /// What is wrong with the record, or was.
    public enum Report: Sendable, Hashable {
        /// Nothing is recorded for now.
        case failing(Trouble)
        /// The disk is too slow: not all is recorded.
        case overflowing
        /// It is recorded again; so many records are lost.
        case recovered(lost: Int)
        /// The program that writes has ended: no more is recorded.
        case broken
        /// The program that writes takes longer than is waited for, and goes on by itself.
        case stillWriting
        /// So many records could not be written.
        case lost(Int)
    }

    /// How much may be on its way, in bytes. What comes when that is used up is counted and let go.
    private static let limit = 4 << 20
    /// How long the end of the other program is waited for. It goes on to write when this one is gone.
    private static let patience = Duration.seconds(10)

    private struct State {
        /// The session of the values that a command reads; 0 before the first.
        var session: UInt64 = 0
        var lastSession: UInt64 = 0
        /// Those that have begun and not ended.
        var openSessions: Set<UInt64> = []
        var pending: [UInt8] = []
        var isWriting = false
        /// The other program is gone, or is waited for no longer.
        var isBroken = false
        /// It is waited for no longer.
        var isAbandoned = false
        var lost = 0
        var isEnded = false
        var waiter: UnsafeContinuation<Void, Never>?
    }

    private let channel: DescriptorChannel
    private let process: pid_t
    private let clock: EventLoopClock
    private let family: String
    private let tell: @Sendable (Report) -> Void
    private let state = Mutex(State())

    /// Starts the program that writes; ``listen()`` comes next.
    ///
    /// - Parameters:
    ///   - family: What kind of device it is of, as in `pump`.
    ///   - program: The program; nil for the one that is installed.
    ///   - tell: Told what is wrong, once each time; must not block.
    public init(
        of family: String, by program: CompanionProgram? = nil, on loop: EventLoop = .shared,
        tell: @escaping @Sendable (Report) -> Void
    ) throws(Trouble) {
        let (process, socket) = try CompanionProgram.recorder(program).start(["write"])
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        self.process = process
        channel = DescriptorChannel(taking: socket, kind: .socket, on: loop)
        clock = EventLoopClock(loop)
        self.family = family
        self.tell = tell
    }

    // MARK: What is recorded

    /// The device is there: from now on what it says is of a new session.
    public func beginSession(at endpoint: Endpoint) {
        let device = endpoint.attachedSerialPort?.deviceName
        let session = beginSession(named: endpoint.nameForPeople, device: device)
        state.withLock { $0.session = session }
    }

    /// Begins a session beside others.
    ///
    /// - Returns: Its number.
    public func beginSession(named endpoint: String, device: String?, at time: RecordTime = .now) -> UInt64 {
        let session = state.withLock { state in
            state.lastSession += 1
            state.openSessions.insert(state.lastSession)
            return state.lastSession
        }
        record(.begun(family: family, endpoint: endpoint, device: device), at: time, in: session)
        return session
    }

    /// The session is over.
    ///
    /// - Parameter session: Which one; nil for that of ``beginSession(at:)``.
    public func endSession(_ reason: String, in session: UInt64? = nil) {
        let session = state.withLock { state in
            let session = session ?? state.session
            return state.openSessions.remove(session)
        }
        if let session { record(.ended(reason: reason), in: session) }
    }

    /// Records what happens now.
    ///
    /// - Parameter session: In which session; nil for that of ``beginSession(at:)``.
    public func record(_ content: Record.Content, at time: RecordTime = .now, in session: UInt64? = nil) {
        let isFirst = state.withLock { state in
            guard !state.isBroken else {
                state.lost += 1
                return false
            }
            let line = Record(session: session ?? state.session, time: time, content).line
            guard state.pending.count + line.utf8.count < Self.limit else {
                state.lost += 1
                return false
            }
            state.pending += line.utf8
            state.pending.append(UInt8(ascii: "\n"))
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if isFirst { Task(executorPreference: channel.loop) { await self.writePending() } }
    }

    private func writePending() async {
        while true {
            let bytes = state.withLock { state in
                defer { state.pending = [] }
                if state.pending.isEmpty { state.isWriting = false }
                return state.pending
            }
            if bytes.isEmpty { break }
            guard (try? await channel.write(bytes)) != nil else { return breakDown() }
        }
        if state.withLock({ $0.waiter != nil && !$0.isBroken }) { await finishInput() }
    }

    // MARK: What becomes of it

    /// Attends to what the other program says.
    public func listen() async {
        let framer = Mutex(LineFramer(limit: 1 << 16))
        await channel.forward { arrival in
            switch arrival {
            case .success(let bytes?):
                framer.withLock { framer in
                    framer.append(bytes.span) { line, _ in
                        let text = line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
                        if let answer = Answer(line: text[...]) { self.take(answer) }
                    }
                }
            case .success(nil), .failure: self.breakDown()
            }
        }
    }

    private func take(_ answer: Answer) {
        switch answer {
        case .failing(let trouble):
            tell(.failing(trouble))
        case .overflowing: tell(.overflowing)
        case .recovered(let lost): tell(.recovered(lost: lost))
        case .done(_, let lost):
            state.withLock { state in
                state.lost += lost
                state.isEnded = true
            }
        case .row, .series, .message, .committed, .refused: break
        }
    }

    /// The other program is gone, as it should at the end, or before; or it is waited for no longer.
    private func breakDown(_ report: Report = .broken) {
        let (isUnexpected, waiter) = state.withLock { state in
            defer {
                if report == .stillWriting, !state.isBroken { state.isAbandoned = true }
                state.isBroken = true
                state.pending = []
                state.waiter = nil
            }
            return (!state.isBroken && !state.isEnded, state.waiter)
        }
        if isUnexpected { tell(report) }
        waiter?.resume()
    }

    // MARK: The end

    /// Ends the sessions that are open, waits until all is on the disk, and tells what is not. Called once, also by a task
    /// that is cancelled.
    ///
    /// - Parameters:
    ///   - reason: Why they end.
    ///   - error: What went wrong; nil where nothing did.
    public func end(_ reason: String, _ error: String? = nil) async {
        for session in state.withLock({ $0.openSessions.sorted() }) {
            if let error { record(.error(code: reason, text: error), in: session) }
            endSession(reason, in: session)
        }
        let timer = Task(executorPreference: channel.loop) {
            guard (try? await self.clock.sleep(for: Self.patience)) != nil else { return }
            self.breakDown(.stillWriting)
        }
        await withUnsafeContinuation { continuation in
            let (isOver, isIdle) = state.withLock { state in
                if !state.isBroken { state.waiter = continuation }
                return (state.isBroken, !state.isWriting)
            }
            if isOver { return continuation.resume() }
            if isIdle { Task(executorPreference: channel.loop) { await self.finishInput() } }
        }
        timer.cancel()
        await channel.close()
        let (isAbandoned, lost) = state.withLock { ($0.isAbandoned, $0.lost) }
        // What has ended, as it should or not, must not be left as a zombie.
        if !isAbandoned { _ = CompanionProgram.status(of: process) }
        if lost > 0 { tell(.lost(lost)) }
    }

    /// The other program writes what it has, says so, and ends.
    private func finishInput() async { try? await channel.withDescriptor { _ = shutdown($0, CInt(SHUT_WR)) } }
}
