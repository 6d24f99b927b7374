public import CaptureFormat
internal import DescriptorIO
internal import Glibc
public import LineProtocol
internal import Synchronization

/// A file of all that goes over the links of a program, which can be played back.
///
/// The disk holds up nobody, for what is sent next may be OFF: the file is written on another thread, and opened there too where
/// it must not be waited for. A failure to write never reaches the device either: it is told once, and the links go on.
///
/// ```swift
/// opening.capture = try Capture(at: "pump.capture", by: "pumpctl 0.1.0", of: .pump, clock: clock) { print($0) }
/// ```
public final class Capture: Sendable {
    /// How many bytes may wait for the disk; then the file ends.
    private static let longestWaiting = 16 << 20
    /// About how many bytes an event takes beside those that went over the link.
    private static let eventLength = 100

    private struct Waiting {
        var events: [CaptureEvent] = []
        var length = 0
        var isWriting = false
        /// Whether the file is there; nil as long as that is not known.
        var opening: Result<Void, CaptureError>?
        var openers: [UnsafeContinuation<Void, Never>] = []
        /// Nothing is written any more: what is missing could not be played back.
        var hasEnded = false
        var finishing: [UnsafeContinuation<Bool, Never>] = []
    }

    private let waiting = Mutex(Waiting())
    /// A thread of its own: the disk may take its time.
    private let writer = EventLoop()
    /// What writes to the file, once it is open.
    private let file = Mutex<Write?>(nil)
    private let path: String
    private let clock: SessionClock
    private let linkCount = Mutex(0)
    private let tell: @Sendable (CaptureError) -> Void

    /// Writes an event to the file; it may take its time, and is called for one after the other.
    package typealias Write = @Sendable (CaptureEvent) throws(CaptureError) -> Void

    /// Makes the file, which must not be there yet.
    ///
    /// - Parameters:
    ///   - program: What writes it, with its version.
    ///   - clock: What times are measured by.
    ///   - tell: Told why the file ends early; called at most once, and must not block.
    /// - Throws: ``CaptureFormat/CaptureError``.
    public convenience init(
        at path: String, by program: String, of family: Family, clock: any Clock<Duration>,
        tell: @escaping @Sendable (CaptureError) -> Void
    ) throws(CaptureError) {
        let file = try CaptureFile(at: path, CaptureHeader(program: program, family: family.name))
        self.init(at: path, clock: clock, tell: tell) { event throws(CaptureError) in try file.append(event) }
    }

    /// Makes the file on another thread, and waits for nothing: the folder may be one that hangs. ``opened()`` waits.
    ///
    /// - Parameters:
    ///   - program: What writes it, with its version.
    ///   - clock: What times are measured by.
    ///   - onFailedOpening: Told why there is no file, on another thread; nil where ``opened()`` is asked.
    ///   - tell: Told why the file ends early; called at most once, and must not block.
    public convenience init(
        openingAt path: String, by program: String, of family: Family, clock: any Clock<Duration>,
        onFailedOpening: (@Sendable (CaptureError) -> Void)? = nil, tell: @escaping @Sendable (CaptureError) -> Void
    ) {
        self.init(at: path, clock: clock, onFailedOpening: onFailedOpening, tell: tell) { () throws(CaptureError) in
            let file = try CaptureFile(at: path, CaptureHeader(program: program, family: family.name))
            return { event throws(CaptureError) in try file.append(event) }
        }
    }

    /// - Parameter write: Writes to a file that is open.
    package convenience init(
        at path: String, clock: any Clock<Duration>, tell: @escaping @Sendable (CaptureError) -> Void,
        write: @escaping Write
    ) {
        self.init(at: path, clock: clock, tell: tell, open: { write })
    }

    /// - Parameter open: Opens the file; it may take its time.
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

    /// Waits until the file is there.
    ///
    /// - Throws: Why it is not.
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

    /// Waits until all that was noted is in the file.
    ///
    /// - Parameter limit: How long it is waited for; nil for as long as it takes.
    /// - Returns: Whether it is.
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

    /// A link of which all is noted, from its opening on.
    ///
    /// - Parameters:
    ///   - endpoint: What it was opened from, as it was typed.
    ///   - packetCapacity: As ``LineProtocol/Link/packetCapacity()`` says.
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
        if overflows { tell(CaptureError(errno: ENOBUFS, path, hint: "capture to a disk that is faster")) }
    }

    /// - Returns: What writes to the file; nil where there is none.
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

    /// What waits to be written; nil where nothing does, and then who waits for that is told.
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
    /// How many bytes went over the link.
    fileprivate var byteCount: Int {
        switch self {
        case .sent(let piece), .received(let piece): piece.bytes.count
        case .opened, .breakSent, .ended: 0
        }
    }
}
