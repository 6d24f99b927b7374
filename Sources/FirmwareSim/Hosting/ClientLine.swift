internal import DescriptorIO
internal import SerialPort

/// One client's line, seen from the device, and what waits to be taken by the client.
package struct ClientLine {
    /// What is kept for a client that does not read, in bytes. A real port keeps 4 kB; what is more is lost in both.
    package static let capacity = 1 << 20
    /// From how many bytes on that wait for a client a device with flow control waits too.
    package static let highWater = 1 << 16

    let channel: DescriptorChannel
    /// The pseudo-terminal that the client has open, if that is what it is.
    let terminal: PseudoTerminal?
    /// Whether the client has the line open. What the device says meanwhile is lost.
    var isListening: Bool {
        didSet {
            guard !isListening else { return }
            outbox = []
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

    mutating func put(_ bytes: [UInt8]) {
        if isListening, !isCutOff, outbox.count + bytes.count <= Self.capacity { outbox += bytes }
    }
}
