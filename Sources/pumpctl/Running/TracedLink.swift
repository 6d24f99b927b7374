import LineProtocol
import Synchronization

/// A link that shows what goes over it.
final class TracedLink: Link {
    private let link: any Link
    private let note: @Sendable (String) -> Void
    /// What was received of a line whose end has not come.
    private let framer = Mutex(LineFramer(limit: 256))

    init(_ link: any Link, note: @escaping @Sendable (String) -> Void) {
        self.link = link
        self.note = note
        note("* \(link.name) is open")
    }

    var name: String { link.name }
    var keepsPacketBounds: Bool { link.keepsPacketBounds }
    var deviceAddress: String? { link.deviceAddress }
    var isDeviceAddressStable: Bool { link.isDeviceAddressStable }
    var openingNote: String? { link.openingNote }
    var silenceHint: String? { link.silenceHint }
    var mayHaveReset: Bool { link.mayHaveReset }
    var mayBeMidLine: Bool { link.mayBeMidLine }
    var maximumWriteLength: Int? { link.maximumWriteLength }
    var executor: any SerialExecutor & TaskExecutor { link.executor }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        note("> \(bytes.printable())")
        try await link.send(bytes)
    }

    func sendBreak(for duration: Duration) async throws(LinkError) {
        note("> (break)")
        try await link.sendBreak(for: duration)
    }

    func receive() async throws(LinkError) -> [UInt8]? {
        let bytes = try await link.receive()
        if let bytes { show(bytes) }
        return bytes
    }

    func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes = try await link.receiveAvailable()
        show(bytes)
        return bytes
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { arrival in
            switch arrival {
            case .bytes(let bytes): self.show(bytes)
            case .ended(let error): self.note("* the link ended" + (error.map { ": \($0)" } ?? ""))
            }
            receiver(arrival)
        }
    }

    /// Shows each packet where there are bounds, and else each line once its end has come: a serial port gives it byte by
    /// byte.
    private func show(_ bytes: [UInt8]) {
        if keepsPacketBounds {
            if !bytes.isEmpty { note("< " + bytes.printable()) }
            return
        }
        framer.withLock { framer in
            framer.append(bytes.span) { line, _ in
                note("< " + line.withUnsafeBufferPointer { Array($0) }.printable())
            }
        }
    }

    func confirmConnection() async throws(LinkError) {
        note("* is the device still there?")
        try await link.confirmConnection()
    }

    func close() async { await link.close() }
}
