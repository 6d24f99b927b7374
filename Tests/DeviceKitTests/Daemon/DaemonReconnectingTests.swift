import DescriptorIO
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import DeviceKit

@Suite("Reconnecting through a daemon", .timeLimit(.minutes(5)))
struct DaemonReconnectingTests {
    private let clock = ManualClock()
    /// For each attempt, the device's name at the daemon, or "nobody" if no daemon was asked.
    private let asked = Watched<[String]>([])
    /// The failures of the next attempts at the daemon, in order; later attempts succeed.
    private let failures = Watched<[LinkError.Code]>([])

    /// A link opened through a daemon.
    private final class SharedLink: LinkWrapper {
        let link: any Link = ScriptedLink()
        let sharedAddress: SharedDeviceAddress?

        /// - Parameter device: The endpoint at which the daemon has opened the device; nil if it is unknown.
        init(_ device: String? = nil) {
            sharedAddress = SharedDeviceAddress(socketPath: "/run/d", name: "pump", endpoint: device)
        }
    }

    /// Creates the reconnector for a lost link through a daemon. Its attempts at the daemon fail as ``failures`` says,
    /// and an attempt to open the device directly succeeds.
    private func reconnector(_ endpoint: String = "/dev/ttyUSB97") throws -> Reconnector {
        Reconnector(try Endpoint(endpoint), SharedLink(), clock: clock) { [asked, failures] endpoint in
            asked.update { $0.append(endpoint.sharedAddress?.name ?? "nobody") }
            guard endpoint.sharedAddress != nil else { return ScriptedLink() }
            if let code = failures.update({ $0.isEmpty ? nil : $0.removeFirst() }) {
                throw LinkError(code, name: endpoint.text, activity: "open")
            }
            return SharedLink()
        }
    }

    /// Lets `count` pauses between two attempts pass, of one second each.
    private func pass(_ count: Int) async {
        for second in 1...count {
            await clock.untilSomebodySleeps(until: .seconds(second))
            clock.advance(by: .seconds(1))
        }
    }

    @Test func `As long as the daemon reports the device as absent, it is waited for there`() async throws {
        failures.update { $0 = Array(repeating: .notFound, count: 20) }
        let reconnector = try reconnector()
        let finding = Task { try await reconnector.link() }
        await pass(20)
        #expect(try await finding.value.sharedAddress != nil)
        #expect(asked.state == Array(repeating: "pump", count: 21))
    }

    @Test func `If the daemon restarts in time, the device is not opened directly`() async throws {
        failures.update { $0 = [.unavailable, .unavailable, .unavailable, .notFound] }
        let reconnector = try reconnector()
        let finding = Task { try await reconnector.link() }
        await pass(4)
        #expect(try await finding.value.sharedAddress != nil)
        #expect(!asked.state.contains("nobody"))
    }

    @Test func `If no daemon returns, the device is opened directly`() async throws {
        failures.update { $0 = Array(repeating: .unavailable, count: 100) }
        let reconnector = try reconnector("tcp:bench:4000")
        let finding = Task { try await reconnector.link() }
        // `Reconnector.daemonPatience` is 5 s.
        await pass(5)
        #expect(try await finding.value.sharedAddress == nil)
        #expect(asked.state == Array(repeating: "pump", count: 6) + ["nobody"])
    }

    @Test func `OFF does not wait for a daemon that is gone`() async throws {
        failures.update { $0 = [.unavailable] }
        _ = try await reconnector("tcp:bench:4000").unverifiedLink()
        #expect(asked.state == ["pump", "nobody"])
    }

    @Test(arguments: [
        ("/dev/ttyUSB97?baud=9600", "/dev/ttyUSB97?baud=9600"), ("ble:HMSoft", "ble:HMSoft"),
        // A relative path refers to the working folder of the daemon, which is unknown here.
        ("./pump", "shared:pump"), (nil, "shared:pump"),
    ])
    func `If the daemon is gone, a device known by its shared name is opened at the daemon's endpoint`(
        device: String?, opened: String
    ) async throws {
        let opens = Watched<[String]>([])
        let reconnector = Reconnector(try Endpoint("shared:pump"), SharedLink(device), clock: clock) { endpoint in
            guard endpoint.sharedAddress == nil else {
                throw LinkError(.unavailable, name: endpoint.text, activity: "open")
            }
            opens.update { $0.append(endpoint.text) }
            return ScriptedLink()
        }
        _ = try await reconnector.unverifiedLink()
        #expect(opens.state == [opened])
    }

    @Test func `Another device with the same shared name is not accepted, not even for OFF`() async throws {
        for takesUnknown in [false, true] {
            let clock = ManualClock()
            let devices = Watched(["tcp:bench:5000", "tcp:bench:5000", "tcp:bench:4000"])
            let doubts = Watched<[LinkError.Code]>([])
            let reconnector = Reconnector(try Endpoint("shared:pump"), SharedLink("tcp:bench:4000"), clock: clock) {
                _ in
                SharedLink(devices.update { $0.removeFirst() })
            } doubt: { error in
                doubts.update { $0.append(error.code) }
            }
            let finding = Task {
                takesUnknown ? try await reconnector.unverifiedLink() : try await reconnector.link()
            }
            for second in 1...2 {
                await clock.untilSomebodySleeps(until: .seconds(second))
                clock.advance(by: .seconds(1))
            }
            #expect(try await finding.value.sharedAddress?.endpoint == "tcp:bench:4000")
            #expect(doubts.state == [.changedDevice])
        }
    }

    private func word(_ event: LinkFollowing<[UInt8]>.Element?) -> String {
        switch event {
        case .heard: "heard"
        case .lost(let error): error.code.rawValue
        case .back: "back"
        case nil: "nil"
        }
    }

    @Test func `Input before and after a loss is received`() async throws {
        let device = FakeDaemon.Device("pump", family: "pump")
        let daemon = try await FakeDaemon([device])
        var opening = LinkOpening(of: .pump)
        opening.daemonSockets = { [path = daemon.socketPath] in [DaemonSocket(path: path)] }
        let endpoint = try Endpoint("shared:pump")
        let link = try await opening.link(to: endpoint, for: .watching)
        let reconnector = Reconnector(endpoint, link, clock: clock) { [opening] in
            try await opening.link(to: $0, for: .watching)
        }
        let following = LinkFollowing(over: link, reconnector) { link in { try await link.receive() } }
        var events = following.makeAsyncIterator()
        try await daemon.say("MANUAL:ON\r\n")
        #expect(word(try await events.next()) == "heard")
        daemon.devices.update { $0[0].isUp = false }
        await daemon.hangUp()
        #expect(word(try await events.next()) == "disconnected")
        let waiting = Task { [daemon, clock] in
            await clock.untilSomebodySleeps(until: .seconds(1))
            daemon.devices.update { $0[0].isUp = true }
            clock.advance(by: .seconds(1))
        }
        #expect(word(try await events.next()) == "back")
        await waiting.value
        // The requests to attach: the first, one while the device was absent, and one after its return.
        #expect(daemon.heard.state.count == 3)
        await following.close()
        await daemon.close()
    }
}
