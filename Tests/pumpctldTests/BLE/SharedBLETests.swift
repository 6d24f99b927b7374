import DescriptorIO
import FakeBlueZ
import Glibc
import TestSupport
import Testing

@Suite("pumpctld with a pump on BLE", .timeLimit(.minutes(5)))
struct SharedBLETests {
    @Test("Every share accepts all pump commands, over one link")
    func everyShare() async throws {
        let pump = try await PumpBehindBLE()
        let daemon = try await pump.startDaemon()
        let shares = [
            "unix:\(pump.socketPath)", pump.terminalPath, "tcp:\(pump.tcp.host):\(pump.tcp.port)", "shared:pump",
            pump.endpoint,
        ]
        // The first program connects while the link is closed, and waits until pumpctld has opened it.
        for endpoint in shares {
            let status = try await pump.run(endpoint, "status")
            #expect(status.status == 0, "\(endpoint): \(status)")
            #expect(status.output.hasPrefix("pump   off\n"), "\(status)")
            let on = try await pump.run(endpoint, "on")
            #expect(on.output == "pump on at 70 %\n", "\(on)")
            #expect(await pump.isOn())
            let speed = try await pump.run(endpoint, "speed", "200")
            #expect(speed.output == "speed 200 (78 %)\n", "\(speed)")
            let off = try await pump.run(endpoint, "off")
            #expect(off.output == "pump off\n", "\(off)")
            #expect(await !pump.isOn())
        }
        #expect(await pump.isConnected())
        daemon.send(signal: SIGTERM)
        let ending = try await daemon.ending()
        #expect(ending.status == 0)
        let openings = ending.errors.split(separator: "\n").count { $0.contains("the link is open") }
        #expect(openings == 1, "\(ending.errors)")
        await pump.fake.stop()
    }

    @Test("A monitor shows the effect of another program's command, and a lost link is announced to clients")
    func monitor() async throws {
        let pump = try await PumpBehindBLE()
        let daemon = try await pump.startDaemon()
        let monitor = try await pump.start(["--port", "shared:pump", "monitor", "--json"])
        try await monitor.output.text(upTo: #""state":"off""#)
        #expect(try await pump.run(pump.endpoint, "on").status == 0)
        try await monitor.output.text(upTo: #""state":"on""#)
        let client = try await ShareClient(at: .tcp(host: pump.tcp.host, port: pump.tcp.port))
        try await client.ask("SPEED:100", for: "SPEED:100\r\n")
        try await pump.fake.restart()
        try await client.received.text(upTo: "[WARNING] the device is away\r\n")
        try await client.received.text(upTo: "[WARNING] the device is back\r\n")
        try await client.ask("STATUS", for: "STATUS:{State:ON")
        #expect(await pump.isOn())
        monitor.send(signal: SIGINT)
        try await monitor.ending()
        await client.channel.close()
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        await pump.fake.stop()
    }

    @Test("The link closes when the last client leaves, so that a phone can connect, and reopens for the next client")
    func idle() async throws {
        let pump = try await PumpBehindBLE()
        let daemon = try await pump.startDaemon(idle: "0s")
        for _ in 0..<2 {
            let client = try await ShareClient(socket: pump.socketPath)
            try await client.ask("STATUS", for: "STATUS:{State:OFF")
            let other = try await ShareClient(terminal: pump.terminalPath)
            await client.channel.close()
            try await other.ask("STATUS", for: "STATUS:{State:OFF")
            #expect(await pump.isConnected())
            await other.channel.close()
            try await pump.module.radio.untilUnlinked()
        }
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        await pump.fake.stop()
    }
}
