import FirmwareSim
import LineProtocol
import Testing
import Verification

@Suite("Rules in docs/protocols.md")
struct ProtocolRuleTests {
    /// The checks of `pumpctl verify`, and the rule that each cites.
    private static var cited: [(check: String, rule: String)] {
        FamilyVerification.all.flatMap { $0.checks.map { ($0.id, $0.rule) } }
            + HostVerification.all.flatMap { row in
                row.devices.flatMap { device in
                    device.checks.map { (row.id(of: $0, with: device), row.rule(of: $0)) }
                }
            }
    }

    @Test("Each check cites an existing rule of its family")
    func citations() throws {
        let marks = Set(try ProtocolPage().page.marks)
        #expect(Self.cited.count > 150)
        for (check, rule) in Self.cited {
            let link = try #require(
                rule.firstMatch(of: /^protocols\.md#(([a-z]+)-[1-9][0-9]*): \S/), "\(check): \(rule)")
            #expect(marks.contains(String(link.1)), "\(check): \(rule)")
            #expect(check.hasPrefix(link.2 + "."), "\(check): \(rule)")
        }
    }

    @Test("Rules are numbered without gaps, and each number matches its anchor")
    func numbers() throws {
        let page = try ProtocolPage().page
        let shown = page.prose.flatMap { line in
            line.matches(of: #/<a id="([^"]+)"></a>(?:\*\*)?([a-z]+-[0-9]+)(?:\*\*)? /#).map {
                (String($0.1), String($0.2))
            }
        }
        #expect(shown.map(\.0) == page.marks)
        #expect(shown.map(\.1) == page.marks)
        for family in FamilyVerification.all.map(\.family) {
            let rules = page.marks.filter { $0.hasPrefix(family + "-") }
            #expect(rules.count > 5 && Set(rules) == Set((1...rules.count).map { "\(family)-\($0)" }))
            #expect(Set(rules).count == rules.count)
        }
        #expect(page.marks.allSatisfy { mark in FamilyVerification.all.contains { mark.hasPrefix($0.family + "-") } })
    }

    @Test("Times, speeds and lengths in the rules match the library and the simulators")
    func amounts() throws {
        let page = try ProtocolPage()
        func milliseconds(_ time: Duration) -> String { "\(time / .milliseconds(1))".replacing(".0", with: "") + " ms" }
        let turn = PumpFirmware.pauseTime + PumpFirmware.workTime + PumpFirmware.blinkTime
        let characters = "7,000,000"
        #expect(characters.replacing(",", with: "") == "\(PeerDecoder.characterLimit)")
        let bytes = "5,250,000"
        #expect(bytes.replacing(",", with: "") == "\(PeerFirmwareOptions.largestImage)")
        for (rule, amount) in [
            ("pump-4", "\(PumpFirmware.setupTime / .seconds(1)) s"), ("pump-17", "PWM \(PumpSpeed.initial.pwm), "),
            ("pump-17", "\(PumpSpeed.initial.percent) %"), ("pump-26", "\(PumpSpeed(pwm: 200)?.percent ?? 0) %"),
            ("pump-43", milliseconds(PumpFirmware.pauseTime)), ("pump-43", milliseconds(PumpFirmware.workTime)),
            ("pump-44", milliseconds(PumpFirmware.blinkTime)), ("pump-44", milliseconds(turn)),
            ("peer-13", "\(PeerText.shownCharacters) characters"), ("peer-23", characters), ("peer-23", bytes),
        ] {
            #expect(try page.rule(rule).contains(" " + amount), "\(rule): \(amount)")
        }
        let longest = Array(repeating: UInt8(ascii: "X"), count: 63)
        #expect(PumpFirmware.objection(to: longest, isPacket: false) == "is not a command")
        #expect(PumpFirmware.objection(to: longest + [0], isPacket: false) == "is longer than 63 bytes")
        #expect(try page.rule("pump-10").contains("at most 63 bytes"))
    }
}
