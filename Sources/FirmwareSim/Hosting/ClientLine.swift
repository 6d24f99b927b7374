internal import DescriptorIO
internal import SerialPort

/// One client's line, seen from the device, and what waits to be taken by the client.
package struct ClientLine {
    /// What is kept for a client that does not read, in bytes. A real port keeps 4 kB; what is more is lost in both.
    package static let capacity = 1 << 20
    /// How many bytes are written to a client at once.
    static let pieceLength = 1 << 12
    /// From how many bytes on that wait for a client a device with flow control waits too.
    package static let highWater = 1 << 16

    let channel: DescriptorChannel
    /// The pseudo-terminal that the client has open, if that is what it is.
    let terminal: PseudoTerminal?
    /// Whether the client has the line open. What the device says meanwhile is lost.
    var isListening: Bool {
        didSet {
            guard !isListening else { return }
            (outbox, underWay) = ([], 0)
            writer?.cancel()
            writer = nil
        }
    }
    /// Whether nothing goes through it any more: what it hangs on was pulled, and its end is yet to be told.
    var isCutOff = false
    var outbox: [UInt8] = []
    /// Takes what is in the outbox to the client.
    var writer: Task<Void, Never>?

    init(_ channel: DescriptorChannel, isListening: Bool, terminal: PseudoTerminal? = nil) {
        self.channel = channel
        self.terminal = terminal
        self.isListening = isListening
    }

    /// What the client's end is set to, in bits per second; nil where it has no such setting.
    var hostBaudRate: Int? { (try? terminal?.clientOptions())?.baudRate }

    /// Whether what comes of the client begins with a status.
    var isInPacketMode: Bool { terminal?.isInPacketMode == true }

    /// What its writer is about to hand to the client, in bytes.
    var underWay = 0
    /// What the client has taken since it came, in bytes.
    var taken: UInt64 = 0
    /// Whether it has taken nothing for so long that nobody waits for it, until it takes something.
    var isStalled = false

    /// Whether an ``DeviceHost/advance(by:)`` waits for the client to take something.
    var isAwaited: Bool { isListening && !isCutOff && !isStalled && outbox.count + underWay >= Self.highWater }

    mutating func noteTaken(_ count: Int) {
        taken += UInt64(count)
        underWay -= count
        isStalled = false
    }

    /// - Returns: How many bytes are lost because the client has left too many.
    mutating func put(_ bytes: [UInt8]) -> Int {
        guard isListening, !isCutOff else { return 0 }
        guard outbox.count + bytes.count <= Self.capacity else { return bytes.count }
        outbox += bytes
        return 0
    }
}
