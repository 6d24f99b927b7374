import LineProtocol

/// A link that shows on standard error what goes over it.
final class TracedLink: Link {
    private let link: any Link
    private let output: Output

    init(_ link: any Link, output: Output) {
        self.link = link
        self.output = output
        output.note("* \(link.name) is open")
    }

    var name: String { link.name }
    var keepsPacketBounds: Bool { link.keepsPacketBounds }
    var maximumWriteLength: Int? { link.maximumWriteLength }
    var executor: any SerialExecutor & TaskExecutor { link.executor }

    func send(_ bytes: [UInt8]) async throws(LinkError) {
        output.note("> \(bytes.printable())")
        try await link.send(bytes)
    }

    func receive() async throws(LinkError) -> [UInt8]? {
        let bytes = try await link.receive()
        if let bytes { output.note("< \(bytes.printable())") }
        return bytes
    }

    func receiveAvailable() async throws(LinkError) -> [UInt8] {
        let bytes = try await link.receiveAvailable()
        if !bytes.isEmpty { output.note("< \(bytes.printable()) (before this session)") }
        return bytes
    }

    func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        await link.forward { [output] arrival in
            switch arrival {
            case .bytes(let bytes): output.note("< \(bytes.printable())")
            case .ended(let error): output.note("* the link ended" + (error.map { ": \($0)" } ?? ""))
            }
            receiver(arrival)
        }
    }

    func close() async { await link.close() }
}
