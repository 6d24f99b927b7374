import TestSupport
import Testing

@testable import FirmwareSim

@Suite("Baud rate mismatch")
struct BaudMismatchTests {
    private static let text = Array("STATUS:{State:ON}\r\n".utf8)

    @Test("Rates up to 3 % apart understand each other", arguments: [9600, 9400, 9850, 9880])
    func near(rate: Int) {
        #expect(BaudMismatch.received(Self.text, sentAt: 9600, receivedAt: rate) == Self.text)
    }

    @Test(
        "A slower receiver gets fewer bytes, a faster one at least as many, and neither gets the text",
        arguments: [300, 4800])
    func slower(rate: Int) {
        let slow = BaudMismatch.received(Self.text, sentAt: 9600, receivedAt: rate)
        #expect(slow != Self.text && slow.count < Self.text.count)
        let fast = BaudMismatch.received(Self.text, sentAt: rate, receivedAt: 9600)
        #expect(fast != Self.text && fast.count >= Self.text.count)
    }

    // The expected bytes are calculated by hand.
    @Test("A mismatched UART samples the right bits")
    func bits() {
        // With its start and stop bits, 0x55 is 0 1 0 1 0 1 0 1 0 1 on the line. The receiver samples each bit twice:
        // it takes 0 0 1 1 0 0 1 1 0 0 for the first byte; after 1 1, it takes 0 0 1 1 0 0 1 1 and the idle line for
        // the second one.
        #expect(BaudMismatch.received([0x55], sentAt: 9600, receivedAt: 19200) == [0x66, 0xE6])
        #expect(BaudMismatch.received([], sentAt: 9600, receivedAt: 19200).isEmpty)
    }

    @Test("Any bytes at any rates give a bounded result")
    func fuzz() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<2000 {
            let bytes = (0..<random.number(below: 20)).map { _ in UInt8(random.number(below: 256)) }
            let (sent, received) = (random.number(below: 1_000_000) + 1, random.number(below: 1_000_000) + 1)
            let count = BaudMismatch.received(bytes, sentAt: sent, receivedAt: received).count
            // The receiver samples the ten bits of each byte `received / sent` times, and no byte takes less than one
            // sample. The second term is a margin.
            #expect(count <= bytes.count * 10 * received / sent + bytes.count * 10)
        }
    }
}
