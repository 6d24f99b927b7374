import DeviceTestKit
import LineProtocol

/// A host's link to the pump of an `OffWorld`. The link may be lost, and its carrier may accept writes late.
final class FaultyLink: Link, @unchecked Sendable {
    // @unchecked: used on the simulated loop's thread only.

    let name = "bench"
    let keepsPacketBounds = false
    let mayHaveReset: Bool
    var maximumWriteLength: Int? { nil }
    var executor: any SerialExecutor & TaskExecutor { loop }

    /// The number of the host that owns the link.
    let host: Int
    private unowned let world: OffWorld
    private let loop: SimulatedLoop
    private var receiver: (@Sendable (LinkArrival) -> Void)?
    /// The input that arrived while there was no receiver, in the pieces in which it arrived.
    private var arrived: [[UInt8]] = []
    private(set) var isOpen = true
    /// The reason why the link was lost; nil while it is open, and after ``close()``.
    private var error: LinkError?

    /// Bytes that the carrier has not accepted yet.
    private struct Waiting {
        let id: UInt64
        var bytes: [UInt8]
        /// The call of ``send(_:)`` that waits; nil if the bytes can't be withdrawn any more.
        var sender: UnsafeContinuation<LinkError?, Never>?
    }

    private var waiting: [Waiting] = []
    private var lastID: UInt64 = 0
    /// Whether no bytes reach the pump for now.
    private var isStalled = false
    /// Whether the carrier keeps the first write of a stall in its own buffer, so that the host takes it for sent.
    private var buffersFirst = false

    init(_ world: OffWorld, host: Int, mayHaveReset: Bool) {
        self.world = world
        loop = world.loop
        self.host = host
        self.mayHaveReset = mayHaveReset
    }

    // MARK: Events

    func arrive(_ bytes: [UInt8]) {
        guard isOpen else { return }
        if let receiver { receiver(.bytes(bytes)) } else { arrived.append(bytes) }
    }

    func stall(buffersFirst: Bool) {
        isStalled = true
        self.buffersFirst = buffersFirst
    }

    /// Ends the stall: everything that waits goes to the pump.
    func unstall() {
        isStalled = false
        let due = waiting
        waiting = []
        for entry in due {
            world.take(entry.bytes, from: self, wasTakenBefore: entry.sender == nil)
            entry.sender?.resume(returning: nil)
        }
    }

    /// Loses the link.
    func cut() {
        guard isOpen else { return }
        end(LinkError(.disconnected, name: name, activity: "receive"))
    }

    private func end(_ error: LinkError?) {
        isOpen = false
        self.error = error
        let due = waiting
        waiting = []
        for entry in due { entry.sender?.resume(returning: error ?? closed) }
        let receiver = receiver
        self.receiver = nil
        receiver?(.ended(error))
    }

    private var closed: LinkError { LinkError(.closed, name: name, activity: "send") }

    // MARK: Link

    func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        try check(bytes)
        guard waiting.isEmpty else { return false }
        if !isStalled {
            world.take(bytes, from: self, wasTakenBefore: false)
            return true
        }
        guard buffersFirst else { return false }
        world.log(.note("carrier \(host) keeps \(String(decoding: bytes, as: UTF8.self).debugDescription) for later"))
        waiting.append(Waiting(id: 0, bytes: bytes, sender: nil))
        return true
    }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        if try sendAtOnce(bytes) { return }
        lastID += 1
        let id = lastID
        let error: LinkError? = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: LinkError(.cancelled, name: name, activity: "send"))
                } else {
                    world.log(
                        .note(
                            "carrier \(host) waits to take \(String(decoding: bytes, as: UTF8.self).debugDescription)"))
                    waiting.append(Waiting(id: id, bytes: bytes, sender: continuation))
                }
            }
        } onCancel: {
            self.withdraw(id)
        }
        if let error { throw error }
    }

    /// Withdraws a write whose caller was cancelled. If it is the first that waits, the carrier may already have a part
    /// of it, which goes to the pump later.
    private func withdraw(_ id: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.id == id }), let sender = waiting[index].sender else { return }
        let count = index == 0 && world.isPartSent() ? world.number(below: waiting[index].bytes.count) : 0
        waiting[index].bytes = Array(waiting[index].bytes.prefix(count))
        waiting[index].sender = nil
        if count == 0 { waiting.remove(at: index) }
        world.log(.note("carrier \(host): withdrawn but for \(count) bytes"))
        sender.resume(returning: LinkError(.cancelled, name: name, activity: "send"))
    }

    /// Throws if the link has ended. A host that sends after it has closed the link fails the run.
    private func check(_ bytes: [UInt8]) throws(LinkError) {
        guard !isOpen else { return }
        if error == nil {
            world.fail(
                "\(String(decoding: bytes, as: UTF8.self).debugDescription) is sent after the end of the session")
        }
        throw error ?? closed
    }

    // Not called: a session gets its input by ``forward(to:)`` and ``receiveAvailable()``.
    func receive() async throws(LinkError) -> [UInt8]? { nil }

    func receiveAvailable() async throws(LinkError) -> [UInt8] {
        if let error { throw error }
        return arrived.isEmpty ? [] : arrived.removeFirst()
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        guard isOpen else { return receiver(.ended(error)) }
        self.receiver = receiver
        let bytes = arrived
        arrived = []
        for bytes in bytes { receiver(.bytes(bytes)) }
    }

    func close() async {
        guard isOpen else { return }
        world.log(.note("link \(host) is closed"))
        end(nil)
    }
}
