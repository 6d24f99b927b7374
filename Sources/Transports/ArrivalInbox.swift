internal import DescriptorIO
internal import LineProtocol

/// The receive buffer of a link without a descriptor, such as a BLE link or a replay, for one receiver.
actor ArrivalInbox {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private typealias Reader = UnsafeContinuation<Result<[UInt8]?, LinkError>, Never>

    private let name: String
    private let keepsPacketBounds: Bool
    private var arrived: [[UInt8]] = []
    private var reader: Reader?
    private var receiver: (@Sendable (LinkArrival) -> Void)?
    /// The end of input: with an error if the device is gone, without one if this end was closed; nil before the end.
    private var end: LinkError??
    /// The continuation of a feeder that waits until all arrived bytes have been taken.
    private var feeder: UnsafeContinuation<Void, Never>?

    init(on loop: EventLoop, name: String, keepsPacketBounds: Bool) {
        self.loop = loop
        self.name = name
        self.keepsPacketBounds = keepsPacketBounds
    }

    // MARK: Feeding

    /// Adds bytes: exactly one packet if the link keeps packet bounds. After the end, bytes are dropped.
    func append(_ bytes: [UInt8]) {
        guard end == nil, !bytes.isEmpty else { return }
        if let receiver { return receiver(.bytes(bytes)) }
        arrived.append(bytes)
        guard let reader, let next = takeNext() else { return }
        self.reader = nil
        reader.resume(returning: .success(next))
    }

    /// Ends the input after the bytes that have arrived. Only the first error counts.
    ///
    /// A call without an error closes the inbox: the arrived bytes are discarded, even after an earlier error.
    func finish(_ error: LinkError?) {
        if error == nil { arrived = [] } else if end != nil { return }
        let isFirst = end == nil
        end = .some(error)
        resumeFeeder()
        if let reader {
            self.reader = nil
            reader.resume(returning: outcome(error))
        }
        if isFirst { receiver?(.ended(error)) }
    }

    /// Waits until all arrived bytes have been taken, or the input has ended: back-pressure for a feeder that is faster
    /// than the receiver.
    func untilTaken() async {
        if arrived.isEmpty || end != nil { return }
        await withUnsafeContinuation { feeder = $0 }
    }

    private func resumeFeeder() {
        feeder?.resume()
        feeder = nil
    }

    // MARK: Receiving

    func receive() async throws(LinkError) -> [UInt8]? {
        precondition(reader == nil && receiver == nil, "a link has one receiver at a time")
        if Task.isCancelled { throw cancelled }
        if let next = takeNext() { return next }
        if let end { return try outcome(end).get() }
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: Reader) in
                if Task.isCancelled {
                    continuation.resume(returning: .failure(cancelled))
                } else if let next = takeNext() {
                    continuation.resume(returning: .success(next))
                } else if let end {
                    continuation.resume(returning: outcome(end))
                } else {
                    reader = continuation
                }
            }
        } onCancel: {
            loop.execute { self.assumeIsolated { $0.cancelReader() } }
        }.get()
    }

    func receiveAvailable() throws(LinkError) -> [UInt8] {
        if let next = takeNext() { return next }
        if case .some(.some(let error)) = end { throw error }
        return []
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) {
        precondition(reader == nil && self.receiver == nil, "a link has one receiver at a time")
        self.receiver = receiver
        for bytes in arrived { receiver(.bytes(bytes)) }
        arrived = []
        resumeFeeder()
        if let end { receiver(.ended(end)) }
    }

    /// Removes and returns the next packet or, without packet bounds, all bytes; nil if nothing has arrived.
    private func takeNext() -> [UInt8]? {
        if arrived.isEmpty { return nil }
        defer { if arrived.isEmpty { resumeFeeder() } }
        if keepsPacketBounds { return arrived.removeFirst() }
        defer { arrived = [] }
        return arrived.count == 1 ? arrived[0] : Array(arrived.joined())
    }

    private func outcome(_ end: LinkError?) -> Result<[UInt8]?, LinkError> {
        if let end { .failure(end) } else { .success(nil) }
    }

    private func cancelReader() {
        reader?.resume(returning: .failure(cancelled))
        reader = nil
    }

    private var cancelled: LinkError { LinkError(.cancelled, name: name, activity: "receive") }
}
