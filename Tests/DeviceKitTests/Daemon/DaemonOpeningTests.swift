import DescriptorIO
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import DeviceKit

@Suite("Devices of a daemon", .timeLimit(.minutes(5)))
struct DaemonOpeningTests {
    private let told = Watched<[String]>([])
    private static let holder = LinkHolder(processID: 7, command: "picocom")

    /// A shared pump that is off, and is lost when it gets ON.
    private static func pump(_ name: String = "pump") -> FakeDaemon.Device {
        FakeDaemon.Device(name, family: "pump", deviceID: "tty-188-0") { line in
            switch line {
            case "OFF": "OK\r\nPUMP:OFF\r\n"
            case "TEMP": "TEMP:34.5\r\n"
            case "STATUS": "STATUS:{State:OFF,SkinTemp:34.5C}\r\n"
            case "ON": nil
            default: ""
            }
        }
    }

    /// An opening that knows only `daemons`. Every device at `bench:` or `serial:` is held by `holder`. A link through
    /// a daemon is noted in ``told``.
    private func opening(
        _ daemons: FakeDaemon..., of family: Family = .pump, holder: LinkHolder = holder
    ) -> LinkOpening {
        var opening = LinkOpening(of: family) { [told] name, report in
            if case .throughDaemon(let address) = report {
                told.update { $0.append("\(name) by \(address.socketPath): \(address.name)") }
            }
        }
        for scheme in ["bench", "serial"] {
            opening.schemes.add(scheme) { endpoint, _ throws(LinkError) in
                throw LinkError(
                    .busy, name: endpoint.text, activity: "open", hint: "end it first", holder: holder,
                    deviceID: endpoint.address)
            }
        }
        let sockets = daemons.map { DaemonSocket(path: $0.socketPath) }
        opening.daemonSockets = { sockets }
        return opening
    }

    private func failure(_ opening: LinkOpening, _ endpoint: String) async throws -> LinkError {
        try await #require(throws: LinkError.self) { try await opening.link(to: Endpoint(endpoint)) }
    }

    @Test func `A busy device is reached through the daemon that shares it`() async throws {
        var device = Self.pump()
        device.greeting = "MANUAL:ON\r\n"
        let daemon = try await FakeDaemon([device])
        let link = try await opening(daemon).link(to: Endpoint("bench:tty-188-0"))
        #expect(link.name == "bench:tty-188-0")
        #expect(link.deviceID == nil)
        #expect(!link.mayHaveReset && !link.mayBeMidLine && !link.keepsPacketBounds)
        #expect(link.openingNote == nil)
        let address = SharedDeviceAddress(socketPath: daemon.socketPath, name: "pump", endpoint: "/dev/ttyUSB0")
        #expect(link.sharedAddress == address)
        #expect(told.state == ["bench:tty-188-0 by \(daemon.socketPath): pump"])
        var received: [UInt8] = []
        while received.count < 11 { received += try #require(try await link.receive()) }
        #expect(received == Array("MANUAL:ON\r\n".utf8))
        let status = try await PumpFamily.withSession(over: link, clock: ContinuousClock()) { pump in
            try await pump.readStatus()
        }
        #expect(status.power == .off)
        await daemon.close()
    }

    @Test func `A name that several daemons use for different devices is ambiguous`() async throws {
        let daemons = [
            try await FakeDaemon([Self.pump()]),
            try await FakeDaemon([FakeDaemon.Device("pump", family: "pump", endpoint: "tcp:bench:4000")]),
        ]
        let error = try await failure(opening(daemons[0], daemons[1]), "shared:pump")
        #expect(error.code == .ambiguous)
        #expect(error.detail?.contains("/dev/ttyUSB0, tcp:bench:4000") == true)
        #expect(daemons.allSatisfy { !$0.heard.state.contains { $0.contains("attach") } })
        for daemon in daemons { await daemon.close() }
    }

    @Test func `If several daemons share a device, the one that has it connected is used`() async throws {
        var waiting = Self.pump()
        waiting.isUp = false
        let daemons = [try await FakeDaemon([waiting]), try await FakeDaemon([Self.pump()])]
        let link = try await opening(daemons[0], daemons[1]).link(to: Endpoint("shared:pump"))
        #expect(link.sharedAddress?.socketPath == daemons[1].socketPath)
        await link.close()
        for daemon in daemons { await daemon.close() }
    }

    @Test func `Input right after the daemon's reply is not lost`() async throws {
        var device = Self.pump()
        device.greeting = "MANUAL:ON\r\n"
        let daemon = try await FakeDaemon([device])
        let link = try await opening(daemon).link(to: Endpoint("shared:pump"))
        let heard = Watched(ReceivedText())
        await link.forward { arrival in
            heard.update { heard in
                switch arrival {
                case .bytes(let bytes): heard.bytes += bytes
                case .ended: heard.hasEnded = true
                }
            }
        }
        #expect(try await heard.line() == "MANUAL:ON")
        await daemon.close()
        #expect(try await heard.all("the link") == "")
    }

    @Test func `A device is reached by name through the daemon that knows it`() async throws {
        let (other, daemon) = (try await FakeDaemon([Self.pump("other")]), try await FakeDaemon([Self.pump()]))
        let link = try await opening(other, daemon).link(to: Endpoint("shared:pump"))
        #expect(link.name == "shared:pump")
        #expect(link.sharedAddress?.socketPath == daemon.socketPath)
        #expect(told.state == [])
        for daemon in [other, daemon] { await daemon.close() }
    }

    @Test func `An unknown name fails with a list of the known names`() async throws {
        let daemon = try await FakeDaemon([Self.pump("left"), Self.pump("right")])
        let error = try await failure(opening(daemon), "shared:pump")
        #expect(error.code == .notFound)
        #expect(error.hint == "use one of pumpctld's devices: shared:left, shared:right")
        await daemon.close()
    }

    @Test func `Without a daemon a shared name is unavailable, and a busy device stays busy`() async throws {
        #expect(try await failure(opening(), "shared:pump").code == .unavailable)
        let error = try await failure(opening(), "bench:tty-188-0")
        #expect(error.code == .busy)
        #expect(error.hint == "end it first")
        // A killed daemon leaves its socket behind.
        let gone = try await FakeDaemon([])
        await gone.close()
        #expect(try await failure(opening(gone), "bench:tty-188-0").code == .busy)
    }

    @Test func `A device that the daemon does not have stays busy`() async throws {
        let daemon = try await FakeDaemon([Self.pump()])
        let error = try await failure(opening(daemon), "bench:tty-188-1")
        #expect(error.code == .busy)
        #expect(error.holder == Self.holder)
        #expect(error.hint == "end it first")
        await daemon.close()
    }

    @Test func `A port held by a daemon that does not share it is reported as unavailable`() async throws {
        let daemon = try await FakeDaemon([])
        let error = try await failure(
            opening(daemon, holder: LinkHolder(processID: 7, command: "pumpctld")), "bench:tty-188-0")
        #expect(error.code == .unavailable)
        #expect("\(error)" == "bench:tty-188-0: pumpctld (pid 7) has the device open, but does not share it now")
        await daemon.close()
    }

    @Test func `A refusal is reported in the daemon's words`() async throws {
        var device = Self.pump()
        device.refusal = #""code":"flashing","message":"it is being \"flashed\"","hint":"wait for it""#
        let daemon = try await FakeDaemon([device])
        let error = try await failure(opening(daemon), "shared:pump")
        #expect(error.code == .system)
        #expect("\(error)" == "shared:pump: it is being \"flashed\"")
        #expect(error.hint == "wait for it")
        let busy = try await failure(opening(daemon), "bench:tty-188-0")
        #expect(busy.code == .busy)
        #expect(busy.hint == "pumpctld refused the request: it is being \"flashed\": wait for it")
        await daemon.close()
    }

    @Test func `A daemon with too many clients is reported, and does not hide another daemon`() async throws {
        let (full, daemon) = (try await FakeDaemon([], isFull: true), try await FakeDaemon([Self.pump()]))
        let error = try await failure(opening(full), "shared:pump")
        #expect(error.code == .unavailable)
        #expect("\(error)" == "shared:pump: pumpctld has too many clients")
        #expect(error.hint == "close one first")
        let busy = try await failure(
            opening(full, holder: LinkHolder(processID: 7, command: "pumpctld")), "bench:tty-188-0")
        #expect(busy.code == .busy)
        #expect(busy.hint == "pumpctld refused the request: there are too many clients: close one first")
        let link = try await opening(full, daemon).link(to: Endpoint("bench:tty-188-0"))
        #expect(link.sharedAddress?.socketPath == daemon.socketPath)
        await link.close()
        for daemon in [full, daemon] { await daemon.close() }
    }

    @Test func `An absent device is not found by its name and unavailable by its endpoint`() async throws {
        var device = Self.pump()
        device.isUp = false
        let daemon = try await FakeDaemon([device])
        #expect(try await failure(opening(daemon), "shared:pump").code == .notFound)
        #expect(try await failure(opening(daemon), "bench:tty-188-0").code == .unavailable)
        await daemon.close()
    }

    @Test(arguments: ["shared:pump", "bench:tty-188-0"])
    func `A device of another family gets no bytes`(endpoint: String) async throws {
        let daemon = try await FakeDaemon([Self.pump()])
        let error = try await failure(opening(daemon, of: .led), endpoint)
        #expect(error.code == .wrongFamily)
        #expect(error.remedy == .useAs(family: "pump"))
        // Only the request to attach.
        #expect(daemon.heard.state.count == 1)
        await daemon.close()
    }

    @Test func `A daemon that does not answer is given up`() async throws {
        let daemon = try await FakeDaemon([], isMute: true)
        let attachment = DaemonAttachment(
            target: .name("pump"), linkName: "pump", patience: .milliseconds(20), loop: .shared)
        let error = await #expect(throws: DaemonError.self) {
            try await attachment.link(at: [DaemonSocket(path: daemon.socketPath)])
        }
        #expect(error?.code == .noAnswer)
        await daemon.close()
    }

    @Test func `A board that is to be reset is not reached through a daemon`() async throws {
        let daemon = try await FakeDaemon([Self.pump()])
        #expect(try await failure(opening(daemon), "serial:/dev/tty-188-0?reset").code == .busy)
        #expect(daemon.heard.state == [])
        await daemon.close()
    }

    @Test func `If the daemon hangs up during a command, the outcome is unknown`() async throws {
        let daemon = try await FakeDaemon([Self.pump()])
        let link = try await opening(daemon).link(to: Endpoint("bench:tty-188-0"))
        let error = await #expect(throws: SessionError.self) {
            try await PumpFamily.withSession(over: link, clock: ContinuousClock()) { pump in try await pump.turnOn() }
        }
        #expect(error?.code == .linkLost)
        #expect(error?.outcome == .unknown)
        #expect(error?.link?.code == .disconnected)
        await daemon.close()
    }

    @Test func `OFF is sent through the daemon`() async throws {
        let daemon = try await FakeDaemon([Self.pump()])
        let opening = opening(daemon)
        try await SwitchingOff(.pump) { try await opening.link(to: $0, for: .oneCommand) }
            .run(at: Endpoint("bench:tty-188-0"))
        // The request to attach comes first. The empty line ends a line that another program may have begun.
        #expect(daemon.heard.state.prefix(3).suffix(2) == ["", "OFF"])
        await daemon.close()
    }

    @Test func `OFF waits for a device that the daemon is still opening`() async throws {
        var device = Self.pump()
        device.isUp = false
        let daemon = try await FakeDaemon([device])
        let opening = opening(daemon)
        let off = Task {
            try await SwitchingOff(.pump, timeout: .seconds(30)) { try await opening.link(to: $0, for: .oneCommand) }
                .run(at: Endpoint("bench:tty-188-0"))
        }
        _ = try await daemon.heard.wait(for: "two attempts") { $0.count > 1 ? true : nil }
        daemon.devices.update { $0[0].isUp = true }
        try await off.value
        #expect(daemon.heard.state.contains("OFF"))
        await daemon.close()
    }
}
