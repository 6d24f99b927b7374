internal import DBus
internal import DescriptorIO
internal import Glibc

/// The fake's end of a socket for the values of a characteristic. A client has acquired it from the fake, or has handed
/// it to the fake. Each packet is a value.
@Radio
final class AcquiredSocket {
    private let channel: DescriptorChannel
    private var onEnd: (() -> Void)?
    /// Called with each packet that the client writes. The next packet is read when the call has returned.
    var onPacket: (@Radio ([UInt8]) async -> Void)?
    /// Whether packets are sent; otherwise they are lost.
    var isOpenToSend = true

    private init(_ channel: DescriptorChannel, onEnd: @escaping () -> Void) {
        self.channel = channel
        self.onEnd = onEnd
    }

    /// Opens a socket; returns it with the client's end.
    ///
    /// - Parameter onEnd: Called once, when either end is closed.
    static func open(onEnd: @escaping () -> Void) throws(DBusError) -> (AcquiredSocket, OwnedDescriptor) {
        let pair = try SocketPair(SOCK_SEQPACKET)
        let channel = DescriptorChannel(taking: pair.ours, kind: .socket, on: Radio.loop)
        let socket = AcquiredSocket(channel, onEnd: onEnd)
        socket.listen()
        return (socket, OwnedDescriptor(taking: pair.theirs))
    }

    /// Wraps the fake's end of a socket that a client has handed to the fake.
    init(received descriptor: OwnedDescriptor, onEnd: @escaping () -> Void) throws(DBusError) {
        let number = try descriptor.duplicate()
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        channel = DescriptorChannel(taking: number, kind: .socket, on: Radio.loop)
        self.onEnd = onEnd
        listen()
    }

    private func listen() {
        Radio.begin {
            while let packet = try? await self.channel.read() { await self.onPacket?(packet) }
            self.end()
        }
    }

    func send(_ bytes: [UInt8]) {
        guard isOpenToSend, !bytes.isEmpty else { return }
        // Values that exceed the socket's buffer are lost.
        _ = try? channel.writeAtOnce(bytes)
    }

    func close() {
        Radio.begin { await self.channel.close() }
        end()
    }

    private func end() {
        onEnd?()
        onEnd = nil
    }
}
