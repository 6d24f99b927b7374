import DeviceTestKit
import LineProtocol
import Testing

/// In simulated time, a call that never returns costs no time.
@Suite("Link contract in simulated time", .timeLimit(.minutes(2)))
struct LinkContractTests {
    /// Checks the contract on simulated links, which have the given fault. These links buffer without limit, so by
    /// default their abilities include neither `holdsSenderBack` nor `holdsFarEndBack`.
    private func findings(
        with fault: BrokenLink.Fault? = nil, abilities: LinkContract.Abilities = .keepsLastBytes
    ) -> [LinkContract.Finding] {
        let loop = SimulatedLoop()
        let contract = LinkContract(
            abilities: abilities, clock: SimulatedClock(loop: loop), executor: loop
        ) {
            let far = SimulatedFarEnd(loop)
            return (fault.map { BrokenLink(far.link, $0) } ?? far.link, far)
        }
        let found = Found()
        // Far more than the checks need: a call that hangs is given up after 120 s.
        let ending = loop.run(limit: .seconds(36_000)) { found.findings = await contract.findings() }
        #expect(ending == .done)
        return found.findings
    }

    private final class Found: @unchecked Sendable {
        // @unchecked: used on the simulated loop's thread only.
        var findings: [LinkContract.Finding] = []
    }

    @Test("A simulated link meets the contract")
    func simulatedLink() {
        #expect(findings().isEmpty)
    }

    @Test("A link that buffers without limit is found")
    func unlimitedBuffer() {
        #expect(
            findings(abilities: [.keepsLastBytes, .holdsFarEndBack]).map(\.description) == [
                "The far end is blocked while nobody receives, and nothing is lost: the far end could send 1048576 bytes "
                    + "that nobody received; limit the buffers (SO_SNDBUF, SO_RCVBUF) to less than 1 MiB"
            ])
    }

    @Test(
        "Each fault is found by the check of its requirement",
        arguments: [
            (.losesReceivedByte, "Every byte value passes unchanged", hangs),
            (.losesSentByte, "Every byte value passes unchanged", hangs),
            (.dropsAtOnce, atOnce, "far end received: 130 bytes, expected 320; the first 0 are right"),
            (.sendsRefusedAtOnce, atOnce, "far end received: 320 bytes, expected 130; the first 0 are right"),
            (
                .takesAtOnceAfterClose, "Sending on a closed link fails with closed",
                "sendAtOnce(): no error, expected error closed"
            ),
            (
                .corruptsByte, "Every byte value passes unchanged",
                "far end received: 512 bytes, expected 512; the first 128 are right"
            ),
            (
                .splitsEmptySend, "An empty send sends nothing",
                "far end received: 4 bytes, expected 4; the first 0 are right"
            ),
            (.neverHasAvailableBytes, "Available bytes are received without waiting", hangs),
            (.ignoresCancellation, "A cancelled receive leaves the link working", hangs),
            (.losesByteOfCancelledReceive, "Cancelling a receive at any moment loses no byte", hangs),
            (
                .reportsCloseAsLoss, "Closing ends a waiting receive with nil",
                "sim:device: the device is gone"
            ),
            (.waitsForeverAfterClose, "Closing ends a waiting receive with nil", hangs),
            (
                .sendsAfterClose, "Sending on a closed link fails with closed",
                "sending: no error, expected error closed"
            ),
            (
                .reportsLossAsClose, "The sequence of received bytes throws once when the far end vanishes",
                "the sequence ended without an error"
            ),
            (.deliversNoEnd, "A receiver added after closing gets the end alone", hangs),
            (
                .deliversEndTwice, "A receiver added after closing gets the end alone",
                #"the receiver got the ends ["closed", "closed"]; expected one, closed"#
            ),
            (
                .deliversAfterEnd, "A receiver gets the loss of the far end once, after all bytes",
                "the receiver got bytes after the end"
            ),
        ] as [(BrokenLink.Fault, String, String)])
    func faults(fault: BrokenLink.Fault, requirement: String, problem: String) {
        let findings = findings(with: fault).map(\.description)
        #expect(findings.contains("\(requirement): \(problem)"), "\(findings.joined(separator: "\n"))")
    }

    private static let atOnce = "Bytes that sendAtOnce takes arrive in order with sent bytes, and refused bytes never"
    private static let hangs = "a call did not return in 120.0 seconds"
}
