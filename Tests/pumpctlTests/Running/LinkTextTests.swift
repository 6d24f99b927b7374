import DeviceKit
import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@testable import pumpctl

@Suite("Messages on links")
struct LinkTextTests {
    @Test("A restart is reported with its cause, and a weak supply with a hint")
    func restart() throws {
        let weak = try #require(ESP32Reset(line: Array("rst:0xf (RTCWDT_BROWN_OUT_RESET)".utf8)))
        let text = "pumpctl: scripted: the board has restarted: RTCWDT_BROWN_OUT_RESET"
        let hint = "\n  hint: give the board a stronger supply"
        #expect(LinkOpening.Report.discovery(.restart(weak)).text(of: "scripted") == text + hint)
        let nameless = try #require(ESP32Reset(line: Array("rst:0x1".utf8)))
        let short = "pumpctl: scripted: the board has restarted"
        #expect(LinkOpening.Report.discovery(.restart(nameless)).text(of: "scripted") == short)
        let remark = LinkOpening.Report.discovery(.remark("it is a Telnet server"))
        #expect(remark.text(of: "tcp:a:1") == "pumpctl: warning: tcp:a:1: it is a Telnet server")
    }

    @Test("The name of a link, which may be that of a BLE device, is printed without control characters")
    func name() throws {
        let reset = try #require(ESP32Reset(line: Array("rst:0x1".utf8)))
        let reports: [LinkOpening.Report] = [
            .step(nil), .waiting(nil), .opened, .discovery(.remark("a")), .discovery(.restart(reset)),
        ]
        for report in reports { #expect(report.text(of: "ble:\u{1B}[2J").contains("ble:\\x1b[2J")) }
    }

    @Test("A trace is printable, one line per entry, and begins with the open link")
    func trace() async throws {
        let shown = Watched<[String]>([])
        let bare = ScriptedLink(backlog: ["one\u{1B}\r\ntw"])
        let link = TracedLink(bare) { text in shown.update { $0.append(text) } }
        try await link.send(Array("ON\n".utf8))
        _ = try await link.receive()
        try await link.confirmConnection()
        await link.forward { _ in }
        await bare.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        #expect(
            shown.state == [
                "* scripted is open", "> ON\\x0a", "< one\\x1b", "* checking the connection",
                "* the link ended: scripted: the device is gone",
            ])
    }
}
