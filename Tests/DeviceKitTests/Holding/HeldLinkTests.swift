import DescriptorIO
import DeviceKit
import DeviceTestKit
import Glibc
import LineProtocol
import Synchronization
import TestSupport
import Testing

@Suite("Held links", .timeLimit(.minutes(5)))
struct HeldLinkTests {
    /// A link with a device identity.
    private final class NamedLink: LinkWrapper {
        let link: any Link
        let deviceID: String?

        init(link: any Link, deviceID: String?) {
            self.link = link
            self.deviceID = deviceID
        }
    }

    private final class Reports: Sendable {
        let all = Mutex<[HeldLink.Report]>([])
    }

    /// A link to a pump that replies immediately.
    private let link = ScriptedLink { sent in
        switch sent {
        case "\nOFF\n": "OK\r\nPUMP:OFF\r\n"
        case "TEMP\n": "TEMP:34.5\r\n"
        case "STATUS\n": "STATUS:{State:OFF,SkinTemp:34.5C}\r\n"
        default: nil
        }
    }
    private let deviceID = "held-link-test-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
    private let reports = Reports()

    /// Holds the link for OFF requests, as a monitor does. The reports are noted in ``reports``.
    private func hold(_ family: Family, onStop: (@Sendable () -> Void)? = nil) async -> any Link {
        await HeldLink.open(NamedLink(link: link, deviceID: deviceID), of: family, onStop: onStop) { [reports] report in
            reports.all.withLock { $0.append(report) }
        }
    }

    /// Asks the holder of the link to send OFF, as the `off` of another program does.
    private func ask() async -> OffAnswer? { await OffRequest.send(for: deviceID, within: .seconds(30)) }

    @Test("OFF goes over the held link and is acknowledged before the asker gets its answer")
    func switchesOff() async throws {
        // Has an entry for each call of `onStop`; which report that is means nothing.
        let stops = Reports()
        let held = await hold(.pump) { stops.all.withLock { $0.append(.unreachable) } }
        let heard = Task {
            var text = ""
            while let bytes = try await held.receive() { text += String(decoding: bytes, as: UTF8.self) }
            return text
        }
        #expect(await ask() == .off)
        #expect(await link.nextSent() == "\nOFF\n")
        #expect(stops.all.withLock(\.count) == 1)
        #expect(reports.all.withLock { $0 } == [.asked(byProcess: getpid())])
        await held.close()
        #expect(try await heard.value.contains("PUMP:OFF\r\n"))
    }

    @Test("A family without a stop gets no bytes, and the asker gets the reason")
    func noStop() async {
        let held = await hold(.led)
        guard case .failed(let failure)? = await ask() else {
            Issue.record("no failure")
            return
        }
        #expect(failure.code == "no_stop")
        #expect(failure.outcome == "not_sent")
        #expect(failure.message.contains("an LED board has no emergency stop"))
        await held.close()
    }

    @Test("A closed link answers no OFF request")
    func closed() async {
        await hold(.pump).close()
        #expect(await ask() == nil)
    }

    @Test("A link without a device ID is not held")
    func nameless() async {
        let held = await HeldLink.open(NamedLink(link: link, deviceID: nil), of: .pump) { _ in }
        #expect(!(held is HeldLink))
    }
}
