import DescriptorIO
import DeviceTestKit
import FirmwareSim
import Glibc
import LineProtocol
import StrictJSON
import Testing
import TestSupport
import Transports

@testable import DeviceKit
@testable import Sharing

@Suite("Limits and socket of the control interface", .timeLimit(.minutes(5)))
struct SharingServerLimitTests {
    @Test("A program with too long a line, or one left unfinished, is disconnected")
    func lines() async throws {
        for isLong in [true, false] {
            try await ControlRig.run { rig in
                let client = try await rig.client()
                if isLong {
                    try await client.say(String(repeating: " ", count: ControlConnection.lineLimit + 1))
                } else {
                    try await client.say(#"{"id":1,"do":"devices"}"# + "\n{")
                    #expect(try await client.message()["ok"] == true)
                    await settle()
                    rig.clock.advance(by: ControlConnection.linePatience)
                }
                #expect(try await client.line() == nil)
                #expect(
                    try await rig.dropping()
                        == (isLong ? "the line is too long" : "the client did not complete a line in time"))
                #expect(try await rig.client().ask("devices")["ok"] == true)
            }
        }
    }

    @Test("A line of the maximum length is accepted, and a silent program stays connected")
    func longLine() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            rig.clock.advance(by: .seconds(3600))
            let request = #"{"id":1,"do":"devices"}"#
            let blanks = String(repeating: " ", count: ControlConnection.lineLimit - request.utf8.count)
            #expect(try await client.answer(to: request + blanks)["ok"] == true)
            await settle()
            rig.clock.advance(by: .seconds(3600))
            #expect(try await client.ask("devices")["ok"] == true)
        }
    }

    @Test("A program that does not read is disconnected, and others are not")
    func doesNotRead() async throws {
        try await ControlRig.run { rig in
            let deaf = try await rig.client()
            let client = try await rig.client()
            let line = #"{"id":"\#(String(repeating: "x", count: 16_000))","do":"devices"}"# + "\n"
            // The replies, 3.2 MB in all, are more than the kernel and the server can buffer.
            for _ in 0..<200 where (try? await deaf.say(line)) != nil {}
            #expect(try await rig.dropping() == "the client does not read")
            #expect(try await client.ask("devices")["ok"] == true)
        }
    }

    @Test("A program beyond the client limit is refused until another one leaves")
    func clientLimit() async throws {
        let rig = try ControlRig(limit: 1)
        try await rig.run {
            let first = try await rig.client()
            var others: [ControlClient] = []
            for _ in 0..<SharedDevice.extraPlaces { others.append(try await rig.client()) }
            let second = try await rig.stranger()
            #expect(try await second.message()["error"]?["code"] == "too_many_clients")
            #expect(try await second.line() == nil)
            let reasons = rig.reports.state.compactMap {
                if case .turnedAway(_, let reason) = $0 { reason } else { nil }
            }
            #expect(reasons == ["there are \(1 + others.count) clients already"])
            await first.channel.close()
            // The first program's place is free once the server has noticed that it has left.
            var (third, greeting) = (second, JSONValue.null)
            for _ in 0..<1000 where greeting["event"] != "hello" {
                third = try await rig.stranger()
                greeting = try await third.message()
            }
            #expect(try await third.ask("devices")["ok"] == true)
        }
    }

    @Test("A program beyond the client limit may send OFF and queries for a short time")
    func extraPlace() async throws {
        let rig = try ControlRig(limit: 1)
        try await rig.run {
            try await rig.untilUp()
            let first = try await rig.client()
            #expect(try await first.ask("devices")["ok"] == true)
            let second = try await rig.client()
            func command(_ name: String) async throws -> JSONValue {
                try await second.send(.object(["id": 1, "do": "command", "device": "pump", "name": .text(name)]))
                return try await second.message()
            }
            #expect(try await command("on")["error"]?["code"] == "too_many_clients")
            let press: [String: JSONValue] = ["device": "pump", "verb": "press"]
            #expect(try await second.ask("simulate", press)["error"]?["code"] == "too_many_clients")
            #expect(try await command("off")["ok"] == true)
            #expect(try await command("status")["ok"] == true)
            rig.clock.advance(by: SharedDevice.patience)
            #expect(try await second.message()["error"]?["code"] == "too_many_clients")
            #expect(try await second.line() == nil)
            #expect(try await first.ask("devices")["ok"] == true)
        }
    }

    @Test("A program beyond the client limit is disconnected if the device that it waits for is away in the end")
    func extraWait() async throws {
        let rig = try ControlRig(.whileUsed(idle: .seconds(60)), isPlugged: false, limit: 0)
        try await rig.run {
            let client = try await rig.client()
            try await client.send(.object(["id": 1, "do": "attach", "device": "pump"]))
            await settle()
            rig.clock.advance(by: SharedDevice.patience)
            await settle()
            rig.clock.advance(by: DeviceWatch.openingPatience - SharedDevice.patience)
            #expect(try await client.message()["error"]?["code"] == "device_away")
            #expect(try await rig.dropping() == "there are too many clients")
            #expect(try await client.message()["error"]?["code"] == "too_many_clients")
            #expect(try await client.line() == nil)
        }
    }

    @Test("An attached program beyond the client limit may send OFF but not ON")
    func extraAttachment() async throws {
        let rig = try ControlRig(limit: 0)
        try await rig.run {
            try await rig.untilUp()
            let client = try await rig.client()
            #expect(try await client.ask("attach", ["device": "pump"])["ok"] == true)
            try await client.say("OFF\n")
            #expect(try await client.line() == "OK")
            #expect(try await client.line() == "PUMP:OFF")
            try await client.say("ON\n")
            #expect(try await client.line()?.contains("too many") == true)
            #expect(try await client.line() == nil)
        }
    }

    @Test("A program that shuts down its sending side is answered and then disconnected")
    func halfClosed() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            try await client.send(.object(["id": 1, "do": "command", "device": "pump", "name": "status"]))
            _ = try await client.channel.withDescriptor { shutdown($0, CInt(SHUT_WR)) }
            #expect(try await client.message()["ok"] == true)
            #expect(try await client.line() == nil)
        }
    }

    @Test("A reply beyond the message limit is refused")
    func longReply() {
        let reply = ControlReply()
        reply.append([UInt8](repeating: 0x41, count: ControlReply.limit))
        #expect(reply.bytes?.count == ControlReply.limit)
        reply.append([0x41])
        #expect(reply.bytes == nil)
        reply.append([])
        #expect(reply.bytes == nil)
    }

    @Test("Device lists larger than the output limit are delivered")
    func manyDevices() async throws {
        let endpoint = try Endpoint("tcp:nowhere:1")
        let row = try #require(SharedFamily.row(of: .pump))
        let devices = (0..<3000).map { number in
            let settings = SharedDeviceSettings(name: "pump-\(number)", endpoint: endpoint, family: .pump)
            return SharedDevice(
                settings, row, open: { _ in throw LinkError(.notFound, name: "pump", activity: "open") })
        }
        let folder = TemporaryFolder()
        // The clock stands still: a busy machine may read slowly, and no time-out of the server must expire.
        let server = SharingServer(devices, at: folder.path("socket"), clock: ManualClock())
        try await server.open()
        let channel = try await DescriptorChannel.connect(
            to: .unix(path: folder.path("socket")), deadline: .now + patience)
        // All requests are sent before the first reply is read, so that the second reply finds the first one waiting.
        for id in 1...3 { try await channel.write(Array("{\"id\":\(id),\"do\":\"devices\"}\n".utf8)) }
        // The first line is the greeting.
        var (received, lines) = (ReceivedText(), [String]())
        while lines.count < 4, let bytes = try await channel.read() {
            received.bytes += bytes
            while let line = received.takeLine() { lines.append(line) }
        }
        let answers = try lines.dropFirst().map { try JSONValue(parsing: $0) }
        #expect(answers.map { $0["id"]?.integer } == [1, 2, 3])
        for answer in answers { #expect(answer["devices"]?.elements?.count == devices.count) }
        await channel.close()
        await server.close()
    }

    // MARK: The socket

    @Test("The socket has mode 0600, or 0660 for a group, and replaces only a dead socket")
    func socket() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("socket")
        let dead = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(dead, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        Glibc.close(dead)

        let server = SharingServer([], at: path)
        try await server.open()
        #expect(Self.mode(of: path) == 0o600)
        await #expect(throws: DescriptorError.self) { try await SharingServer([], at: path).open() }
        await server.close()
        #expect(access(path, F_OK) != 0)

        let open = SharingServer([], at: path, group: getgid())
        try await open.open()
        #expect(Self.mode(of: path) == 0o660)
        await open.close()
    }

    private static func mode(of path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
}
