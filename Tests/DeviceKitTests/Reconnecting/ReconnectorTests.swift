import DescriptorIO
import DeviceTestKit
import Glibc
import LineProtocol
import SerialPort
import TestSupport
import Testing
import Transports

@testable import DeviceKit

@Suite("Reconnecting to a device", .timeLimit(.minutes(5)))
struct ReconnectorTests {
    private let terminal: PseudoTerminal

    init() throws { terminal = try PseudoTerminal() }

    /// Creates the reconnector for a lost link to the terminal's port.
    private func reconnector(_ options: String = "") throws -> Reconnector {
        Reconnector(try Endpoint("serial:\(terminal.path)\(options)"), ScriptedLink())
    }

    @Test func `Reconnecting does not reset the board`() async throws {
        // A pseudo-terminal has no DTR, so resetting a board over it fails.
        let endpoint = try Endpoint("serial:\(terminal.path)?reset=true")
        let error = await #expect(throws: LinkError.self) { try await LinkSchemes.standard.open(endpoint) }
        #expect(error?.code == .unsupported)
        let link = try await reconnector("?reset=true").link()
        #expect(!link.mayHaveReset)
        await link.close()
    }

    @Test func `A port in use by another program is waited for`() async throws {
        let port = try SerialPort(path: terminal.path)
        let reconnector = try reconnector()
        let isOpen = Watched(false)
        let opening = Task {
            let link = try await reconnector.link()
            isOpen.update { $0 = true }
            return link
        }
        await settle()
        #expect(!isOpen.state)
        await port.channel().close()
        let link = try await opening.value
        await link.close()
    }

    @Test func `A new pseudo-terminal with the same number is not taken for the lost one`() async throws {
        let reconnector = try reconnector()
        renewPseudoTerminal(at: terminal.path)
        let error = await #expect(throws: LinkError.self) { try await reconnector.link() }
        #expect(error?.code == .disconnected)
        #expect(error?.hint?.isEmpty == false)
    }

    /// The device IDs contain the major number of the device file: 188 for ttyUSB, 166 for ttyACM.
    @Test(
        arguments: [
            ("/dev/ttyUSB97", "tty-188-97"), ("/dev/ttyACM97", "tty-166-97"), ("/dev/ttyUSB97", nil),
            ("/dev/pump-that-is-not-there", "tty-188-97"),
        ] as [(String, String?)])
    func `A USB adapter lost before it was identified is not searched for by its path`(
        path: String, deviceID: String?
    ) async throws {
        let lost = IdentifiedLink(ScriptedLink(), deviceID)
        let reconnector = Reconnector(try Endpoint(path), lost) { _ in ScriptedLink() }
        let error = await #expect(throws: LinkError.self) { try await reconnector.link() }
        #expect(error?.code == .disconnected)
        #expect(error?.hint?.isEmpty == false)
        #expect(reconnector.isDeviceUnknown)
        await (try await reconnector.unverifiedLink()).close()
    }

    @Test func `A USB adapter that is still present has not gone, even under another path`() throws {
        let renamed = try Endpoint("/dev/pump")
        #expect(!Reconnector.hasGone(renamed, "tty-188-0", node: "tty-188-0"))
        #expect(Reconnector.hasGone(renamed, "tty-188-0", node: "tty-188-1"))
        #expect(Reconnector.hasGone(renamed, "tty-188-0", node: nil))
        let numbered = try Endpoint("/dev/ttyUSB0")
        #expect(!Reconnector.hasGone(numbered, nil, node: "tty-188-0"))
        #expect(Reconnector.hasGone(numbered, nil, node: nil))
        #expect(!Reconnector.hasGone(try Endpoint("/dev/ttyS0"), "tty-4-64", node: nil))
    }

    @Test func `Where udev reports no events, an adapter is found by its identity and not by its path`() async throws {
        func port(_ path: String, at place: String) -> SerialPortInfo {
            var port = SerialPortInfo(path: path)
            port.usb = SerialPortInfo.USB(USBIdentifier(vendor: 0x1A86, product: 0x7523), physicalPath: place)
            return port
        }
        let (other, own) = (port(terminal.path, at: "1-4"), port("/dev/null", at: "1-2"))
        let present = Watched([other])
        let opened = Watched<[String]>([])
        let clock = ManualClock()
        let endpoint = try Endpoint("serial:\(terminal.path)")
        let reconnector = Reconnector(endpoint, ScriptedLink(), clock: clock) { endpoint in
            opened.update { $0.append(endpoint.address) }
            return ScriptedLink()
        }
        let search = Task { try await reconnector.link(of: own.identity) { present.state } }
        await clock.untilSomebodySleeps(until: .seconds(1))
        present.update { $0.append(own) }
        clock.advance(by: .seconds(1))
        _ = try await search.value
        #expect(opened.state == ["/dev/null"])
    }

    @Test(
        arguments: [
            ("/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0", "tty-188-97"),
            ("/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0", "tty-188-97"), ("/dev/ttyS97", "tty-4-97"),
            ("/dev/ttyS97", nil), ("usb:1a86:7523", "tty-188-97"), ("tcp:bench:4000", nil),
        ] as [(String, String?)])
    func `A device with an identifying path, or not on USB, is reopened at its endpoint`(
        endpoint: String, deviceID: String?
    ) async throws {
        let lost = IdentifiedLink(ScriptedLink(), deviceID)
        let next = ScriptedLink()
        let reconnector = Reconnector(try Endpoint(endpoint), lost) { _ in next }
        #expect(try await reconnector.link() === next)
    }

    @Test func `A device that is identified only later is not confused with a new one`() async throws {
        let endpoint = try Endpoint("serial:\(terminal.path)")
        let reconnector = Reconnector(endpoint, ScriptedLink(), looksNow: false) { _ in ScriptedLink() }
        reconnector.look()
        renewPseudoTerminal(at: terminal.path)
        let error = await #expect(throws: LinkError.self) { try await reconnector.link() }
        #expect(error?.code == .disconnected)
    }

    @Test func `A pseudo-terminal behind a symlink is waited for until the symlink is replaced`() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        symlink(terminal.path, path)
        let reconnector = Reconnector(try Endpoint(path), ScriptedLink())
        renewPseudoTerminal(at: terminal.path)
        let isOpen = Watched(false)
        let opening = Task {
            let link = try await reconnector.link()
            isOpen.update { $0 = true }
            return link
        }
        await settle()
        #expect(!isOpen.state)
        symlink(terminal.path, path + ".new")
        rename(path + ".new", path)
        let link = try await opening.value
        await link.close()
    }

    @Test func `A symlink replaced after one loss counts as stale after the next loss`() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        symlink(terminal.path, path)
        let reconnector = Reconnector(try Endpoint(path), ScriptedLink())
        renewPseudoTerminal(at: terminal.path)
        unlink(path)
        symlink(terminal.path, path)
        await (try await reconnector.link()).close()
        renewPseudoTerminal(at: terminal.path)
        let opening = Task { try await reconnector.link() }
        await settle()
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
    }

    @Test func `A rejected device is reported once per reason`() async throws {
        let reasons: [LinkError.Code] = [.wrongFamily, .wrongFamily, .notFound, .unfit, .ambiguous, .unsupported]
        let attempts = Watched(reasons)
        let doubts = Watched<[LinkError.Code]>([])
        let clock = ManualClock()
        // A server announces its return in no watched folder, so the attempts come at intervals.
        let reconnector = Reconnector(try Endpoint("tcp:bench:4000"), ScriptedLink(), clock: clock) { endpoint in
            throw LinkError(attempts.update { $0.removeFirst() }, name: endpoint.text, activity: "open")
        } doubt: { error in
            doubts.update { $0.append(error.code) }
        }
        let waiting = Task { try await reconnector.link() }
        for second in 1..<reasons.count {
            await clock.untilSomebodySleeps(until: .seconds(second))
            clock.advance(by: .seconds(1))
        }
        let error = await #expect(throws: LinkError.self) { try await waiting.value }
        #expect(error?.code == .unsupported)
        #expect(doubts.state == [.wrongFamily, .unfit, .ambiguous])
    }

    @Test func `A device is followed from link to link, and each link is closed`() async throws {
        let links = (0..<3).map { _ in ScriptedLink() }
        let later = Watched(Array(links.dropFirst()))
        let clock = ManualClock()
        let reconnector = Reconnector(
            try Endpoint("tcp:bench:4000"), links[0], clock: clock,
            open: { _ in later.update { $0.removeFirst() as any Link } })
        // After a link that is lost at once, the reconnector pauses before it tries again.
        let pause = Task {
            await clock.untilSomebodySleeps(until: .seconds(1))
            clock.advance(by: .seconds(1))
        }
        var (losses, returns): ([LinkError.Code], Int) = ([], 0)
        func follow(_ body: (any Link) throws -> Void) async throws {
            try await reconnector.follow(links[0], onLoss: { losses.append($0.code) }, onReturn: { returns += 1 }) {
                link in
                try body(link)
            }
        }
        var seen: [any Link] = []
        try await follow { link in
            seen.append(link)
            if seen.count < 3 { throw LinkError(.disconnected, name: "scripted", activity: "receive") }
        }
        #expect(seen.map(ObjectIdentifier.init) == links.map(ObjectIdentifier.init))
        #expect(losses == [.disconnected, .disconnected])
        #expect(returns == 2)
        await pause.value
        #expect(links.map(\.closeCount) == [1, 1, 1])
        // An error that is no loss of the link is thrown.
        await #expect(throws: CancellationError.self) { try await follow { _ in throw CancellationError() } }
        #expect(losses.count == 2)
        #expect(links[0].closeCount == 2)
    }
}

/// A link to a particular device.
private final class IdentifiedLink: LinkWrapper {
    let link: any Link
    let deviceID: String?

    init(_ link: any Link, _ deviceID: String?) {
        self.link = link
        self.deviceID = deviceID
    }
}
