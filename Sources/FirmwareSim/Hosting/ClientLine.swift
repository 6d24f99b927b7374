internal import DescriptorIO

/// One client's line, seen from the device, and what waits to be taken by the client.
package struct ClientLine {
    /// What is kept for a client that does not read, in bytes. A real port keeps 4 kB; what is more is lost in both.
    package static let capacity = 1 << 20
    /// From how many bytes on that wait for a client a device with flow control waits too.
    package static let highWater = 1 << 16

    let channel: DescriptorChannel
    /// Whether the client has the line open. What the device says meanwhile is lost.
    var isListening: Bool {
        didSet {
            guard !isListening else { return }
            outbox = []
            writer?.cancel()
            writer = nil
        }
    }
    var outbox: [UInt8] = []
    /// Takes what is in the outbox to the client.
    var writer: Task<Void, Never>?

    init(_ channel: DescriptorChannel, isListening: Bool) {
        self.channel = channel
        self.isListening = isListening
    }

    mutating func put(_ bytes: [UInt8]) {
        if isListening, outbox.count + bytes.count <= Self.capacity { outbox += bytes }
    }
}
