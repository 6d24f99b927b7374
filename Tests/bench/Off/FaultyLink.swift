import LineProtocol
import TestSupport

/// A link to the pump of an `OffWorld`. Its carrier may accept bytes late, lose the device, and lose bytes.
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
    private var arrived: [[UInt8]] = []
    private(set) var isOpen = true
    private var error: LinkError?

    /// Bytes that the carrier has not accepted yet.
    private struct Waiting {
        let id: UInt64
        var bytes: [UInt8]
        /// Nil if the sender does not wait and can't take the bytes back.
        var sender: UnsafeContinuation<LinkError?, Never>?
    }

    private var waiting: [Waiting] = []
    private var lastID: UInt64 = 0
    /// Whether the carrier accepts nothing for now, and whether it accepts the first bytes into its own buffer.
    private var isStalled = false
    private var buffersFirst = false

    init(_ world: OffWorld, host: Int, mayHaveReset: Bool, backlog: [[UInt8]] = []) {
        self.world = world
        loop = world.loop
        self.host = host
        self.mayHaveReset = mayHaveReset
        arrived = backlog
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

    func unstall() {
        isStalled = false
        let due = waiting
        waiting = []
        for entry in due {
            world.take(entry.bytes, from: self, wasTakenBefore: entry.sender == nil)
            entry.sender?.resume(returning: nil)
        }
    }

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

    /// Withdraws a write, of which a part may have been sent.
    private func withdraw(_ id: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.id == id }), let sender = waiting[index].sender else { return }
        let count = index == 0 && world.isPartSent() ? world.number(below: waiting[index].bytes.count) : 0
        waiting[index].bytes = Array(waiting[index].bytes.prefix(count))
        waiting[index].sender = nil
        if count == 0 { waiting.remove(at: index) }
        world.log(.note("carrier \(host): withdrawn but for \(count) bytes"))
        sender.resume(returning: LinkError(.cancelled, name: name, activity: "send"))
    }

    private func check(_ bytes: [UInt8]) throws(LinkError) {
        guard !isOpen else { return }
        if error == nil {
            world.fail(
                "\(String(decoding: bytes, as: UTF8.self).debugDescription) is sent after the end of the session")
        }
        throw error ?? closed
    }

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
