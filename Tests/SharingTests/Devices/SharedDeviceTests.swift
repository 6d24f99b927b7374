import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import Glibc
import LineProtocol
import TestSupport
import Testing
import Transports

@testable import Sharing

@Suite("Shared devices", .timeLimit(.minutes(5)))
struct SharedDeviceTests {
    private static let status = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}"

    @Test("Each client gets the answers to its own lines only")
    func answers() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let (first, second) = (try await pump.client(), try await pump.client())
            #expect(try await first.ask("STATUS") == [Self.status])
            #expect(try await second.ask("speed: 7x") == ["ERROR:PUMP_NOT_RUNNING"])
            #expect(try await second.ask("on", for: 2) == ["OK", "PUMP:ON"])
            #expect(try await second.ask("SPEED:+13", for: 2) == ["OK", "SPEED:13"])
            #expect(try await second.ask("SPEED:300") == ["ERROR:INVALID_SPEED_VALUE"])
            #expect(try await second.ask("FOO") == ["ERROR:UNKNOWN_COMMAND"])
            #expect(try await second.ask("Off", for: 2) == ["OK", "PUMP:OFF"])
            #expect(try await first.ask("TEMP") == ["TEMP:{Water:12.0C,Skin:34.0C}"])
        }
    }

    @Test("Unsolicited lines go to every client, replies only to the requester")
    func unasked() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let (first, second) = (try await pump.client(), try await pump.client())
            // A reply proves that each client has joined.
            #expect(try await first.ask("STATUS") == [Self.status])
            #expect(try await second.ask("STATUS") == [Self.status])
            await pump.host.change { $0.pressButton(at: $1) }
            await pump.host.advance(by: .milliseconds(400))
            #expect(try await first.line() == "MANUAL:ON")
            #expect(try await second.line() == "MANUAL:ON")
            #expect(try await second.ask("OFF", for: 2) == ["OK", "PUMP:OFF"])
            let next = try await first.ask("TEMP")
            #expect(next == ["TEMP:{Water:12.0C,Skin:34.0C}"])
        }
    }

    @Test("Lines to an absent device are refused at once, and not sent later")
    func away() async throws {
        let pump = try SharedPump(isPlugged: false)
        try await pump.run {
            let client = try await pump.client()
            #expect(try await client.ask("ON") == ["ERROR:DEVICE_AWAY"])
            #expect(try await client.ask("OFF") == ["ERROR:DEVICE_AWAY"])
            pump.plug()
            try await pump.untilUp()
            #expect(try await client.ask("STATUS") == [Self.status])
        }
    }

    @Test("Clients stay connected through unpluggings, and are notified")
    func unplugging() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let client = try await pump.client()
            for _ in 0..<3 {
                #expect(try await client.ask("STATUS") == [Self.status])
                await pump.unplug()
                #expect(try await client.line() == "[WARNING] the device is away")
                try await pump.untilDown()
                #expect(try await client.ask("STATUS") == ["ERROR:DEVICE_AWAY"])
                pump.plug()
                try await pump.untilUp()
                #expect(try await client.line() == "[WARNING] the device is back")
            }
        }
    }

    @Test("A link that is lost while its speaker begins counts as not opened")
    func lostAtOnce() async throws {
        let row = try #require(SharedFamily.row(of: .pump))
        let losing = SharedFamily(.pump, wording: row.wording) { link, endpoint, clock, say throws(SessionError) in
            let speaker = try await row.begin(link, endpoint, clock, say)
            say(.lost(LinkError(.disconnected, name: "the pump", activity: "receive")))
            return speaker
        }
        let reports = Watched<[SharingReport.Event]>([])
        let settings = SharedDeviceSettings(
            name: "pump", endpoint: try Endpoint("tcp:nowhere:1"), family: .pump, holding: .always)
        let link = ScriptedLink()
        let device = SharedDevice(settings, losing, clock: ManualClock()) { _ in
            link
        } tell: { report in
            reports.update { $0.append(report.event) }
        }
        let running = Task(executorPreference: device.loop) { await device.run() }
        guard case .notOpened = try await reports.wait(for: "a report", { $0.first }) else {
            Issue.record("\(reports.state)")
            return
        }
        running.cancel()
        await running.value
        #expect(link.closeCount == 1)
        #expect(reports.state.count == 1)
    }

    @Test("A disconnected client's half line is dropped; a half-closed client is answered")
    func leaving() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let rude = try await pump.client()
            try await rude.say("ON")
            await rude.leave()
            let polite = try await pump.client()
            try await polite.say("STATUS\nTEMP\nO")
            await polite.sayNoMore()
            // More lines than come, so that the wait ends with the hang-up.
            let answers = try await polite.lines(9)
            #expect(answers == [Self.status, "TEMP:{Water:12.0C,Skin:34.0C}"])
            let other = try await pump.client()
            #expect(try await other.ask("STATUS") == [Self.status])
        }
    }

    @Test("OFF is sent before all waiting lines, and refuses the earlier changes among them")
    func stop() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let (busy, other) = (try await pump.client(), try await pump.client())
            #expect(try await other.ask("TEMP").count == 1)
            try await busy.say(String(repeating: "ON\n", count: 20) + "OFF\nSTATUS\n")
            let refusals = try await busy.lines(20)
            #expect(refusals == Array(repeating: "ERROR:OVERTAKEN", count: 20))
            let answers = try await busy.lines(3)
            #expect(answers == ["OK", "PUMP:OFF", Self.status])
            let sent = pump.reports.state.compactMap {
                if case .sends(let line, _) = $0 { String(decoding: line, as: UTF8.self) } else { nil }
            }
            #expect(sent == ["TEMP", "OFF", "STATUS"])
            #expect(try await other.ask("STATUS") == [Self.status])
        }
    }

    @Test("Queries sent before OFF are answered after it")
    func questionsBeforeStop() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let client = try await pump.client()
            try await client.say("TEMP\nON\nOFF\nSTATUS\n")
            let temperatures = "TEMP:{Water:12.0C,Skin:34.0C}"
            #expect(try await client.lines(5) == ["ERROR:OVERTAKEN", "OK", "PUMP:OFF", temperatures, Self.status])
            try await client.say(String(repeating: "STATUS\n", count: 200) + "ON\nTEMP\n")
            #expect(try await client.line() == Self.status)
            try await client.say("OFF\nNONSENSE\n")
            var answers: [String] = []
            while let line = try await client.line(), line != "ERROR:UNKNOWN_COMMAND" { answers.append(line) }
            #expect(answers.filter { $0 != Self.status } == ["ERROR:OVERTAKEN", "OK", "PUMP:OFF", temperatures])
        }
    }

    @Test("An on-demand link opens for the first client and closes after the last")
    func holding() async throws {
        let pump = try SharedPump(.whileUsed(idle: .seconds(60)))
        try await pump.run {
            await settle()
            #expect(await !pump.device.isUp)
            let client = try await pump.client()
            try await pump.untilUp()
            #expect(try await client.ask("STATUS") == [Self.status])
            await client.leave()
            try await pump.untilDown()
            #expect(pump.reports.state.contains(.idle))
            let next = try await pump.client()
            try await pump.untilUp()
            #expect(try await next.ask("STATUS") == [Self.status])
        }
    }

    @Test("OFF of another client refuses waiting changes in their turn, and queries are answered")
    func stopByAnother() async throws {
        // The pump answers nothing before OFF, so that the changes wait when OFF comes.
        let hasStopped = Watched(false)
        let link = ScriptedLink { sent in
            if sent == "\nOFF\n" { hasStopped.update { $0 = true } }
            guard hasStopped.state else { return nil }
            return switch sent {
            case "STATUS\n": Self.status + "\r\n"
            case "TEMP\n": "TEMP:{Water:12.0C,Skin:34.0C}\r\n"
            default: "OK\r\nPUMP:\(sent.dropFirst().dropLast())\r\n"
            }
        }
        let pump = try SharedPump(link: link)
        try await pump.run {
            try await pump.untilUp()
            let (busy, other) = (try await pump.client(), try await pump.client())
            try await busy.say("STATUS\nON\nSTATUS\nTEMP\n")
            #expect(await link.nextSent() == "STATUS\n")
            try await other.say("OFF\n")
            while let line = try await other.line(), line != "PUMP:OFF" {}
            #expect(try await busy.lines(3) == [Self.status, "ERROR:OVERTAKEN", Self.status])
            #expect(try await busy.line()?.hasPrefix("TEMP:") == true)
            #expect(Self.sentLines(pump).last == "TEMP")
            #expect(!Self.sentLines(pump).contains("ON"))
            try await other.say("ON\n")
            while let line = try await other.line(), line != "PUMP:ON" {}
        }
    }

    /// The lines sent to the device.
    private static func sentLines(_ pump: SharedPump) -> [String] {
        pump.reports.state.compactMap {
            if case .sends(let line, _) = $0 { String(decoding: line, as: UTF8.self) } else { nil }
        }
    }

    @Test("Lines wait for the link that they open; OFF takes the place of the changes before it")
    func firstLines() async throws {
        let pump = try SharedPump(.whileUsed(idle: .seconds(60)))
        pump.mayOpen.update { $0 = false }
        try await pump.run {
            let (client, other) = (try await pump.client(), try await pump.client())
            try await client.say("ON\nTEMP\n")
            await settle()
            try await other.say("ON\nOFF\nSTATUS\n")
            #expect(try await other.lines(1) == ["ERROR:OVERTAKEN"])
            pump.mayOpen.update { $0 = true }
            #expect(try await other.lines(3) == ["OK", "PUMP:OFF", Self.status])
            #expect(try await client.lines(1) == ["ERROR:OVERTAKEN"])
            #expect(try await client.line()?.hasPrefix("TEMP:") == true)
            #expect(await pump.host.change { pump, _ in !pump.isEnabled })
            #expect(!Self.sentLines(pump).contains("ON"))
        }
    }

    @Test("Lines that wait for a link are refused if it cannot be opened")
    func notOpened() async throws {
        let pump = try SharedPump(.whileUsed(idle: .seconds(60)), isPlugged: false)
        try await pump.run {
            let client = try await pump.client()
            #expect(try await client.ask("ON") == ["ERROR:DEVICE_AWAY"])
            #expect(try await client.ask("OFF") == ["ERROR:DEVICE_AWAY"])
            pump.plug()
            try await pump.untilUp()
            #expect(try await client.ask("STATUS") == [Self.status])
            #expect(Self.sentLines(pump) == ["STATUS"])
        }
    }

    @Test("OFF of a client that left before the link opened is sent, its other lines are not")
    func lastWord() async throws {
        let pump = try SharedPump(.whileUsed(idle: .seconds(60)))
        pump.mayOpen.update { $0 = false }
        _ = await pump.host.change { $0.pressButton(at: $1) }
        await pump.host.advance(by: .milliseconds(200))
        try await pump.run {
            let client = try await pump.client()
            try await client.say("OFF\nTEMP\n")
            await client.leave()
            try await pump.reports.wait(for: "its leaving") {
                $0.contains { if case .left = $0 { true } else { false } } ? () : nil
            }
            #expect(await pump.host.change { pump, _ in pump.isEnabled })
            pump.mayOpen.update { $0 = true }
            try await pump.untilUp()
            let other = try await pump.client()
            #expect(try await other.ask("STATUS") == [Self.status])
            #expect(Self.sentLines(pump) == ["OFF", "STATUS"])
        }
    }

    @Test("OFF of a killed client is sent, even if its death is found out on writing to it")
    func killed() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.pump, at: "tcp:nowhere:1") {
            link
        } _: { bench in
            var ends: [CInt] = [-1, -1]
            try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
            await bench.device.join(DescriptorChannel(taking: ends[1], kind: .socket), "client", .connection)
            // All this happens in one turn of the loop, so the loop writes to the client before it reads OFF.
            let near = ends[0]
            await Task(executorPreference: bench.device.loop) {
                write(near, "OFF\n", 4)
                shutdown(near, CInt(SHUT_RDWR))
                close(near)
                await link.deliver("MANUAL:ON\r\n")
            }.value
            // A line end precedes OFF, because another program may have left a half line at the device.
            #expect(await link.nextSent() == "\nOFF\n")
        }
    }

    /// Connects a client whose input may come from several users, like that of a pseudo-terminal.
    private static func terminal(of pump: SharedPump) async throws -> LineClientEnd {
        let (ours, theirs) = try DescriptorChannel.pair()
        await pump.device.join(ours, "/dev/pts/0", .terminal)
        return LineClientEnd(theirs)
    }

    @Test("OFF is recognised on a pseudo-terminal after another user's half line")
    func interrupted() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let users = try await Self.terminal(of: pump)
            #expect(try await users.ask("ON", for: 2) == ["OK", "PUMP:ON"])
            try await users.say("SPEED:1")
            await settle()
            #expect(try await users.ask("OFF", for: 2) == ["OK", "PUMP:OFF"])
            // Input other than OFF continues a begun line.
            try await users.say("SPE")
            await settle()
            #expect(try await users.ask("ED:1") == ["ERROR:PUMP_NOT_RUNNING"])
        }
    }

    @Test("OFF is recognised after an overlong line")
    func behindLongLine() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let users = try await Self.terminal(of: pump)
            #expect(try await users.ask("ON", for: 2) == ["OK", "PUMP:ON"])
            try await users.say(String(repeating: "X", count: SharedDevice.lineLimit + 1) + "\nOFF\n")
            #expect(try await users.lines(2) == ["OK", "PUMP:OFF"])
        }
    }

    @Test("Queries of the client that just sent OFF go before those of other clients")
    func questionBehindStop() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.pump, at: "tcp:nowhere:1") {
            link
        } _: { bench in
            var clients: [LineClientEnd] = []
            for _ in 0..<4 { clients.append(try await bench.client()) }
            try await clients[0].say("STATUS\n")
            #expect(await link.nextSent() == "STATUS\n")
            await link.deliver("STATUS:{State:OFF}\r\n")
            #expect(try await clients[0].line() == "STATUS:{State:OFF}")
            try await clients[0].say("OFF\n")
            #expect(await link.nextSent() == "\nOFF\n")
            await link.deliver("OK\r\nPUMP:OFF\r\n")
            // After an acknowledged OFF, the session queries TEMP and STATUS to make sure that the device is off.
            #expect(await link.nextSent() == "TEMP\n")
            await link.deliver("TEMP:34.5\r\n")
            #expect(await link.nextSent() == "STATUS\n")
            await link.deliver("STATUS:{State:OFF}\r\n")
            #expect(try await clients[0].lines(2) == ["OK", "PUMP:OFF"])
            // In the second round, the time in which the queries of the client that sent OFF go first is over.
            for isRecent in [true, false] {
                for client in clients[1...] { try await client.say("TEMP\n") }
                #expect(await link.nextSent() == "TEMP\n")
                await settle()
                try await clients[0].say("STATUS\n")
                await settle()
                for next in isRecent ? ["STATUS\n", "TEMP\n", "TEMP\n"] : ["TEMP\n", "TEMP\n", "STATUS\n"] {
                    await link.deliver("TEMP:34.5\r\nSTATUS:{State:OFF}\r\n")
                    #expect(await link.nextSent() == next)
                }
                await link.deliver("TEMP:34.5\r\nSTATUS:{State:OFF}\r\n")
                for client in clients[1...] {
                    while let line = try await client.line(), !line.hasPrefix("TEMP:") {}
                }
                await settle()
                bench.clock.advance(by: SharedDevice.stopTime)
            }
        }
    }

    @Test("A client has a limited number of OFFs in flight")
    func manyStops() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.pump, at: "tcp:nowhere:1") {
            link
        } _: { bench in
            let client = try await bench.client()
            try await client.say(String(repeating: "OFF\n", count: 100))
            #expect(await link.nextSent() == "\nOFF\n")
            let counts = await bench.device.stopCounts
            #expect(counts == [LineClient.stopLimit])
        }
    }

    @Test("OFFs that arrive while OFF is in progress are sent once, and each is answered")
    func joinedStops() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.pump, at: "tcp:nowhere:1") {
            link
        } _: { bench in
            let client = try await bench.client()
            try await client.say("OFF\nOFF\nOFF\nTEMP\n")
            // The second and the third OFF share one sending and its reply.
            for _ in 0..<2 {
                #expect(await link.nextSent() == "\nOFF\n")
                await link.deliver("OK\r\nPUMP:OFF\r\n")
                #expect(await link.nextSent() == "TEMP\n")
                await link.deliver("TEMP:34.5\r\n")
                #expect(await link.nextSent() == "STATUS\n")
                await link.deliver("STATUS:{State:OFF}\r\n")
            }
            #expect(try await client.lines(6) == ["OK", "PUMP:OFF", "OK", "PUMP:OFF", "OK", "PUMP:OFF"])
            #expect(await link.nextSent() == "TEMP\n")
            await link.deliver("TEMP:34.5\r\n")
            #expect(try await client.line() == "TEMP:34.5")
            #expect(await bench.device.stopCounts == [0])
        }
    }

    @Test("An OFF that shares another OFF's reply still overtakes the changes that came before it")
    func joinedStopOvertakes() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.pump, at: "tcp:nowhere:1") {
            link
        } _: { bench in
            let (client, other) = (try await bench.client(), try await bench.client())
            try await client.say("OFF\nOFF\n")
            #expect(await link.nextSent() == "\nOFF\n")
            try await other.say("ON\n")
            try await bench.untilReported("that ON waits for its turn") { event in
                if case .sends(Array("ON".utf8), _) = event { true } else { false }
            }
            try await client.say("OFF\n")
            while await !bench.device.stopCounts.contains(3) { try Task.checkCancellation() }
            for number in 0..<2 {
                if number > 0 { #expect(await link.nextSent() == "\nOFF\n") }
                await link.deliver("OK\r\nPUMP:OFF\r\n")
                #expect(await link.nextSent() == "TEMP\n")
                await link.deliver("TEMP:34.5\r\n")
                #expect(await link.nextSent() == "STATUS\n")
                await link.deliver("STATUS:{State:OFF}\r\n")
            }
            #expect(try await other.line() == "ERROR:OVERTAKEN")
            #expect(try await client.lines(6).count == 6)
            try await client.say("TEMP\n")
            #expect(await link.nextSent() == "TEMP\n")
            await link.deliver("TEMP:34.5\r\n")
            #expect(try await client.line() == "TEMP:34.5")
        }
    }

    @Test("Each line of a client is read once")
    func readOnce() async throws {
        let reads = Watched([String]())
        let pump = SharedFamily.pump
        let counting = SharedFamily(
            .pump,
            read: { bytes in
                let line = pump.read(bytes)
                reads.update { $0.append(line.text) }
                return line
            }, wording: pump.wording, begin: pump.begin)
        let link = ScriptedLink { $0.hasSuffix("TEMP\n") ? "TEMP:34.5\r\n" : nil }
        try await SharedBench.run(.pump, at: "tcp:nowhere:1", as: counting) {
            link
        } _: { bench in
            let client = try await bench.client()
            try await client.say("TEMP\n")
            #expect(try await client.line() == "TEMP:34.5")
        }
        #expect(reads.state == ["TEMP"])
    }

    @Test("A request of a program that left before the link opened is not sent")
    func programLeft() async throws {
        let pump = try SharedPump(.whileUsed(idle: .seconds(60)))
        pump.mayOpen.update { $0 = false }
        try await pump.run {
            let isThere = Watched(true)
            let asker = Asker(tell: { _, _ in }, isThere: { isThere.state })
            let asking = Task {
                try await pump.device.request(SharedFamily.pump.read(Array("ON".utf8)), by: "program", for: asker) {
                    false
                }
            }
            await settle()
            isThere.update { $0 = false }
            pump.mayOpen.update { $0 = true }
            await #expect(throws: SharingError.self) { try await asking.value }
            #expect(await pump.host.change { pump, _ in !pump.isEnabled })
            #expect(Self.sentLines(pump) == [])
        }
    }

    @Test("A command that was not sent has a notice, unless it was cancelled")
    func notSent() {
        for code in [SessionError.Code.noAnswer, .notUnderstood, .linkLost, .closed] {
            #expect(SharingError.session(SessionError(code, command: "ON", outcome: .notSent)).notice == .notSent)
            #expect(SharingError.session(SessionError(code, command: "ON", outcome: .unknown)).notice == nil)
        }
        #expect(SharingError.session(SessionError(.cancelled, command: "ON", outcome: .notSent)).notice == nil)
        #expect(SharingError.session(SessionError(.overtaken, command: "ON", outcome: .notSent)).notice == .overtaken)
    }

    @Test("OFF of a half-closed client is answered")
    func lastLine() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let client = try await pump.client()
            try await client.say("OFF\n")
            await client.sayNoMore()
            #expect(try await client.lines(3) == ["OK", "PUMP:OFF"])
        }
    }
}

extension SharedDevice {
    /// The number of each client's pending lines that make the device safe.
    fileprivate var stopCounts: [Int] { clients.values.map(\.stopCount) }
}
