public import RecordFormat
internal import Synchronization

/// Keeps what devices say in an SQLite database.
///
/// What is recorded is written by a thread of its own, many at a time: ``record(_:)`` never waits. ``flush()`` waits until
/// all that was recorded before is on the disk, where it survives the end of the program and a power cut.
///
///     let recorder = Recorder(at: path) { report in print(report) }
///     let session = recorder.beginSession(family: "pump", endpoint: "/dev/ttyUSB0", device: nil)
///     recorder.record(.reading(kind: "status", reading), in: session)
///     recorder.record(.ended(reason: "closed"), in: session)
///     await recorder.close()
///
/// A database that can't be written is told of once, and tried again; what is recorded meanwhile is kept in memory up to
/// a limit. Beyond that it is let go and counted. Several programs may record into one database at a time.
public final class Recorder: Sendable {
    /// How the record is written.
    public struct Options: Sendable {
        /// How long a record waits for others to be written with it.
        public var interval = Duration.milliseconds(200)
        /// How much memory the records may take that wait to be written, in bytes. What comes when it is used up is let
        /// go; what came before is kept.
        public var memoryLimit = 16 << 20
        /// How long another program's lock on the database is waited for.
        public var patience = Duration.seconds(2)
        /// Tells the time.
        public var now: @Sendable () -> RecordTime = { .now }

        /// The defaults.
        public init() {}
    }

    private let queue: WriteQueue
    private let now: @Sendable () -> RecordTime
    private let path: String
    private let thread: WriterThread
    private let lastSession = Atomic<UInt64>(0)

    /// Begins to record into the database at `path`. It is opened when something is written: what is wrong with it is
    /// told to `report`, on the writing thread.
    public init(at path: String, options: Options = Options(), report: @escaping @Sendable (RecorderReport) -> Void) {
        self.path = path
        now = options.now
        queue = WriteQueue(limit: options.memoryLimit, interval: options.interval)
        thread = WriterThread(Writer(path, queue, patience: options.patience, report: report))
    }

    deinit { _ = queue.close() }

    /// A session has begun.
    ///
    /// - Returns: The number by which the session goes here.
    public func beginSession(family: String, endpoint: String, device: String?) -> UInt64 {
        let number = lastSession.add(1, ordering: .relaxed).newValue
        record(.begun(family: family, endpoint: endpoint, device: device), in: number)
        return number
    }

    /// Records what happens now in a session.
    public func record(_ content: Record.Content, in session: UInt64) {
        record(Record(session: session, time: now(), content))
    }

    /// Records what happened in a session. What is recorded after ``close()``, or of a session that was not begun, is
    /// not kept.
    public func record(_ record: Record) { _ = queue.put(.record(record)) }

    /// Waits until all that was recorded before is on the disk.
    ///
    /// - Throws: Why it is not there; it will be tried again.
    public func flush() async throws(RecorderError) { _ = try await commit([], markingSynced: []) }

    /// Keeps messages, each id once, marks others as handed on, and waits until all of that is on the disk.
    ///
    /// - Parameter ids: Those to mark. What is not there is left out.
    /// - Returns: Which of the messages were new, in their order.
    /// - Throws: Why none of it was done. It is not tried again.
    public func commit(
        _ messages: [StoredMessage], markingSynced ids: [String] = []
    ) async throws(RecorderError) -> [Bool] {
        let result: Result<[Bool], RecorderError> = await withUnsafeContinuation { continuation in
            let work = Work.commit(messages, synced: ids) { continuation.resume(returning: $0) }
            guard queue.put(work) else {
                return continuation.resume(
                    returning: .failure(RecorderError(.closed, path: path, activity: "write to")))
            }
        }
        return try result.get()
    }

    /// Writes what is still to be written, and ends. What can't be written then is lost.
    @discardableResult public func close() async -> RecorderTally {
        _ = queue.close()
        return await thread.tally()
    }
}

/// What became of all that was recorded.
public struct RecorderTally: Sendable, Hashable {
    /// How many records are in the database.
    public var written = 0
    /// How many are not, and never will be.
    public var lost = 0

    /// What became of so many.
    public init(written: Int = 0, lost: Int = 0) {
        self.written = written
        self.lost = lost
    }
}

/// What a recorder has to say of itself. Each spell of trouble is told once.
public enum RecorderReport: Sendable, Hashable {
    /// Nothing can be written; what is recorded is kept in memory meanwhile.
    case failing(RecorderError)
    /// The memory for what is to be written is used up: records are let go.
    case overflowing
    /// It is written again. `lost` records are not there, of all since the beginning.
    case recovered(lost: Int)
}
