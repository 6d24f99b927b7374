import DescriptorIO
import FakeBlueZ
import Glibc
import TestSupport
import Testing

/// Compares the output of programs with the state of the simulated pump. A process is killed or stopped when a certain
/// packet is written to the pump.
@Suite("Crashes and stalls around pumpctld", .timeLimit(.minutes(5)))
struct DeathTests {
    /// Compares the output of an ended `pumpctl off` with the pump's state: only a pump that is off may be reported as
    /// off.
    private static func expectHonest(off ending: ChildProcess.Ending, isOn: Bool, _ name: String) {
        if ending.status == 0 {
            #expect(ending.output == "pump off\n", "\(name): \(ending)")
            #expect(!isOn, "\(name): an acknowledged OFF is not true: \(ending)")
        } else {
            #expect([66, 69, 74, 75].contains(ending.status), "\(name): \(ending)")
            #expect(!ending.output.contains("pump off"), "\(name): \(ending)")
        }
    }

    @Test(
        "After a kill of pumpctld, OFF has no false success, a lost change is unknown, and the pump keeps its state")
    func daemonKilled() async throws {
        let pump = try await PumpBehindBLE()
        var daemon = try await pump.startDaemon()
        for (number, words) in [["on"], ["off"], ["speed", "120"], ["status"], ["off"], ["on"], ["off"], ["off"]]
            .enumerated()
        {
            // The pump is on before each command except `on`.
            let turnsOn = words != ["on"]
            #expect(try await pump.run("shared:pump", turnsOn ? "on" : "off").status == 0)
            let name = "\(number): \(words)"
            let before = pump.received.state.bytes.count
            let process = daemon.processID
            // The kill comes at the first, second or third packet of the command, in turn. Every second time that
            // packet is lost.
            pump.atPacket(1 + number % 3, isDelivered: number.isMultiple(of: 2)) { kill(process, SIGKILL) }
            let program = try await pump.start(["--port", "shared:pump"] + words)
            let ending = try await program.ending()
            // The program may have ended before the packet with the kill was written.
            pump.cancelStrike()
            kill(process, SIGKILL)
            try await daemon.ending()
            await pump.settle()
            let isOn = await pump.isOn()
            if words == ["off"] {
                Self.expectHonest(off: ending, isOn: isOn, name)
            } else if ending.status != 0 {
                #expect(ending.status == 74, "\(name): \(ending)")
                // After a confirmed ON, pumpctl only queries the status: the outcome of ON is known.
                let isQuery = words == ["status"] || words == ["on"] && isOn && ending.errors.contains("at STATUS:")
                if !isQuery { #expect(ending.errors.contains("unknown"), "\(name): \(ending)") }
            }
            let sent = String(decoding: pump.received.state.bytes.dropFirst(before), as: UTF8.self)
            // A new daemon changes nothing. Only ON and OFF contain an O: neither STATUS nor SPEED does.
            daemon = try await pump.startDaemon()
            let status = try await pump.run("shared:pump", "status")
            #expect(status.output.hasPrefix(isOn ? "pump       on\n" : "pump   off\n"), "\(name): \(status)")
            #expect(await pump.isOn() == isOn)
            let more = String(decoding: pump.received.state.bytes.dropFirst(before), as: UTF8.self).dropFirst(
                sent.count)
            #expect(!more.contains("O"), "\(name): \(more)")
            #expect(pump.resets.state == 0)
        }
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        await pump.fake.stop()
    }

    @Test("Clients of a stopped pumpctld get their replies once it continues")
    func daemonStopped() async throws {
        let pump = try await PumpBehindBLE()
        let daemon = try await pump.startDaemon()
        for (number, words) in [["on"], ["off"], ["on"], ["speed", "120"], ["status"], ["off"]].enumerated() {
            let program = try await pump.start(["--port", "shared:pump", "--timeout", "30"] + words)
            let process = daemon.processID
            pump.atPacket(1 + number % 2, isDelivered: true) { kill(process, SIGSTOP) }
            // The daemon is stopped now, unless the program has ended without that packet.
            try await pump.untilStruckOrEnded(program)
            let other = try await ShareClient(at: .tcp(host: pump.tcp.host, port: pump.tcp.port))
            try await other.say("TEMP")
            pump.cancelStrike()
            kill(process, SIGCONT)
            let ending = try await program.ending()
            #expect(ending.status == 0, "\(number) \(words): \(ending)")
            try await other.received.text(upTo: "TEMP:{Water:")
            if words == ["off"] { Self.expectHonest(off: ending, isOn: await pump.isOn(), "\(number)") }
            await other.channel.close()
        }
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        await pump.fake.stop()
    }

    @Test("A killed client leaves other clients undisturbed, and the half line of a client that leaves is not sent")
    func clientKilled() async throws {
        let pump = try await PumpBehindBLE()
        let daemon = try await pump.startDaemon()
        let watcher = try await ShareClient(socket: pump.socketPath)
        try await watcher.ask("STATUS", for: "STATUS:{State:OFF")
        for (number, words) in [
            ["on"], ["off"], ["speed", "120"], ["status"], ["on"], ["off"], ["on"], ["monitor"], ["off"],
        ].enumerated() {
            let program = try await pump.start(
                ["--port", number.isMultiple(of: 2) ? pump.endpoint : "shared:pump"] + words)
            pump.atPacket(1 + number % 3, isDelivered: true) { program.send(signal: SIGKILL) }
            try await pump.untilStruckOrEnded(program)
            program.send(signal: SIGKILL)
            pump.cancelStrike()
            try await program.ending()
            // The unfinished line of a client that leaves is not sent to the pump.
            let raw = try await ShareClient(at: .tcp(host: pump.tcp.host, port: pump.tcp.port))
            try await raw.channel.write(Array("TEMP\nSPEED:7".utf8))
            try await raw.received.text(upTo: "TEMP:{Water:")
            await raw.channel.close()
            try await watcher.ask("WHAT\(number)", for: "ERROR:UNKNOWN_COMMAND\r\n")
            try await watcher.ask("STATUS", for: await pump.isOn() ? "STATUS:{State:ON" : "STATUS:{State:OFF")
        }
        #expect(!pump.received.state.text.contains("SPEED:7"))
        #expect(try await pump.run("shared:pump", "off").output == "pump off\n")
        #expect(await !pump.isOn())
        await watcher.channel.close()
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        await pump.fake.stop()
    }

    @Test(
        "After a restart of bluetoothd a command is done or reported as failed, and OFF works"
    )
    func bluetoothdKilled() async throws {
        let pump = try await PumpBehindBLE()
        let daemon = try await pump.startDaemon()
        for (number, words) in [["on"], ["off"], ["speed", "120"], ["off"]].enumerated() {
            let program = try await pump.start(["--port", "shared:pump"] + words)
            let fake = pump.fake
            let restarted = Watched(false)
            pump.atPacket(1 + number % 2, isDelivered: number.isMultiple(of: 2)) {
                Task {
                    try await fake.restart()
                    restarted.update { $0 = true }
                }
            }
            let ending = try await program.ending()
            pump.strikeNow()
            _ = try await restarted.wait(for: "bluetoothd to be back") { $0 ? true : nil }
            if words == ["off"] {
                Self.expectHonest(off: ending, isOn: await pump.isOn(), "\(number)")
            } else if ending.status != 0 {
                #expect([1, 66, 74].contains(ending.status), "\(number) \(words): \(ending)")
                // Status 66: the device was away before the command, or the query after it, was sent.
                if ending.status == 66 { #expect(ending.errors.contains(" was not sent"), "\(ending)") }
            }
            #expect(try await pump.run("shared:pump", "off").output == "pump off\n")
            #expect(await !pump.isOn())
        }
        daemon.send(signal: SIGTERM)
        #expect(try await daemon.ending().status == 0)
        await pump.fake.stop()
    }
}
