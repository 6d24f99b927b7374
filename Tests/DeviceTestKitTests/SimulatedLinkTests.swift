import DeviceTestKit
import LineProtocol
import Testing

@Suite("Simulated links", .timeLimit(.minutes(2)))
struct SimulatedLinkTests {
    @Test("A link joins packets only if it keeps no packet bounds", arguments: [false, true])
    func bounds(keepsPacketBounds: Bool) {
        let loop = SimulatedLoop()
        let got = Received()
        let ending = loop.run(limit: .seconds(1)) {
            let link = SimulatedLink(loop, keepsPacketBounds: keepsPacketBounds, take: { _ in })
            for _ in 0..<2 { for byte in 1...2 { link.arrive([UInt8(byte)]) } }
            while let bytes = try? await link.receiveAvailable(), !bytes.isEmpty { got.available.append(bytes) }
            for byte in 1...2 { link.arrive([UInt8(byte)]) }
            await link.forward { if case .bytes(let bytes) = $0 { got.forwarded.append(bytes) } }
        }
        #expect(ending == .done)
        #expect(got.available == (keepsPacketBounds ? [[1], [2], [1], [2]] : [[1, 2, 1, 2]]))
        #expect(keepsPacketBounds ? got.forwarded == [[1], [2]] : got.forwarded.joined().elementsEqual([1, 2]))
    }

    private final class Received: @unchecked Sendable {
        // @unchecked: used on the simulated loop's thread only.
        var available: [[UInt8]] = []
        var forwarded: [[UInt8]] = []
    }
}
