import DeviceKit
import DeviceTestKit
import FirmwareSim
import LineProtocol
import TestSupport
import Testing

@testable import Sharing

@Suite("Shared devices of no known family", .timeLimit(.minutes(5)))
struct RawRulesTests {
    @Test(
        "Output of the device goes to all clients as it arrives",
        arguments: [
            RulesTable("a line", ["ok\r\n"], ["all: ok\r\n"]),
            RulesTable("a prompt without an end", ["login: "], ["all: login: "]),
            RulesTable("cut anywhere", ["o", "k\n"], ["all: o", "all: k\n"]),
        ])
    func says(table: RulesTable) { #expect(table.run(RawRules()) == table.pieces) }

    @Test("Input of a client is passed on unchanged, also a lone character")
    func passes() async throws {
        let link = ScriptedLink()
        try await SharedBench.run(.raw, at: "tcp:nowhere:1") {
            link
        } _: { bench in
            let client = try await bench.client()
            let other = try await bench.client()
            for text in ["?", "\u{18}", "ON\n", "G1 X1\r\n", "\n", "OFF"] {
                try await client.say(text)
                #expect(await link.nextSent() == text)
            }
            await link.deliver("<Idle>\r\n")
            for end in [client, other] { #expect(try await end.line() == "<Idle>") }
        }
    }

    @Test("A device that is not of its assumed family is reported after two failed answers")
    func assumed() async throws {
        for (answer, isPump) in [("error:2", false), ("TEMP:20.0", true)] {
            let link = ScriptedLink()
            try await SharedBench.run(.pump, at: "tcp:nowhere:1", isFamilyAssumed: true) {
                link
            } _: { bench in
                let client = try await bench.client()
                let notice = SharingReport.Event.notOfFamily(Array("error:2".utf8))
                for count in 1...2 {
                    try await client.say("TEMP\n")
                    if isPump {
                        #expect(await link.nextSent() == "TEMP\n")
                        await link.deliver("\(answer)\r\n")
                        #expect(try await client.line() == answer)
                    } else {
                        try await fail(answer, over: link, bench, count: count)
                    }
                    #expect(bench.reports.state.contains(notice) == (!isPump && count == 2), "one may be noise")
                }
            }
        }
    }
    /// Answers every line by `answer`, which is no reply of a pump, and advances the clock until `count` queries have
    /// failed. A query fails only after it was sent twice.
    private func fail(_ answer: String, over link: ScriptedLink, _ bench: SharedBench, count: Int) async throws {
        for _ in 0..<200 {
            // The second round's query is not even sent, because the TEMP that separates it from stale lines fails.
            let failures = bench.reports.state.count {
                switch $0 {
                case .failed, .notSent: true
                default: false
                }
            }
            if failures == count { return }
            await settle()
            while !link.unreadSent.isEmpty {
                _ = await link.nextSent()
                await link.deliver("\(answer)\r\n")
            }
            bench.clock.advance(by: .milliseconds(500))
        }
        throw NotInTime(what: "failure \(count)", state: "\(bench.reports.state)")
    }
}
