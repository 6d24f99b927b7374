import DescriptorIO
import DeviceKit
import DeviceTestKit
import Glibc
import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("Switching off", .timeLimit(.minutes(5)))
struct SwitchingOffTests {
    /// A link to a pump that confirms OFF.
    private static func pump() -> ScriptedLink {
        ScriptedLink { sent in
            switch sent {
            case "\nOFF\n": "OK\r\nPUMP:OFF\r\n"
            case "TEMP\n": "TEMP:34.5\r\n"
            case "STATUS\n": "STATUS:{State:OFF,SkinTemp:34.5C}\r\n"
            default: nil
            }
        }
    }

    private let deviceID = "switching-off-test-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
    private let opened = Watched<[Endpoint]>([])
    private let reports = Watched<[String]>([])

    /// - Parameter open: Opens the link of an attempt. Attempts are counted from 1.
    private func switchOff(
        _ family: Family = .pump, at endpoint: String = "tcp:bench:4000",
        open: @escaping @Sendable (_ attempt: Int) throws -> any Link
    ) async throws {
        try await SwitchingOff(family, timeout: .seconds(20)) { [opened] endpoint in
            opened.update { $0.append(endpoint) }
            return try open(opened.state.count)
        } tell: { [reports] report in
            reports.update { $0.append(String("\(report)".prefix { $0 != "(" })) }
        }.run(at: Endpoint(endpoint))
    }

    private func busy(_ holder: LinkHolder?) -> LinkError {
        LinkError(.busy, name: "bench", activity: "open", holder: holder, deviceID: deviceID)
    }

    @Test("Switching off returns after the device has confirmed OFF and the link is closed")
    func own() async throws {
        let link = Self.pump()
        try await switchOff { _ in link }
        #expect(await link.nextSent().hasSuffix("OFF\n"))
        #expect(link.closeCount >= 1)
        #expect(reports.state == [])
    }

    @Test("With a time to wait, a program that holds the device is waited for and named once")
    func waiting() async throws {
        let (clock, link, holder) = (ManualClock(), Self.pump(), LinkHolder(processID: getppid(), command: "tio"))
        let attempts = Watched(0)
        // The holder is named after 1 s. With pauses of 50 ms, 22 refused attempts last a little longer.
        let off = Task {
            try await SwitchingOff(.pump, wait: .seconds(60), clock: clock) { [busy = busy(holder)] _ in
                attempts.update { $0 += 1 }
                guard attempts.state > 22 else { throw busy }
                return link
            } tell: { [reports] report in
                reports.update { $0.append("\(report)") }
            }.run(at: Endpoint("tcp:bench:4000"))
        }
        for count in 1...22 {
            let time = Duration.milliseconds(50) * count
            await clock.untilSomebodySleeps(until: time)
            clock.advance(by: time - clock.now.offset)
        }
        try await off.value
        #expect(reports.state.count == 1)
        #expect(reports.state.first?.contains("\(holder.processID)") == true)
    }

    @Test("A link that is lost before the acknowledgement is opened again")
    func lost() async throws {
        let gone = LinkError(.disconnected, name: "bench", activity: "send")
        let (first, second) = (ScriptedLink(), Self.pump())
        let losing = Task {
            _ = await first.nextSent()
            await first.end(with: gone)
        }
        try await switchOff { $0 == 1 ? first : second }
        await losing.value
        #expect(await second.nextSent().hasSuffix("OFF\n"))
        #expect(reports.state == ["openingAgain"])
    }

    @Test(
        "The time for opening does not reduce the time for reopening",
        arguments: [Duration.seconds(25), .seconds(60)])
    func slowOpening(openingTime: Duration) async throws {
        let gone = LinkError(.disconnected, name: "bench", activity: "send")
        let (clock, first, second) = (ManualClock(), ScriptedLink(), Self.pump())
        let losing = Task {
            _ = await first.nextSent()
            await first.end(with: gone)
        }
        try await SwitchingOff(.pump, timeout: .seconds(20), clock: clock) { [opened] endpoint in
            opened.update { $0.append(endpoint) }
            guard opened.state.count == 1 else { return second }
            clock.advance(by: openingTime)
            return first
        } tell: { [reports] report in
            reports.update { $0.append(String("\(report)".prefix { $0 != "(" })) }
        }.run(at: Endpoint("ble:HMSoft"))
        await losing.value
        #expect(await second.nextSent() == "\nOFF\n")
        #expect(reports.state == ["openingAgain"])
    }

    @Test("A link that is lost late gets the full time for reopening")
    func lateLoss() async throws {
        let gone = LinkError(.disconnected, name: "bench", activity: "send")
        let (clock, first, second) = (ManualClock(), ScriptedLink(), Self.pump())
        let losing = Task {
            _ = await first.nextSent()
            clock.advance(by: .seconds(19))
            await first.end(with: gone)
        }
        try await SwitchingOff(.pump, timeout: .seconds(20), clock: clock) { [opened] endpoint in
            opened.update { $0.append(endpoint) }
            guard opened.state.count > 1 else { return first }
            // The device stays away longer than the rest of the time for the reply.
            clock.advance(by: .seconds(10))
            // If the time for reopening is over, this attempt is cancelled now.
            await settle()
            try Task.checkCancellation()
            return second
        }.run(at: Endpoint("tcp:bench:4000"))
        await losing.value
        #expect(await second.nextSent() == "\nOFF\n")
    }

    @Test("A busy device is waited for only within the timeout")
    func busyForLong() async throws {
        // Each attempt takes 11 s, and the pause between them 50 ms: the second ends after the timeout of 20 s.
        let (clock, own) = (ManualClock(), LinkHolder(processID: getpid(), command: "monitor"))
        let waking = Task {
            await clock.untilSomebodySleeps(until: .milliseconds(11_050))
            clock.advance(by: .milliseconds(50))
        }
        let error = await #expect(throws: LinkError.self) {
            try await SwitchingOff(.pump, timeout: .seconds(20), clock: clock) { [opened] endpoint in
                opened.update { $0.append(endpoint) }
                clock.advance(by: .seconds(11))
                throw LinkError(.busy, name: "bench", activity: "open", holder: own)
            }.run(at: Endpoint("tcp:bench:4000"))
        }
        await waking.value
        #expect(error?.code == .busy)
        #expect(opened.state.count == 2)
    }

    @Test("If the returning device can't be identified, it gets OFF too, and the call fails")
    func unverified() async throws {
        let gone = LinkError(.disconnected, name: "bench", activity: "send")
        let (first, second) = (ScriptedLink(), Self.pump())
        first.failSends(with: gone)
        let error = await #expect(throws: SessionError.self) {
            try await switchOff(at: "/dev/ttyUSB97") { attempt in
                attempt == 1 ? NamedLink(link: first, deviceID: "tty-188-97") as any Link : second
            }
        }
        #expect(error?.code == .linkLost)
        #expect(error?.outcome == .unknown)
        #expect(await second.nextSent().hasSuffix("OFF\n"))
        #expect(reports.state == ["openingAgain", "unverified"])
    }

    @Test(
        "Only a link that is lost in time is opened again",
        arguments: [SessionError.Code.refused, .noAnswer, .linkLost])
    func notAgain(code: SessionError.Code) async throws {
        let clock = ManualClock()
        let error = await #expect(throws: SessionError.self) {
            try await SwitchingOff(.pump, timeout: .seconds(20), clock: clock) { [opened] endpoint in
                opened.update { $0.append(endpoint) }
                return Self.pump()
            } stop: { _, _ in
                // A loss is noticed only when the timeout of 20 s is over.
                clock.advance(by: .seconds(code == .linkLost ? 20 : 1))
                throw SessionError(code, command: "OFF", outcome: .unknown)
            } tell: { [reports] report in
                reports.update { $0.append("\(report)") }
            }.run(at: Endpoint("tcp:bench:4000"))
        }
        #expect(error?.code == code)
        #expect(opened.state.count == 1)
        #expect(reports.state == [])
    }

    @Test("Over BLE the device is opened even if others are subscribed")
    func shared() async throws {
        try await switchOff(at: "ble:HMSoft") { _ in Self.pump() }
        #expect(opened.state.map { $0.options["shared"] } == ["true"])
    }

    @Test("A failure of the holding program is passed on")
    func heldInVain() async throws {
        let held = await HeldLink.open(NamedLink(link: ScriptedLink(), deviceID: deviceID), of: .led) { _ in }
        let holder = LinkHolder(processID: getpid(), command: "monitor")
        let error = await #expect(throws: OffByOtherError.self) { try await switchOff { _ in throw busy(holder) } }
        #expect(error?.failure.code == "no_stop")
        #expect(error?.holder == holder)
        #expect(error?.isHolderStopped == false)
        await held.close()
    }

    @Test("Another short run of this program is waited for")
    func waits() async throws {
        let own = LinkHolder(processID: getpid(), command: "monitor")
        try await switchOff { attempt in
            if attempt < 3 { throw busy(own) }
            return Self.pump()
        }
        #expect(opened.state.count == 3)
    }

    @Test("Without a time to wait, another program is not waited for")
    func stranger() async {
        let error = await #expect(throws: LinkError.self) {
            try await switchOff { _ in throw busy(LinkHolder(processID: 1, command: "init")) }
        }
        #expect(error?.code == .busy)
        #expect(opened.state.count == 1)
    }

    @Test("A family without a stop gets no bytes")
    func noStop() async {
        let link = ScriptedLink()
        let failure = await #expect(throws: OffFailure.self) { try await switchOff(.led) { _ in link } }
        #expect(failure?.code == "no_stop")
        #expect(link.unreadSent == [])
        #expect(link.closeCount == 1)
    }
}

/// A link with a device identity.
private final class NamedLink: LinkWrapper {
    let link: any Link
    let deviceID: String?

    init(link: any Link, deviceID: String?) {
        self.link = link
        self.deviceID = deviceID
    }
}
