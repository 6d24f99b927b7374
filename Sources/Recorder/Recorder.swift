public import RecordFormat
internal import Synchronization

/// Records readings and events of devices in an SQLite database.
///
/// A separate thread writes records in batches: ``record(_:)`` never waits. ``flush()`` waits until all earlier records
/// are on the disk, so that they survive the end of the program and a power cut.
///
///     let recorder = Recorder(at: path) { report in print(report) }
///     let session = recorder.beginSession(family: "pump", endpoint: "/dev/ttyUSB0", device: nil)
///     recorder.record(.reading(kind: "status", reading), in: session)
///     recorder.record(.ended(reason: "closed"), in: session)
///     await recorder.close()
///
/// If the database can't be written, the recorder reports the failure once and retries. Until writing works again,
/// records are kept in memory up to a limit; new records beyond the limit are dropped and counted. Several programs may
/// record into one database at the same time.
public final class Recorder: Sendable {
    /// The options of a recorder.
    public struct Options: Sendable {
        /// The time for which a record waits, so that later records are written in the same batch. Each batch waits for
        /// the disk.
        public var interval = Duration.milliseconds(200)
        /// The memory limit for unwritten records, in bytes. At the limit, new readings, events and errors are dropped.
        public var memoryLimit = 16 << 20
        /// The longest time to wait for another program's lock on the database.
        public var patience = Duration.seconds(2)
        /// Returns the current time.
        public var now: @Sendable () -> RecordTime = { .now }

        /// Creates the default options.
        public init() {}
    }

    private let queue: WriteQueue
    private let now: @Sendable () -> RecordTime
    private let path: String
    private let thread: WriterThread
    private let lastSession = Atomic<UInt64>(0)

    /// Creates a recorder for the database at `path`, which is opened at the first write.
    ///
    /// - Parameters:
    ///   - path: The path of the database.
    ///   - options: The options of the recorder.
    ///   - report: Called on the writing thread with failures of the database and recoveries from them.
    public init(at path: String, options: Options = Options(), report: @escaping @Sendable (RecorderReport) -> Void) {
        self.path = path
        now = options.now
        queue = WriteQueue(limit: options.memoryLimit, interval: options.interval)
        thread = WriterThread(Writer(path, queue, patience: options.patience, report: report))
    }

    /// Ends the thread after it has written the remaining records, if ``close()`` was not called.
    deinit { _ = queue.close() }

    /// Records the beginning of a session.
    ///
    /// - Parameters:
    ///   - family: The device's family, such as `pump`.
    ///   - endpoint: The endpoint for people, such as `/dev/ttyUSB0` or `ble:HMSoft`.
    ///   - device: The identity of the device, such as `usb:0403:6001/A50285BI`; nil if unknown.
    /// - Returns: The number of the session in this recorder.
    public func beginSession(family: String, endpoint: String, device: String?) -> UInt64 {
        let number = lastSession.add(1, ordering: .relaxed).newValue
        record(.begun(family: family, endpoint: endpoint, device: device), in: number)
        return number
    }

    /// Records an item of a session, with the current time.
    ///
    /// - Parameters:
    ///   - content: The item.
    ///   - session: The number of the session, from ``beginSession(family:endpoint:device:)``.
    public func record(_ content: Record.Content, in session: UInt64) {
        record(Record(session: session, time: now(), content))
    }

    /// Records an item of a session. An item is ignored after ``close()``, and if the session has not begun or has
    /// ended; but events of an ended session are stored until the next session of the same endpoint begins.
    public func record(_ record: Record) { _ = queue.put(.record(record)) }

    /// Waits until all earlier records, except dropped ones, are on the disk.
    ///
    /// - Throws: ``RecorderError`` with the reason why the records are not on the disk, or with
    ///   ``RecorderError/Code/closed`` after ``close()``. The recorder tries again to write the records.
    public func flush() async throws(RecorderError) { _ = try await commit([], markingSynced: []) }

    /// Stores messages, marks stored messages as handed on, and waits until all these changes are on the disk.
    ///
    /// A message whose ID is already stored is not stored again.
    ///
    /// - Parameters:
    ///   - messages: The messages to store.
    ///   - ids: The IDs of the messages to mark. Unknown IDs are ignored.
    /// - Returns: For each message, in order, whether it was new.
    /// - Throws: ``RecorderError`` with the reason why nothing was stored or marked. The request is not retried.
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

    /// Writes the remaining records and ends the thread. Records that can't be written now are lost. Closing twice is
    /// allowed.
    ///
    /// - Returns: The number of written and lost records.
    @discardableResult public func close() async -> RecorderTally {
        _ = queue.close()
        return await thread.tally()
    }
}

/// The numbers of written and lost records.
public struct RecorderTally: Sendable, Hashable {
    /// The number of records that were written, including records that were ignored because their session had not begun
    /// or had ended.
    public var written = 0
    /// The number of records that are lost.
    public var lost = 0

    /// Creates a tally.
    ///
    /// - Parameters:
    ///   - written: The number of written records.
    ///   - lost: The number of lost records.
    public init(written: Int = 0, lost: Int = 0) {
        self.written = written
        self.lost = lost
    }
}

/// A report of a recorder on its state.
public enum RecorderReport: Sendable, Hashable {
    /// Writing fails; records are kept in memory until writing works again. Not reported again until then.
    case failing(RecorderError)
    /// The memory limit is reached, and new records are dropped. Not reported again until a batch without dropped
    /// records has been written.
    case overflowing
    /// Writing works again. `lost` is the number of lost records since the recorder was created.
    case recovered(lost: Int)
}
