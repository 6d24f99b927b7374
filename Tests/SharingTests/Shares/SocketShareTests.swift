import DescriptorIO
import DeviceKit
import DeviceTestKit
import FirmwareSim
import Glibc
import LineProtocol
import TestSupport
import Testing

@testable import Sharing

@Suite("Devices shared at a socket", .timeLimit(.minutes(5)))
struct SocketShareTests {
    private static let status = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}"

    @Test("A client that does not read is disconnected, and others are answered")
    func doesNotRead() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let (deaf, other) = (try await pump.client(), try await pump.client())
            // The replies are more than the kernel and the share can buffer.
            try await deaf.say(String(repeating: "STATUS\n", count: 8000))
            while !pump.reports.state.contains(where: Self.isDropped) {
                #expect(try await other.ask("TEMP").count == 1)
            }
            #expect(
                pump.reports.state.contains {
                    if case .dropped(_, "the client does not read") = $0 { true } else { false }
                })
            #expect(try await other.ask("OFF", for: 2) == ["OK", "PUMP:OFF"])
        }
    }

    private static func isDropped(_ event: SharingReport.Event) -> Bool {
        if case .dropped = event { true } else { false }
    }

    @Test("A client with a line longer than the limit is disconnected, and the next is served")
    func longLine() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let client = try await pump.client()
            try await client.say(String(repeating: "X", count: SharedDevice.lineLimit + 1))
            #expect(try await client.line() == nil)
            #expect(
                pump.reports.state.contains { if case .dropped(_, "the line is too long") = $0 { true } else { false } }
            )
            let next = try await pump.client()
            #expect(try await next.ask("STATUS") == [Self.status])
        }
    }

    @Test("The longest line fits into an empty queue, and no other line behind it")
    func longestLine() async throws {
        let (channel, other) = try DescriptorChannel.pair()
        let framer = ClientFramer(.lines, lineLimit: SharedDevice.lineLimit)
        let client = LineClient(ClientID(number: 1), "client", .connection, channel, framer)
        func enqueue(_ count: Int) -> Bool {
            let line = ClientLine([UInt8](repeating: UInt8(ascii: "X"), count: count), .change)
            return client.enqueue(LineClient.WaitingLine(line: line, stopsBefore: 0))
        }
        #expect(enqueue(SharedDevice.lineLimit))
        #expect(!enqueue(0))
        await client.close()
        await other.close()
    }

    /// The notice to a client beyond the limit, before the share hangs up on it.
    private static let full = "[WARNING] too many programs have the device"

    @Test("A client beyond the limit may send OFF and queries for a short time")
    func limit() async throws {
        let pump = try SharedPump(clientLimit: 2)
        try await pump.run {
            try await pump.untilUp()
            let (first, second) = (try await pump.client(), try await pump.client())
            #expect(try await first.ask("ON", for: 2) == ["OK", "PUMP:ON"])
            #expect(try await second.ask("TEMP").count == 1)
            let (third, fourth) = (try await pump.client(), try await pump.client())
            #expect(try await third.ask("SPEED:10") == [Self.full])
            #expect(try await third.line() == nil)
            try await fourth.say("SPEED:10\nOFF\n")
            #expect(try await fourth.line() == "OK")
            #expect(try await fourth.line() == "PUMP:OFF")
            #expect(try await fourth.ask("STATUS") == [Self.status])
            pump.clock.advance(by: SharedDevice.patience)
            #expect(try await fourth.line() == Self.full)
            #expect(try await fourth.line() == nil)
            #expect(try await second.ask("STATUS") == [Self.status])
            await first.leave()
            try await pump.reports.wait(for: "its leaving") {
                $0.contains { if case .left = $0 { true } else { false } } ? () : nil
            }
            await settle()
            #expect(try await pump.client().ask("STATUS") == [Self.status])
        }
    }

    @Test("A client beyond the limit and the extra places is refused with a warning")
    func turnedAway() async throws {
        let pump = try SharedPump(clientLimit: 1)
        try await pump.run {
            try await pump.untilUp()
            var clients: [LineClientEnd] = []
            for _ in 0...SharedDevice.extraPlaces {
                clients.append(try await pump.client())
                #expect(try await clients[clients.count - 1].ask("TEMP").count == 1)
            }
            let last = try await pump.client()
            #expect(try await last.line() == Self.full)
            #expect(try await last.line() == nil)
            let reasons = pump.reports.state.compactMap {
                if case .turnedAway(_, let reason) = $0 { reason } else { nil }
            }
            #expect(reasons == ["there are \(clients.count) clients already"])
        }
    }

    @Test(
        "Lines of a foreign protocol are not sent to the device, however they are fragmented",
        arguments: [
            "POST / HTTP/1.1\r\nHost: localhost:4000\r\n\r\n\nON\nSPEED:255\n", "\r\nGET /?x=\u{1F} HTTP/1.0\nON\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nON\n", "\u{16}\u{03}\u{01}\nON\n", "SSH-2.0-OpenSSH_9.2p1\r\nON\n",
        ])
    func foreignProtocol(text: String) async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            for length in [text.utf8.count, 5, 1] {
                let client = try await pump.client()
                var rest = Array(text.utf8)[...]
                while !rest.isEmpty {
                    let piece = rest.prefix(length)
                    rest = rest.dropFirst(piece.count)
                    // The share may hang up before everything is sent.
                    try? await client.channel.write(Array(piece))
                }
                #expect(try await client.line() == nil)
            }
            let reasons = pump.reports.state.compactMap { if case .dropped(_, let reason) = $0 { reason } else { nil } }
            #expect(reasons == Array(repeating: LineClient.Offence.foreignProtocol.rawValue, count: 3))
            #expect(!pump.reports.state.contains { if case .sends = $0 { true } else { false } })
            #expect(try await pump.client().ask("STATUS") == [Self.status])
        }
    }

    @Test(
        "Input that begins no foreign protocol is not held back for a line feed",
        arguments: ["r", "AT\r", "GET\r", "G1 X1", "\rST", "PUSH"])
    func ownProtocol(text: String) {
        var first = FirstLine()
        #expect(first.append(Array(text.utf8)) == .own(Array(text.utf8)))
    }

    @Test("A half-closed client counts toward the limit until its answer is sent")
    func owed() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.pump, at: "tcp:nowhere:1") {
            link
        } _: { bench in
            let folder = TemporaryFolder()
            let address = SocketAddress.unix(path: folder.path("share"))
            let share = try await SocketShare.open(bench.device, at: address, limit: 2)
            var clients: [LineClientEnd] = []
            for _ in 0..<2 + SharedDevice.extraPlaces {
                let client = LineClientEnd(
                    try await DescriptorChannel.connect(to: address, deadline: .now + patience))
                try await client.say("STATUS\n")
                await client.sayNoMore()
                clients.append(client)
            }
            await settle()
            // The link answers nothing, so all clients still wait for their answers.
            let third = try await DescriptorChannel.connect(to: address, deadline: .now + patience)
            #expect(await LineClientEnd(third).rest() == Array("\(Self.full)\r\n".utf8))
            try await bench.untilReported("that there are too many") {
                if case .turnedAway = $0 { true } else { false }
            }
            for client in clients { await client.leave() }
            await share.close()
        }
    }

    @Test("The socket has mode 0600, replaces a dead one, and is removed at the end")
    func path() async throws {
        let pump = try SharedPump()
        // A killed program leaves its socket behind.
        let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(pump.path.utf8)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        close(listener)
        try await pump.run {
            var status = stat()
            #expect(lstat(pump.path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            await #expect(throws: DescriptorError.self) {
                try await SocketShare.open(pump.device, at: .unix(path: pump.path))
            }
        }
        #expect(access(pump.path, F_OK) != 0)
    }

    @Test("Clients that connect and leave leak no descriptors")
    func comingAndGoing() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let first = try await pump.client()
            _ = try await first.ask("TEMP")
            let before = Self.descriptorCount
            let count = Seeds.amount(3_000, soak: 10_000)
            for number in 0..<count {
                let client = try await pump.client()
                if number.isMultiple(of: 10) { #expect(try await client.ask("TEMP").count == 1) }
                await client.leave()
            }
            try await pump.reports.wait(for: "all to have left") { events in
                events.count { if case .left = $0 { true } else { false } } == count ? () : nil
            }
            await settle()
            // Other tests open some descriptors at the same time, but fewer than one a client.
            #expect(Self.descriptorCount < before + 1000)
        }
    }

    private static var descriptorCount: Int {
        guard let folder = opendir("/proc/self/fd") else { return -1 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }
}
