internal import DescriptorIO
internal import SerialPort

/// A client's line as the device sees it, with the output that the client has yet to take.
package struct ClientLine {
    /// The number of bytes kept for a client that does not read; further bytes are lost. A real port keeps only 4 kB;
    /// this limit is chosen, and only bounds the memory.
    package static let capacity = 1 << 20
    /// The number of bytes written to a client at once, so that each written piece shows that the client reads.
    static let pieceLength = 1 << 12
    /// The number of waiting bytes at which a device with flow control stands still, and ``DeviceHost/advance(by:)``
    /// waits for the client.
    package static let highWater = 1 << 16

    let channel: DescriptorChannel
    /// The pseudo-terminal that the client has open; nil for any other line.
    let terminal: PseudoTerminal?
    /// Whether the client has the line open. Output is lost while the client has the line closed.
    var isListening: Bool {
        didSet {
            guard !isListening else { return }
            (outbox, underWay) = ([], 0)
            writer?.cancel()
            writer = nil
        }
    }
    /// Whether the cable was pulled. No new bytes pass, although the channel is not closed yet.
    var isCutOff = false
    var outbox: [UInt8] = []
    /// The task that writes the outbox to the client.
    var writer: Task<Void, Never>?

    init(_ channel: DescriptorChannel, isListening: Bool, terminal: PseudoTerminal? = nil) {
        self.channel = channel
        self.terminal = terminal
        self.isListening = isListening
    }

    /// The baud rate of the client's end, in bits per second; nil if the line has no such setting, or if it can't be
    /// read.
    var hostBaudRate: Int? { (try? terminal?.clientOptions())?.baudRate }

    /// Whether a status byte precedes the client's bytes.
    var isInPacketMode: Bool { terminal?.isInPacketMode == true }

    /// The number of bytes that the writer is handing to the client.
    var underWay = 0
    /// The number of bytes that the channel has accepted so far. The client may not have read the last of them yet.
    var taken: UInt64 = 0
    /// Whether the client took nothing for so long that ``DeviceHost/advance(by:)`` no longer waits for it. The flag is
    /// cleared when the client takes a byte.
    var isStalled = false

    /// Whether ``DeviceHost/advance(by:)`` waits for the client to take bytes.
    var isAwaited: Bool { isListening && !isCutOff && !isStalled && outbox.count + underWay >= Self.highWater }

    mutating func noteTaken(_ count: Int) {
        taken += UInt64(count)
        underWay -= count
        isStalled = false
    }

    /// Queues bytes for the client.
    ///
    /// - Returns: The number of bytes lost because the client has left too many unread: all of `bytes`, or none.
    mutating func put(_ bytes: [UInt8]) -> Int {
        guard isListening, !isCutOff else { return 0 }
        guard outbox.count + bytes.count <= Self.capacity else { return bytes.count }
        outbox += bytes
        return 0
    }
}
