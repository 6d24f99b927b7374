import DeviceTestKit
import Glibc
import LineProtocol
import TestSupport
import Testing
import Transports

/// The contract of links, for the links of each carrier. A new carrier joins by a case of ``Carrier`` and its rig.
@Suite("Link contract", .timeLimit(.minutes(5)))
struct LinkContractTests {
    /// The requirements that are checked in this process. Sending to a vanished far end may end the process.
    private static let requirements = LinkContract.requirements.filter {
        $0.description != LinkContract.sendingToVanished.description
    }

    @Test("Links meet every requirement", arguments: Carrier.allCases, requirements)
    func requirement(carrier: Carrier, requirement: LinkContract.Requirement) async throws {
        let finding = await LinkContract(carrier, try await carrier.rig()).finding(on: requirement)
        #expect(finding == nil)
    }

    @Test("Sending to a vanished far end fails without SIGPIPE", arguments: Carrier.allCases)
    func sendToVanished(carrier: Carrier) async throws {
        await #expect(processExitsWith: .success) { [carrier] in
            signal(SIGPIPE, SIG_DFL)
            let rig = try await carrier.rig()
            defer { rig.end() }
            let finding = await LinkContract(carrier, rig).finding(on: LinkContract.sendingToVanished)
            #expect(finding == nil)
        }
    }

    // MARK: Descriptors

    @Test("Closing a link closes its descriptor", arguments: Carrier.descriptors)
    func closeReleases(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let descriptor = try await link.descriptor()
        let held = try #require(target(of: descriptor))
        await link.close()
        #expect(target(of: descriptor) != held)
        far.vanish()
    }

    @Test("A released link closes its descriptor", arguments: Carrier.descriptors)
    func forgotten(carrier: Carrier) async throws {
        var (link, far): ((any Link)?, DescriptorFarEnd) = try await carrier.rig().open()
        try await far.send("!")
        _ = try await link?.receive()
        let descriptor = try #require(try await link?.descriptor())
        let held = try #require(target(of: descriptor))
        let executor = try #require(link).executor
        link = nil
        // Jobs of the link's executor close the descriptor. These empty jobs give them time.
        for _ in 0..<10 { await Task(executorPreference: executor) {}.value }
        #expect(target(of: descriptor) != held)
        far.vanish()
    }

    @Test("A vanished far end closes the descriptor of a waiting receive", arguments: Carrier.descriptors)
    func vanishWhileReceiving(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        let descriptor = try await link.descriptor()
        let held = try #require(target(of: descriptor))
        let waiting = link.start { () throws(LinkError) in try await link.receive() }
        await link.settle()
        #expect(target(of: descriptor) == held)
        far.vanish()
        #expect(await waiting.outcome.code == .disconnected)
        #expect(target(of: descriptor) != held)
        await link.close()
    }

    @Test("A hangup closes the descriptor, even if nobody reads", arguments: Carrier.tellingOfHangUp)
    func vanishUnread(carrier: Carrier) async throws {
        let (link, far) = try await carrier.rig().open()
        // The first read makes the loop watch the link: from now on it notices a hang-up.
        try await far.send("!")
        _ = try await link.receive()
        let descriptor = try await link.descriptor()
        let held = try #require(target(of: descriptor))
        far.vanish()
        // A program that is just being started may hold the far end open for a moment.
        let deadline = ContinuousClock.now + patience
        while target(of: descriptor) == held, ContinuousClock.now < deadline { await link.settle() }
        #expect(target(of: descriptor) != held)
        #expect(await code { () throws(LinkError) in try await link.receive() } == .disconnected)
        await link.close()
    }
}

extension LinkContract {
    fileprivate init(_ carrier: Carrier, _ rig: any LinkRig) {
        self.init(abilities: carrier.abilities) { try await rig.open() }
    }
}
