public import LineProtocol

/// A link on a ``SimulatedLoop``, whose far end is a closure of the test: it accepts all writes immediately, and can be
/// lost.
///
///     let loop = SimulatedLoop()
///     let link = SimulatedLink(loop) { device.receive($0, at: loop.now) }
///     loop.at(.seconds(3)) { link.drop() }
public final class SimulatedLink: Link, @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    public let name = "sim:device"
    public let keepsPacketBounds: Bool
    public var maximumWriteLength: Int? { nil }
    /// Whether opening the link has reset the device.
    public var mayHaveReset = false
    public let executor: any SerialExecutor & TaskExecutor

    private let take: ([UInt8]) -> Void
    private let onEnd: () -> Void
    private var receiver: (@Sendable (LinkArrival) -> Void)?
    /// The input that was not received yet, in the pieces in which it arrived.
    private var arrived: [[UInt8]] = []
    /// The link's end; nil while it is open.
    private var ending: Result<Void, LinkError>?
    /// The waiting ``receive()``, which looks again at `arrived` and `ending` when it is resumed.
    private var waiting: UnsafeContinuation<Void, Never>?

    /// Creates an open link. Use it on the loop's thread only.
    ///
    /// - Parameters:
    ///   - loop: The executor of the link.
    ///   - keepsPacketBounds: Whether ``receive()`` returns one piece of input at a time; if not, all that has arrived.
    ///   - take: Called with each write.
    ///   - onEnd: Called when the link is lost or closed.
    public init(
        _ loop: SimulatedLoop, keepsPacketBounds: Bool = false, take: @escaping ([UInt8]) -> Void,
        onEnd: @escaping () -> Void = {}
    ) {
        executor = loop
        self.keepsPacketBounds = keepsPacketBounds
        self.take = take
        self.onEnd = onEnd
    }

    // MARK: Events

    /// Whether the link was neither lost nor closed.
    public var isOpen: Bool { ending == nil }

    /// Delivers a piece of input. Ignored after the link's end.
    public func arrive(_ bytes: [UInt8]) {
        guard isOpen else { return }
        if let receiver { return receiver(.bytes(bytes)) }
        arrived.append(bytes)
        wake()
    }

    /// Ends the link with a failure, as if the device had disconnected.
    public func drop() { end(.failure(LinkError(.disconnected, name: name, activity: "receive"))) }

    private func end(_ result: Result<Void, LinkError>) {
        guard isOpen else { return }
        ending = result
        onEnd()
        let receiver = receiver
        self.receiver = nil
        receiver?(.ended(Self.error(result)))
        wake()
    }

    private static func error(_ result: Result<Void, LinkError>) -> LinkError? {
        if case .failure(let error) = result { error } else { nil }
    }

    private func wake() {
        let continuation = waiting
        waiting = nil
        continuation?.resume()
    }

    // MARK: Link

    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        switch ending {
        case nil: take(bytes)
        case .success: throw LinkError(.closed, name: name, activity: "send")
        case .failure(let error): throw error
        }
        return true
    }

    public func send(_ bytes: [UInt8]) async throws(LinkError) { _ = try sendAtOnce(bytes) }

    public func receive() async throws(LinkError) -> [UInt8]? {
        while true {
            if !arrived.isEmpty { return takeNext() }
            if let ending {
                try ending.get()
                return nil
            }
            if Task.isCancelled { throw LinkError(.cancelled, name: name, activity: "receive") }
            await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    // The state may have changed since the first look.
                    let isOver = Task.isCancelled || ending != nil || !arrived.isEmpty
                    if isOver { continuation.resume() } else { waiting = continuation }
                }
            } onCancel: {
                self.wake()
            }
        }
    }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        if arrived.isEmpty, case .failure(let error) = ending { throw error }
        return takeNext()
    }

    /// Removes and returns the next packet or, without packet bounds, all bytes; empty if nothing has arrived.
    private func takeNext() -> [UInt8] {
        if keepsPacketBounds, !arrived.isEmpty { return arrived.removeFirst() }
        defer { arrived = [] }
        return arrived.flatMap(\.self)
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        while !arrived.isEmpty { receiver(.bytes(takeNext())) }
        guard let ending else { return self.receiver = receiver }
        receiver(.ended(Self.error(ending)))
    }

    public func close() async {
        end(.success(()))
        ending = .success(())
    }
}
