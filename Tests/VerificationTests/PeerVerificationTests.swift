import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Verification

@Suite("Verification of peers")
struct PeerVerificationTests {
    private static func peer(_ carrier: PeerFirmwareOptions.Carrier = .line(.baud(115_200))) -> PeerFirmware {
        PeerFirmware(options: PeerFirmwareOptions(carrier: carrier, imageByteCount: 1000, acknowledges: true))
    }

    @Test("A correct peer passes every check, and is off afterwards", arguments: [false, true])
    func passes(overBLE: Bool) throws {
        let world = VerificationWorld(
            Self.peer(overBLE ? .notifications : .line(.baud(115_200))), over: overBLE ? .packets : .line)
        let verdict = try #require(world.verify(.peer).verdict)
        for result in verdict.results { #expect(result.outcome == .passed, "\(result.id) \(result.outcome)") }
        #expect(verdict.isPassed && verdict.aftermath == .harmless)
        #expect(!world.device.device.isOn)
        #expect(world.written.allSatisfy { $0.hasSuffix("\n") != overBLE })
    }

    @Test("A peer whose link breaks while its toggle is on is reported as possibly on")
    func lostLink() throws {
        let world = VerificationWorld(Self.peer())
        world.onWrite = { text in
            if text == "ON\n" { world.link.drop() }
            return text
        }
        let verdict = try #require(world.verify(.peer).verdict)
        if case .lost = verdict.ending {} else { Issue.record("\(verdict.ending)") }
        if case .perhapsOn = verdict.aftermath {} else { Issue.record("\(verdict.aftermath)") }
    }

    @Test("Without permission nothing is toggled, and neither ON nor OFF is sent")
    func withoutLeave() throws {
        let world = VerificationWorld(Self.peer())
        let verdict = try #require(world.verify(.peer) { $0.mayRun = false }.verdict)
        #expect(verdict.isPassed)
        #expect(verdict.skipped == FamilyVerification.peer.checks.filter { $0.needs.contains(.run) }.map(\.id))
        for text in world.written {
            #expect(!["ON\n", "OFF\n"].contains(text.uppercased()))
        }
        #expect(world.loop.now < .seconds(45), "\(world.loop.now)")
    }

    @Test("A run with a large image ends within 45 s, and unseen parts are skipped")
    func largeImage() throws {
        var options = PeerFirmwareOptions()
        options.imageByteCount = 1_000_000
        let world = VerificationWorld(PeerFirmware(options: options))
        let verdict = try #require(world.verify(.peer) { $0.mayRun = false }.verdict)
        #expect(verdict.failures.isEmpty)
        #expect(verdict.skipped.contains("peer.image.size") && verdict.skipped.contains("peer.get.image"))
        #expect(world.loop.now < .seconds(45), "\(world.loop.now)")
        // Thousands of lines have arrived; the report contains a few.
        for result in verdict.results { #expect(result.received.count < 20) }
    }

    @Test("A peer without an image fails no check", arguments: ["no_file_selected", "not_png"])
    func noImage(reason: String) throws {
        var options = PeerFirmwareOptions()
        options.imageFault = PeerFirmwareOptions.ImageFault(rawValue: reason)
        let world = VerificationWorld(PeerFirmware(options: options))
        let verdict = try #require(world.verify(.peer, hasStimulus: false).verdict)
        #expect(verdict.failures.isEmpty)
        #expect(verdict.skipped.contains("peer.image.size"))
        #expect(verdict.results.first { $0.id == "peer.image.begin" }?.variants == ["no image: \(reason)"])
    }

    @Test(
        "An image fault fails its check, and a refused image fails none",
        arguments: PeerFirmwareOptions.ImageFault.allCases)
    func imageFaults(fault: PeerFirmwareOptions.ImageFault) throws {
        let checks: [PeerFirmwareOptions.ImageFault: String] = [
            .beginBadFormat: "peer.image.begin", .tooLarge: "peer.image.limit", .base64Invalid: "peer.image.base64",
            .sizeMismatch: "peer.image.size", .stalls: "peer.image.end",
        ]
        var options = PeerFirmwareOptions()
        (options.imageByteCount, options.imageFault) = (1000, fault)
        let world = VerificationWorld(PeerFirmware(options: options))
        let verdict = try #require(world.verify(.peer, hasStimulus: false).verdict)
        #expect(verdict.failures == (checks[fault].map { [$0] } ?? []))
    }

    @Test("Unsolicited texts of a peer fail no check")
    func chatter() throws {
        var options = PeerFirmwareOptions(imageByteCount: 1000)
        options.interval = .milliseconds(730)
        let verdict = try #require(VerificationWorld(PeerFirmware(options: options)).verify(.peer).verdict)
        #expect(verdict.failures.isEmpty, "\(verdict.results.filter(\.isFailure))")
    }

    @Test("Over BLE a message with a line end fails the framing check")
    func lineEnds() throws {
        let world = VerificationWorld(
            LineEnding(device: Self.peer(.notifications)), over: .packets)
        #expect(world.verify(.peer, hasStimulus: false).verdict?.failures == ["peer.image.framing"])
    }

    @Test("A peer that sends no greeting fails over BLE, and is skipped on a line")
    func noGreeting() throws {
        let mutant = Mutant(kills: "", flaw: "does not greet", says: [.init(line: "HELLO", becomes: [])])
        let line = try #require(VerificationWorld(Self.peer(), mutant).verify(.peer, hasStimulus: false).verdict)
        #expect(line.isPassed && line.skipped.contains("peer.greeting"))
        let world = VerificationWorld(Silent(device: Self.peer(.notifications)), over: .packets)
        #expect(world.verify(.peer, hasStimulus: false).verdict?.failures == ["peer.greeting"])
    }

    @Test("A mute peer is sent nothing but GET, and the run ends early")
    func mute() throws {
        let world = VerificationWorld(Self.peer())
        world.onWrite = { _ in nil }
        let verdict = try #require(world.verify(.peer).verdict)
        #expect(verdict.failures == ["peer.image.begin"])
        #expect(verdict.skipped.count == FamilyVerification.peer.checks.count - 1)
        #expect(world.written.allSatisfy { $0 == "GET\n" })
        #expect(world.loop.now <= .seconds(10) && verdict.aftermath == .untouched)
    }

    @Test("A run on a peer that falls silent ends within 45 s", arguments: [2, 3, 5, 8])
    func fallsSilent(count: Int) throws {
        let world = VerificationWorld(Self.peer())
        var heard = 0
        world.onWrite = { text in
            heard += 1
            return heard > count ? nil : text
        }
        let verdict = try #require(world.verify(.peer, hasStimulus: false) { $0.mayRun = false }.verdict)
        #expect(!verdict.isPassed)
        #expect(world.loop.now <= .seconds(45), "\(world.loop.now)")
    }

    @Test("A flawed peer fails only the check of its flaw", arguments: Mutant.peers)
    func isFound(mutant: Mutant) throws {
        let verdict = try #require(VerificationWorld(Self.peer(), mutant).verify(.peer).verdict)
        #expect(verdict.failures == [mutant.kills], "\(verdict.results.filter(\.isFailure))")
    }

    @Test("Every check has a flawed peer")
    func everyCheckIsNeeded() {
        #expect(Set(Mutant.peers.map(\.kills)) == Set(FamilyVerification.peer.checks.map(\.id)))
    }

    @Test(
        "ISO 8601 instants are distinguished from other texts",
        arguments: [
            ("2025-01-31T16:04:05Z", true), ("2025-01-31T16:04:05.123+01:00", true), ("20250131T160405Z", true),
            ("2025-01-31T16:04", true), ("2025-01-31T16:04:05-0530", true), ("2025-01-31 16:04:05", false),
            ("31.01.2025", false), ("2025-13-31T16:04:05Z", false), ("2025-01-31T16:64:05Z", false), ("T", false),
            ("", false), ("2025-01-31T16:04:05.Z", false), ("2025-0131T16:04:05Z", false),
            ("20-2501-31T16:04:05Z", false), ("2025-01-31T1:60:405Z", false), ("2025-01-31T16:04:05+:0530", false),
        ])
    func instants(text: String, isOne: Bool) { #expect(ISO8601.isInstant(text) == isOne) }
}

/// A peer whose notifications have line ends.
private struct LineEnding: SimulatedDevice {
    var device: PeerFirmware

    mutating func receive(_ bytes: [UInt8], at instant: Duration) { device.receive(bytes, at: instant) }
    mutating func hostCame(at instant: Duration) { device.hostCame(at: instant) }
    mutating func advance(to instant: Duration) -> [Emission] {
        device.advance(to: instant).map { Emission(bytes: $0.bytes + [10], time: $0.time) }
    }
    var nextActivity: Duration? { device.nextActivity }
    var isQuiescent: Bool { device.isQuiescent }
    mutating func reset(at instant: Duration) { device.reset(at: instant) }
}

/// A peer that never notices a new client, and so never greets.
private struct Silent: SimulatedDevice {
    var device: PeerFirmware

    mutating func receive(_ bytes: [UInt8], at instant: Duration) { device.receive(bytes, at: instant) }
    mutating func advance(to instant: Duration) -> [Emission] { device.advance(to: instant) }
    var nextActivity: Duration? { device.nextActivity }
    var isQuiescent: Bool { device.isQuiescent }
    mutating func reset(at instant: Duration) { device.reset(at: instant) }
}
