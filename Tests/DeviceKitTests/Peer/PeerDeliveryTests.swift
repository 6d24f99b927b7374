import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite("Deliveries to a peer", .timeLimit(.minutes(5)))
struct PeerDeliveryTests {
    private let clock = ManualClock()

    /// Starts to deliver ON.
    private func say(over link: ScriptedLink) -> Task<Result<PeerDelivery, SessionError>, Never> {
        Task { [clock] in
            do throws(SessionError) {
                return .success(try await PeerDelivery.say(.toggle(true), over: link, clock: clock))
            } catch {
                return .failure(error)
            }
        }
    }

    @Test func `An acknowledged delivery counts as heard, and the link is closed`() async throws {
        let link = ScriptedLink(keepsPacketBounds: true)
        let saying = say(over: link)
        #expect(await link.nextSent() == "Hello")
        await link.deliver("Hello ack")
        // A peer acknowledges only `Hello`. The acknowledgement of the second one shows that ON was received.
        #expect(await link.nextSent(2) == ["ON", "Hello"])
        await link.deliver("Hello ack")
        let delivery = try await saying.value.get()
        #expect(delivery.isAcknowledged && delivery.hasHeard)
        #expect(link.closeCount == 1)
    }

    @Test func `A silent peer gets the message too`() async throws {
        let link = ScriptedLink(keepsPacketBounds: true)
        let saying = say(over: link)
        #expect(await link.nextSent() == "Hello")
        await clock.untilSomebodySleeps(until: .milliseconds(500))
        clock.advance(by: .milliseconds(500))
        let delivery = try await saying.value.get()
        #expect(!delivery.isAcknowledged && !delivery.hasHeard)
        #expect(await link.nextSent() == "ON")
        #expect(link.closeCount == 1)
    }

    @Test func `A lost link fails the delivery and is closed`() async throws {
        let link = ScriptedLink(keepsPacketBounds: true)
        let saying = say(over: link)
        #expect(await link.nextSent() == "Hello")
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        guard case .failure(let error) = await saying.value else {
            Issue.record("it did not fail")
            return
        }
        #expect(error.code == .linkLost)
        #expect(link.closeCount == 1)
    }
}
