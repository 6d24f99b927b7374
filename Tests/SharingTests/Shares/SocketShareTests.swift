import DescriptorIO
import DeviceKit
import FirmwareSim
import Glibc
import LineProtocol
import TestSupport
import Testing

@testable import Sharing

@Suite("A device shared at a socket", .timeLimit(.minutes(5)))
struct SocketShareTests {
    private static let status = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}"

    @Test("hangs up on a client that does not read, and the others notice nothing")
    func doesNotRead() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let (deaf, other) = (try await pump.client(), try await pump.client())
            try await deaf.say(String(repeating: "STATUS\n", count: 8000))
            while !pump.reports.state.contains(where: Self.isDropped) {
                #expect(try await other.ask("TEMP").count == 1)
            }
            #expect(
                pump.reports.state.contains { if case .dropped(_, "it does not read") = $0 { true } else { false } })
            #expect(try await other.ask("OFF", for: 2) == ["OK", "PUMP:OFF"])
        }
    }

    private static func isDropped(_ event: SharingReport.Event) -> Bool {
        if case .dropped = event { true } else { false }
    }

    @Test("hangs up on a client whose line is longer than any that a device takes")
    func longLine() async throws {
        let pump = try SharedPump()
        try await pump.run {
            try await pump.untilUp()
            let client = try await pump.client()
            try await client.say(String(repeating: "X", count: SharedDevice.lineLimit + 1))
            #expect(try await client.line() == nil)
            #expect(
                pump.reports.state.contains { if case .dropped(_, "its line is too long") = $0 { true } else { false } }
            )
            let next = try await pump.client()
            #expect(try await next.ask("STATUS") == [Self.status])
        }
    }

    @Test("turns away who comes when as many are there as may be")
    func limit() async throws {
        let pump = try SharedPump(clientLimit: 2)
        try await pump.run {
            try await pump.untilUp()
            let (first, second) = (try await pump.client(), try await pump.client())
            #expect(try await first.ask("STATUS") == [Self.status])
            #expect(try await second.ask("STATUS") == [Self.status])
            #expect(try await pump.client().line() == nil)
            await first.leave()
            try await pump.reports.wait(for: "its leaving") {
                $0.contains { if case .left = $0 { true } else { false } } ? () : nil
            }
            await settle()
            #expect(try await pump.client().ask("STATUS") == [Self.status])
        }
    }

    @Test("counts who says nothing more as long as an answer is owed: each has a descriptor")
    func owed() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.pump, at: "tcp:nowhere:1") {
            link
        } _: { bench in
            let folder = TemporaryFolder()
            let address = SocketAddress.unix(path: folder.path("share"))
            let share = try await SocketShare.open(bench.device, at: address, limit: 2)
            var clients: [LineClientEnd] = []
            for _ in 0..<2 {
                let client = LineClientEnd(
                    try await DescriptorChannel.connect(to: address, deadline: .now + patience))
                try await client.say("STATUS\n")
                await client.sayNoMore()
                clients.append(client)
            }
            await settle()
            let third = try await DescriptorChannel.connect(to: address, deadline: .now + patience)
            #expect(await LineClientEnd(third).rest() == [])
            try await bench.untilReported("that there are too many") {
                if case .turnedAway = $0 { true } else { false }
            }
            for client in clients { await client.leave() }
            await share.close()
        }
    }

    @Test("is for this user alone, takes the place of one that nobody listens at, and leaves nothing behind")
    func path() async throws {
        let pump = try SharedPump()
        // What a program leaves that was killed.
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

    @Test("Clients that come and go leave no descriptor behind")
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
            // Other tests open some meanwhile.
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
