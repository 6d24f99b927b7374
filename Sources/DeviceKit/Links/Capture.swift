public import CaptureFormat
internal import DescriptorIO
internal import Glibc
public import LineProtocol
internal import Synchronization

/// A file with all traffic on a program's links, which can be replayed.
///
/// A slow disk must not delay the links, because the next bytes may be OFF. So a separate thread writes the file, and
/// can open it. A write error never affects the links: it is reported once, and the links go on.
///
/// ```swift
/// opening.capture = try Capture(at: "pump.capture", by: "pumpctl 0.1.0", of: .pump, clock: clock) { print($0) }
/// ```
public final class Capture: Sendable {
    /// The largest number of bytes that may wait for the disk. Beyond that, the capture ends. Chosen, not measured.
    private static let longestWaiting = 16 << 20
    /// The approximate size of an event in bytes, without the bytes that went over the link.
    private static let eventLength = 100

    private struct Waiting {
        var events: [CaptureEvent] = []
        var length = 0
        var isWriting = false
        /// The result of opening the file; nil until it is known.
        var opening: Result<Void, CaptureError>?
        /// The waiting callers of ``Capture/opened()``.
        var openers: [UnsafeContinuation<Void, Never>] = []
        /// Whether the capture has ended early. It then takes no more events: a file with a gap can't be replayed.
        var hasEnded = false
        /// The waiting callers of ``Capture/finish(within:)``.
        var finishing: [UnsafeContinuation<Bool, Never>] = []
    }

    private let waiting = Mutex(Waiting())
    /// A separate thread, because writing may block.
    private let writer = EventLoop()
    /// Writes to the file; nil while the file is not open.
    private let file = Mutex<Write?>(nil)
    private let path: String
    private let clock: SessionClock
    private let linkCount = Mutex(0)
    private let tell: @Sendable (CaptureError) -> Void

    /// Writes an event to the file. The function may block; it is never called concurrently.
    package typealias Write = @Sendable (CaptureEvent) throws(CaptureError) -> Void

    /// Creates the file, which must not exist yet.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - program: The name and version of the program, for the header.
    ///   - family: The family of the devices, for the header.
    ///   - clock: The clock that measures the times of events.
    ///   - tell: Receives the reason if the capture ends early, on any thread; must not block.
    /// - Throws: `CaptureError` if the file can't be created.
    public convenience init(
        at path: String, by program: String, of family: Family, clock: any Clock<Duration>,
        tell: @escaping @Sendable (CaptureError) -> Void
    ) throws(CaptureError) {
        let file = try CaptureFile(at: path, CaptureHeader(program: program, family: family.name))
        self.init(at: path, clock: clock, tell: tell) { event throws(CaptureError) in try file.append(event) }
    }

    /// Creates the file on another thread, because the folder may hang, as on a network disk. Returns at once;
    /// ``opened()`` waits.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - program: The name and version of the program, for the header.
    ///   - family: The family of the devices, for the header.
    ///   - clock: The clock that measures the times of events.
    ///   - onFailedOpening: Receives the reason if the file can't be created, on the writing thread; nil if
    ///     ``opened()`` is used instead.
    ///   - tell: Receives the reason if the capture ends early, after the file was created, on any thread; must not
    ///     block.
    public convenience init(
        openingAt path: String, by program: String, of family: Family, clock: any Clock<Duration>,
        onFailedOpening: (@Sendable (CaptureError) -> Void)? = nil, tell: @escaping @Sendable (CaptureError) -> Void
    ) {
        self.init(at: path, clock: clock, onFailedOpening: onFailedOpening, tell: tell) { () throws(CaptureError) in
            let file = try CaptureFile(at: path, CaptureHeader(program: program, family: family.name))
            return { event throws(CaptureError) in try file.append(event) }
        }
    }

    /// Creates a capture with an open file.
    ///
    /// - Parameter write: Writes to the file.
    package convenience init(
        at path: String, clock: any Clock<Duration>, tell: @escaping @Sendable (CaptureError) -> Void,
        write: @escaping Write
    ) {
        self.init(at: path, clock: clock, tell: tell, open: { write })
    }

    /// Creates a capture.
    ///
    /// - Parameter open: Opens the file; may block.
    package init(
        at path: String, clock: any Clock<Duration>, onFailedOpening: (@Sendable (CaptureError) -> Void)? = nil,
        tell: @escaping @Sendable (CaptureError) -> Void,
        open: @escaping @Sendable () throws(CaptureError) -> Write
    ) {
        self.path = path
        self.clock = SessionClock(clock)
        self.tell = tell
        writer.start()
        waiting.withLock { $0.isWriting = true }
        Task(executorPreference: writer) { self.writeWaiting(to: self.open(open, onFailedOpening)) }
    }

    deinit { writer.stop() }

    /// Waits until the file is open.
    ///
    /// - Throws: The reason that the file can't be created.
    public func opened() async throws(CaptureError) {
        await withUnsafeContinuation { continuation in
            let isKnown = waiting.withLock { waiting in
                if waiting.opening == nil { waiting.openers.append(continuation) }
                return waiting.opening != nil
            }
            if isKnown { continuation.resume() }
        }
        try waiting.withLock(\.opening)?.get()
    }

    /// Waits until all events are written, or can't be written.
    ///
    /// - Parameter limit: The longest wait; nil for no limit.
    /// - Returns: False if the limit ended the wait.
    @discardableResult
    public func finish(within limit: Duration? = nil) async -> Bool {
        let timer = limit.map { limit in
            Task { [self] in
                try await clock.sleep(clock.elapsed() + limit)
                for continuation in takeFinishing() { continuation.resume(returning: false) }
            }
        }
        defer { timer?.cancel() }
        return await withUnsafeContinuation { continuation in
            let isDone = waiting.withLock { waiting in
                if waiting.isWriting { waiting.finishing.append(continuation) }
                return !waiting.isWriting
            }
            if isDone { continuation.resume(returning: true) }
        }
    }

    private func takeFinishing() -> [UnsafeContinuation<Bool, Never>] {
        waiting.withLock { waiting in
            defer { waiting.finishing = [] }
            return waiting.finishing
        }
    }

    /// Returns a link that captures all of its traffic, and captures that it was opened.
    ///
    /// - Parameters:
    ///   - link: A link that was just opened.
    ///   - endpoint: The endpoint of the link, as typed.
    ///   - packetCapacity: See `Link.packetCapacity()`.
    public func captured(_ link: any Link, openedFrom endpoint: String, packetCapacity: Int?) -> any Link {
        let number = linkCount.withLock { count in
            count += 1
            return count
        }
        var facts = CarrierFacts(endpoint: endpoint, name: link.name)
        facts.keepsPacketBounds = link.keepsPacketBounds
        facts.maximumWriteLength = link.maximumWriteLength
        facts.packetCapacity = packetCapacity
        facts.deviceAddress = link.deviceAddress
        facts.isDeviceAddressStable = link.isDeviceAddressStable
        facts.mayHaveReset = link.mayHaveReset
        facts.mayBeMidLine = link.mayBeMidLine
        note(.opened(facts), number)
        return CapturingLink(link) { [self] in note($0, number) }
    }

    /// Queues an event of the link with this number, which counts from 1. Never blocks.
    private func note(_ content: CaptureEvent.Content, _ link: Int) {
        let event = CaptureEvent(at: clock.elapsed(), link: link, content)
        let (begins, overflows) = waiting.withLock { waiting -> (Bool, Bool) in
            if waiting.hasEnded { return (false, false) }
            waiting.length += Self.eventLength + content.byteCount
            guard waiting.length <= Self.longestWaiting else {
                waiting.hasEnded = true
                return (false, true)
            }
            waiting.events.append(event)
            defer { waiting.isWriting = true }
            return (!waiting.isWriting, false)
        }
        if begins { Task(executorPreference: writer) { self.writeWaiting(to: self.file.withLock(\.self)) } }
        if overflows { tell(CaptureError(errno: ENOBUFS, path, hint: "capture to a faster disk")) }
    }

    /// Opens the file and resumes the callers of ``opened()``.
    ///
    /// - Returns: The function that writes to the file; nil if there is no file.
    private func open(
        _ open: () throws(CaptureError) -> Write, _ onFailedOpening: (@Sendable (CaptureError) -> Void)?
    ) -> Write? {
        let opening: Result<Write, CaptureError>
        do throws(CaptureError) { opening = .success(try open()) } catch { opening = .failure(error) }
        let openers = waiting.withLock { waiting in
            waiting.opening = opening.map { _ in }
            if case .failure = opening { waiting.hasEnded = true }
            defer { waiting.openers = [] }
            return waiting.openers
        }
        if case .failure(let error) = opening { onFailedOpening?(error) }
        for opener in openers { opener.resume() }
        let write = try? opening.get()
        file.withLock { $0 = write }
        return write
    }

    /// Writes the waiting events until none is left. If there is no file, drops them. Runs on the writing thread.
    private func writeWaiting(to write: Write?) {
        while let events = takeWaiting() {
            guard let write else { continue }
            for event in events {
                do throws(CaptureError) { try write(event) } catch {
                    waiting.withLock { $0.hasEnded = true }
                    tell(error)
                    break
                }
            }
        }
    }

    /// Removes and returns the waiting events. If there are none, resumes the callers of ``finish(within:)`` and
    /// returns nil.
    private func takeWaiting() -> [CaptureEvent]? {
        let (events, finishing) = waiting.withLock {
            waiting -> ([CaptureEvent], [UnsafeContinuation<Bool, Never>]) in
            let events = waiting.events
            (waiting.events, waiting.length) = ([], 0)
            guard events.isEmpty else { return (events, []) }
            defer { waiting.finishing = [] }
            waiting.isWriting = false
            return ([], waiting.finishing)
        }
        for continuation in finishing { continuation.resume(returning: true) }
        return events.isEmpty ? nil : events
    }
}

extension CaptureEvent.Content {
    /// The number of bytes that went over the link.
    fileprivate var byteCount: Int {
        switch self {
        case .sent(let piece), .received(let piece): piece.bytes.count
        case .opened, .breakSent, .ended: 0
        }
    }
}
