import DescriptorIO
import LineProtocol
import TestSupport
import Testing

@testable import Transports

@Suite("Links over a descriptor", .timeLimit(.minutes(5)))
struct DescriptorLinkTests {
    @Test func `Closing drains the output once, before the descriptor is closed`() async throws {
        let (near, far) = try DescriptorChannel.pair()
        let wasOpen = Watched<[Bool]>([])
        let link = DescriptorLink(near, name: "pair") { channel in
            let isOpen = await channel.isOpen
            wasOpen.update { $0.append(isOpen) }
        }
        try await link.send([1])
        await link.close()
        await link.close()
        #expect(wasOpen.state == [true])
        #expect(try await far.read() == [1])
        await far.close()
    }

    @Test func `Closing does not drain if the far end is gone`() async throws {
        let (near, far) = try DescriptorChannel.pair()
        let count = Watched(0)
        let link = DescriptorLink(near, name: "pair") { _ in count.update { $0 += 1 } }
        await far.close()
        await #expect(throws: LinkError.self) { try await link.receive() }
        await link.close()
        #expect(count.state == 0)
    }
}
