import DescriptorIO
import Glibc
import TestSupport
import Testing

/// A client of a share, in this process.
struct ShareClient {
    let channel: DescriptorChannel
    /// The text from pumpctld that no test has taken yet.
    let received = Watched(ReceivedText())

    init(at address: SocketAddress) async throws {
        channel = try await DescriptorChannel.connect(to: address, deadline: .now.advanced(by: patience))
        await channel.gather(into: received)
    }

    init(socket path: String) async throws { try await self.init(at: .unix(path: path)) }

    init(terminal path: String) async throws {
        let descriptor = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        try #require(descriptor >= 0)
        channel = DescriptorChannel(taking: descriptor, kind: .stream)
        await channel.gather(into: received)
    }

    /// Sends a line.
    func say(_ line: String) async throws { try await channel.write(Array("\(line)\n".utf8)) }

    /// Sends a line, and waits until `start` was received, at any place.
    func ask(_ line: String, for start: String) async throws {
        try await say(line)
        try await received.text(upTo: start)
    }
}
