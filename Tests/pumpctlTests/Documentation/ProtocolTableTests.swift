import DeviceKit
import FirmwareSim
import Foundation
import LineProtocol
import Testing

@Suite("Tables of storm, led, peer and rescue in docs/protocols.md")
struct ProtocolTableTests {
    @Test("The storm sensor's command and lines match the library and the simulator")
    func storm() throws {
        let page = try ProtocolPage()
        let asked = try page.rows(below: "Storm sensor", of: "the host sends")
        let told = try page.spans(below: "Storm sensor", of: "the device sends unasked").joined()
        let replies = asked.flatMap { $0["reply"]?.spans ?? [] }
        #expect(asked.map { $0["the host sends"]?.spans ?? [] } == Family.storm.commands.map { [$0.line] })
        #expect(
            Set(replies + told) == Set(Family.storm.events.map { $0.line.trimmingCharacters(in: .whitespaces) + " …" }))
        var sensor = StormFirmware(options: StormFirmwareOptions(rows: 1))
        #expect(sensor.answer(to: "GET_LOG", at: .zero).map { replies.first?.fits($0) } == [true])
        sensor.measureNow(at: .seconds(3))
        let live = sensor.lines(until: .seconds(4))
        #expect(live.map { told.first?.fits($0) } == [true])
        let row = try #require(try page.rule("storm-6").spans.first)
        #expect(live.allSatisfy { row.fits(String($0.dropFirst("LIVE LOG: ".count))) })
    }

    @Test("The LED board's commands match the library, and the simulator answers accordingly")
    func led() throws {
        let rows = try ProtocolPage().rows(below: "LED board", of: "command")
        let commands = rows.compactMap { $0["command"]?.spans.first }
        #expect(Set(commands) == Set(Family.led.commands.map(\.line)) && commands.count == Family.led.commands.count)
        for row in rows {
            let (command, reply) = (row["command"]?.spans.first ?? "", row["reply"] ?? "")
            for isMute in [false, true] {
                var board = LEDFirmware(answersSets: !isMute)
                let answer = board.answer(to: command, at: .zero)
                let isAnswered = !isMute || !reply.hasSuffix("or none")
                #expect(answer.count == (isAnswered ? 1 : 0), "\(command): \(answer)")
                #expect(answer.allSatisfy { reply.spans.first?.fits($0) == true }, "\(command): \(answer)")
            }
        }
    }

    @Test("A central's messages match the library, and the simulated peer answers accordingly")
    func central() throws {
        let rows = try ProtocolPage().rows(below: "What the central sends", of: "message")
        let messages = rows.flatMap { $0["message"]?.spans ?? [] }
        let known = [PeerCommand.hello, .toggle(true), .toggle(false), .getImage].map(\.text)
        for command in known { #expect(messages.contains(command), "\(command)") }
        for command in Family.peer.commands where !command.line.hasPrefix("{") {
            #expect(messages.contains(command.line))
        }
        for row in rows {
            let messages = row["message"]?.spans ?? []
            for message in messages.isEmpty ? ["a text"] : messages {
                for acknowledges in [false, true] {
                    var peer = PeerFirmware(
                        options: PeerFirmwareOptions(imageByteCount: 1000, acknowledges: acknowledges))
                    let text = message.replacing("<time>", with: "2026-01-31T16:04:05Z")
                    let answer = peer.answer(to: text, at: .zero)
                    let reply = row["reply"] ?? ""
                    let isSilent = reply == "none" || reply.hasSuffix("or none") && !acknowledges
                    #expect(answer.isEmpty == isSilent, "\(message): \(answer)")
                    #expect(
                        answer.prefix(1).allSatisfy { reply.spans.first?.fits($0) == true }, "\(message): \(answer)")
                }
            }
        }
    }

    @Test("A peer's messages match the library and the simulator")
    func peer() throws {
        let page = try ProtocolPage()
        let told = try page.spans(below: "What the peer sends", of: "message").compactMap(\.first)
        for event in Family.peer.events { #expect(told.contains { $0.hasPrefix(event.line) }, "\(event.line)") }
        let reasons = try page.spans(below: "What the peer sends", of: "reason").joined()
        #expect(Set(reasons) == Set(Family.peer.errors.map(\.code)))
        let faults = try page.spans(below: "What the peer sends", of: "fault").joined()
        #expect(Set(faults) == Set(PeerImageError.Code.allCases.map(\.rawValue)))
        // One fault of the simulator has no message: `stalls` is an image whose data stops.
        #expect(
            Set(reasons).union(faults).union(["stalls"]) == Set(PeerFirmwareOptions.ImageFault.allCases.map(\.rawValue))
        )
        var said: [String] = []
        for reason in [nil] + reasons.map(PeerFirmwareOptions.ImageFault.init) {
            var peer = PeerFirmware(options: PeerFirmwareOptions(imageByteCount: 1000, imageFault: reason))
            peer.hostCame(at: .zero)
            said += peer.answer(to: "GET", at: .zero)
        }
        // All lines that are not in the table are base64 image data, in pieces of at most 180 characters (peer-17).
        let others = said.filter { line in !told.contains { $0.fits(line) } }
        #expect(!others.isEmpty && others.allSatisfy { $0.count <= 180 && Data(base64Encoded: $0) != nil }, "\(others)")
        for pattern in told where pattern.contains(where: \.isUppercase) {
            #expect(said.contains { pattern.fits($0) }, "\(pattern)")
        }
    }

    @Test("Members of a rescue message and their values match the library and the simulator")
    func rescue() throws {
        let page = try ProtocolPage()
        let rows = try page.rows(below: "Rescue app", of: "member")
        let members = rows.compactMap { $0["member"]?.spans.first }
        let example = try #require(page.page.blocks.first { $0.kind == "json" }).lines.joined()
        let message = try RescueMessage(json: Array(example.utf8))
        let stock = PhoneStock(seed: 1).message(0)
        for json in [Data(example.utf8), Data(message.json), Data(stock.json)] {
            let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
            #expect(Set(object.keys) == Set(members))
        }
        func words(_ member: String) -> [String] { rows.first { $0["member"] == "`\(member)`" }?["value"]?.spans ?? [] }
        #expect(words("status") == RescueStatus.allCases.map(\.rawValue))
        #expect(words("category") == RescueCategory.known.map(\.rawValue))
        for category in words("category") {
            var message = stock
            message.category = category
            #expect(RescueFirmware.objection(to: message.json, isPacket: false) == nil, "\(category)")
        }
    }
}
