public import DescriptorIO
internal import Glibc
internal import LineProtocol
public import RecordFormat
internal import Synchronization
public import Transports

/// Passes the readings, events and errors of a device to the writing program, `pumpctl-record`, which stores them in
/// the record. Only ``end(_:_:)`` waits for that program.
///
/// A problem with the record is reported, and never interrupts the control of the device.
public final class Recording: Sendable {
    /// A problem with the record, or the end of one.
    public enum Report: Sendable, Hashable {
        /// The writing program can't write to the record now.
        case failing(Trouble)
        /// The disk is too slow, so records are lost.
        case overflowing
        /// Recording has resumed; `lost` records are missing since recording began.
        case recovered(lost: Int)
        /// The writing program has ended, so nothing more is recorded.
        case broken
        /// The writing program took longer than 10 s at the end, and goes on writing after this program has ended.
        case stillWriting
        /// The number of records that are known to be lost, at the end of the recording.
        case lost(Int)
    }

    /// The largest number of bytes that wait for the writing program, which bounds the memory. Further records are
    /// counted as lost.
    private static let limit = 4 << 20
    /// The longest wait for the end of the writing program.
    private static let patience = Duration.seconds(10)

    private struct State {
        /// The session that ``Recording/beginSession(at:)`` began last; 0 before the first.
        var session: UInt64 = 0
        /// The number of the session that began last, by any method; 0 before the first.
        var lastSession: UInt64 = 0
        /// The sessions that have begun and not ended.
        var openSessions: Set<UInt64> = []
        /// The lines that are not sent to the writing program yet.
        var pending: [UInt8] = []
        /// Whether a task is sending lines to the writing program.
        var isWriting = false
        /// Whether the writing program has ended, or is no longer awaited.
        var isBroken = false
        /// Whether the writing program is no longer awaited.
        var isAbandoned = false
        /// The number of records that are known to be lost.
        var lost = 0
        /// Whether the writing program has reported the numbers of written and lost records, which is its last report.
        var isEnded = false
        /// The waiting caller of ``Recording/end(_:_:)``.
        var waiter: UnsafeContinuation<Void, Never>?
    }

    private let channel: DescriptorChannel
    private let process: pid_t
    private let clock: EventLoopClock
    private let family: String
    private let tell: @Sendable (Report) -> Void
    private let state = Mutex(State())

    /// Starts the writing program. Call ``listen()`` next, and ``end(_:_:)`` at the end.
    ///
    /// - Parameters:
    ///   - family: The name of the device's family, such as `pump`.
    ///   - program: The writing program; nil for the installed `pumpctl-record`.
    ///   - loop: The event loop of the connection to the program.
    ///   - tell: Receives each report, on any thread; must not block.
    /// - Throws: `Trouble` if the program can't be started.
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

    // MARK: Records

    /// Begins a new session for the device, which has connected. Records without a session number belong to this
    /// session from now on.
    public func beginSession(at endpoint: Endpoint) {
        let device = endpoint.attachedSerialPort?.deviceName
        let session = beginSession(named: endpoint.nameForPeople, device: device)
        state.withLock { $0.session = session }
    }

    /// Begins a session in addition to others.
    ///
    /// - Parameters:
    ///   - endpoint: The device's endpoint for people.
    ///   - device: The endpoint that identifies the device, such as `usb:0403:6001/A50285BI`; nil if there is none.
    ///   - time: The time at which the session began.
    /// - Returns: The number of the session.
    public func beginSession(named endpoint: String, device: String?, at time: RecordTime = .now) -> UInt64 {
        let session = state.withLock { state in
            state.lastSession += 1
            state.openSessions.insert(state.lastSession)
            return state.lastSession
        }
        record(.begun(family: family, endpoint: endpoint, device: device), at: time, in: session)
        return session
    }

    /// Ends a session. Does nothing if the session is not open.
    ///
    /// - Parameters:
    ///   - reason: The reason, as a word for programs.
    ///   - session: The number of the session; nil for the session of ``beginSession(at:)``.
    public func endSession(_ reason: String, in session: UInt64? = nil) {
        let session = state.withLock { state in
            let session = session ?? state.session
            return state.openSessions.remove(session)
        }
        if let session { record(.ended(reason: reason), in: session) }
    }

    /// Records an occurrence. Never waits: if too much is waiting for the writing program already, or the program has
    /// ended, the record is lost and counted.
    ///
    /// - Parameters:
    ///   - content: The occurrence.
    ///   - time: The time of the occurrence.
    ///   - session: The number of the session; nil for the session of ``beginSession(at:)``.
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

    /// Sends the pending lines to the writing program until none is left. If ``end(_:_:)`` waits, then ends the input.
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

    // MARK: Reports of the writing program

    /// Starts to handle the reports of the writing program.
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

    /// Handles that the writing program has ended, as expected or early, or that it is no longer awaited.
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

    /// Ends all open sessions, waits up to 10 s until the records are on the disk, and reports the number of lost
    /// records. Call this method once. Cancelling the task does not end the wait.
    ///
    /// - Parameters:
    ///   - reason: The reason for the end, as a word for programs.
    ///   - error: A description of the failure; nil if there was none.
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
        // An ended process would remain as a zombie.
        if isAbandoned { ProcessEnd.reapLater(process) } else { _ = ProcessEnd.reap(process) }
        if lost > 0 { tell(.lost(lost)) }
    }

    /// Closes the writing program's input. The program then writes its remaining records, reports `done` and exits.
    private func finishInput() async { try? await channel.withDescriptor { _ = shutdown($0, CInt(SHUT_WR)) } }
}
