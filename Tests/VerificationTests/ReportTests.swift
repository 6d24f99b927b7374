import Foundation
import FoundationXML
import LineProtocol
import Testing

@testable import Verification

@Suite("Verification reports")
struct ReportTests {
    /// A verdict with text that could break the format of each report, as a device or a rule may contain it.
    private static var verdict: FirmwareVerdict {
        let nasty = Array("<a href=\"x\">&amp;]]>\u{1B}[2J\u{FFFE}\u{202E}# \\ '…".utf8) + [0, 0xFF]
        var verdict = FirmwareVerdict()
        func add(
            _ id: String, _ outcome: CheckResult.Outcome, _ steps: [CheckResult.Step] = [], time: Duration? = nil
        ) {
            verdict.results.append(
                CheckResult(
                    id: id, rule: "protocols.md#pump-1: \"OK\" \\ # <&>", round: 1, outcome: outcome,
                    variants: ["a: b"],
                    steps: steps, time: outcome == .passed ? .microseconds(1_500_400) : time))
        }
        add("pump.one", .passed, [.sent(Array("STATUS\n".utf8)), .did("press")])
        let text = String(decoding: nasty, as: UTF8.self)
        add(
            "pump.two", .failed(expected: "OK\0\u{FFFF}", got: text), [.received(nasty), .sent(nasty)],
            time: .microseconds(1_749_700))
        add("pump.three", .skipped(reason: "needs # a \\ hand & \"more\""))
        for time in 1...100 { verdict.timings.add(.milliseconds(time), to: .replyLatency) }
        return verdict
    }

    private static func text(_ report: some VerificationReport, _ reason: Abandonment? = nil) -> String {
        let verdict = verdict
        return report.beginning(count: 3) + verdict.results.map(report.text).joined() + report.ending(verdict, reason)
    }

    @Test("Abandoned checks are an error in JUnit and TAP")
    func cutOff() {
        let reason = Abandonment(code: "disconnected", message: "the <device> was # unplugged")
        let junit = Self.text(JUnitReport(family: "pump"), reason)
        #expect(XMLParser(data: Data(junit.utf8)).parse())
        #expect(junit.contains("<testsuite name=\"pump\" tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\""))
        #expect(junit.contains("<error type=\"disconnected\" message=\"the &lt;device&gt; was # unplugged\"/>"))
        #expect(Self.text(TAPReport(), reason).hasSuffix("\nBail out! the <device> was \\# unplugged\n"))
        #expect(Self.text(TextReport(), reason) == Self.text(TextReport()))
    }

    @Test("JUnit XML is well-formed for any device output, and has the counts and times")
    func junit() throws {
        let reader = JUnitReader()
        let parser = XMLParser(data: Data(Self.text(JUnitReport(family: "pump")).utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "")")
        #expect(reader.names == ["testsuites", "testsuite", "testcase", "testcase", "failure", "testcase", "skipped"])
        let suite = try #require(reader.attributes["testsuite"])
        #expect(["tests", "failures", "skipped", "time"].map { suite[$0] } == ["3", "1", "1", "3.250"])
        #expect(reader.attributes["skipped"]?["message"] == "needs # a \\ hand & \"more\"")
        let cases = Self.text(JUnitReport(family: "pump")).split(separator: "\n").filter { $0.contains("<testcase") }
        #expect(cases.map { $0.contains("time=") } == [true, true, false])
        #expect(cases[0].contains("time=\"1.500\"") && cases[1].contains("time=\"1.750\""), "\(cases)")
        #expect(reader.text.contains("<a href=\"x\">&amp;]]>"))
    }

    @Test("TAP has a plan, a point for each check, and escaped YAML text")
    func tap() {
        let lines = Self.text(TAPReport()).split(separator: "\n").map(String.init)
        #expect(lines.prefix(2) == ["TAP version 14", "1..3"])
        let points = lines.filter { $0.hasPrefix("ok") || $0.hasPrefix("not ok") }
        #expect(
            points == [
                "ok - pump.one", "not ok - pump.two", "ok - pump.three # SKIP needs \\# a \\\\ hand & \"more\"",
            ])
        #expect(lines.contains("  protocol: \"protocols.md#pump-1: \\\"OK\\\" \\\\ # <&>\""))
        #expect(lines.contains("  expected: \"OK\\U00000000\u{FFFF}\""))
        for line in lines { #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 }) }
        #expect(lines.filter { $0 == "  ---" }.count == lines.filter { $0 == "  ..." }.count)
        #expect(lines.contains("# reply_latency_ms min=1.0 median=51.0 p99=100.0 max=100.0"))
    }

    @Test(
        "A common cause is found despite different times, and is in each report",
        arguments: [
            (["no answer in 1 s", "no answer in 2 s", "no answer in 0.5 s"], "no answer"),
            (["at 1.002 s: ON came early", "at 9.5 s: ON came early", "at 12.000 s: ON came early"], "ON came early"),
            (["OK, ERROR", "OK, ERROR", "OK, ERROR"], "OK, ERROR"),
        ])
    func cause(failures: [String], words: String) {
        var verdict = FirmwareVerdict()
        for got in failures {
            verdict.results.append(CheckResult(id: "pump.x", rule: "", outcome: .failed(expected: "OK", got: got)))
        }
        let cause = "3 of 3 failed checks have the same cause: \(words)"
        #expect(verdict.commonCause == cause)
        #expect(TextReport().ending(verdict, nil).contains("cause \(cause)\n"))
        #expect(TAPReport().ending(verdict, nil).contains("# \(cause)\n"))
        let junit = JUnitReport(family: "pump").ending(verdict, nil)
        #expect(junit.contains("    <system-out>\(cause)</system-out>\n  </testsuite>\n"), "\(junit)")
        #expect(XMLParser(data: Data(junit.utf8)).parse())
    }

    @Test("The text report shows sent and received lines and the expectation")
    func people() {
        let text = Self.text(TextReport())
        #expect(text.contains("ok    pump.one  (a: b)\n"))
        #expect(text.contains("skip  pump.three: needs # a \\ hand & \"more\"\n"))
        #expect(text.contains("FAIL  pump.two\n        protocols.md#pump-1: \"OK\""))
        #expect(text.contains("\n        > <a href="))
        #expect(
            text.hasSuffix("lines > sent to the device, < received from the device\n1 passed, 1 failed, 1 skipped\n"))
        #expect(!text.contains("\u{1B}"))
    }

    @Test("A report explains its transcript columns once")
    func legend() {
        for columns in [TranscriptColumns.ofFirmware, .ofHost] {
            let text = Self.text(TextReport(columns: columns))
            #expect(text.components(separatedBy: columns.legend).count == 2, "\(text)")
            let escaped = columns.legend.replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            let junit = Self.text(JUnitReport(family: "pump", columns: columns))
            #expect(junit.components(separatedBy: escaped).count == 2, "\(junit)")
        }
        #expect(!TextReport().ending(FirmwareVerdict(), nil).contains("lines"))
    }

    private final class JUnitReader: NSObject, XMLParserDelegate {
        var names: [String] = []
        var attributes: [String: [String: String]] = [:]
        var text = ""

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            names.append(name)
            self.attributes[name] = attributes
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
    }
}
