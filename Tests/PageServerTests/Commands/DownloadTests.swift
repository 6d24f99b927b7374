import DescriptorIO
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

@Suite("Logs and images by HTTP", .timeLimit(.minutes(5)))
struct DownloadTests {
    /// Requests a content, and lets `daemon` answer the transfer. Returns everything that the client receives.
    private func download(
        _ content: String, _ daemon: (ScriptedDaemon.Heard) async throws -> Void
    ) async throws -> String {
        var text = ""
        try await PageBench.run { bench in
            let client = try await bench.client()
            try await client.send("GET", "/api/v1/devices/pump/\(content)", token: bench.token)
            let heard = try await bench.daemon.next("transfer")
            #expect(heard.request["content"]?.text == content)
            #expect(heard.request["device"]?.text == "pump")
            try await daemon(heard)
            text = try await client.received.all("the response")
        }
        return text
    }

    private func event(_ json: String, _ heard: ScriptedDaemon.Heard) async throws {
        try await heard.channel.write(Array("\(json)\n".utf8))
    }

    // YWJj and ZA== are "abc" and "d" in base64.
    @Test("A log is sent as it was received, and a trailer has the number of its odd lines")
    func log() async throws {
        let text = try await download("log") { heard in
            try await event(#"{"event":"progress","transfer":0,"bytes":0}"#, heard)
            try await event(#"{"event":"piece","transfer":0,"offset":0,"data":"YWJj"}"#, heard)
            try await event(#"{"event":"piece","transfer":0,"offset":3,"data":"ZA=="}"#, heard)
            try await heard.answer(["bytes": 4, "check": "lines", "lines": 1, "odd_lines": 2])
        }
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.lowercased().contains("\r\ntransfer-encoding: chunked\r\n"))
        #expect(PageClient.content(text) == "abcd")
        #expect(text.hasSuffix("\r\n0\r\nOdd-Lines: 2\r\n\r\n"))
    }

    @Test(
        "Announced-Length is the size that the device has announced; only the end of the response proves it"
    )
    func image() async throws {
        let text = try await download("image") { heard in
            try await event(#"{"event":"progress","transfer":0,"bytes":0,"total":3,"name":"x"}"#, heard)
            try await event(#"{"event":"piece","transfer":0,"offset":0,"data":"YWJj"}"#, heard)
            try await heard.answer(["bytes": 3, "check": "size"])
        }
        #expect(text.contains("\r\nAnnounced-Length: 3\r\n"))
        #expect(text.hasSuffix("\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
    }

    private let failure = object(["code": "gaps", "message": "m", "outcome": "nothing_changed"])

    @Test("The response with a content that breaks off has no last chunk")
    func brokenOff() async throws {
        let text = try await download("log") { heard in
            try await event(#"{"event":"piece","transfer":0,"offset":0,"data":"YWJj"}"#, heard)
            try await heard.answer(["ok": false, "error": failure])
        }
        #expect(text.hasSuffix("\r\n\r\n3\r\nabc\r\n"))
    }

    @Test("A failure before the first piece becomes a response with its code")
    func refused() async throws {
        try await PageBench.run { bench in
            let asking = Task { try await bench.ask("GET", "/api/v1/devices/pump/log") }
            try await bench.daemon.next("transfer").answer(["ok": false, "error": failure])
            let response = try await asking.value
            #expect(response.status == 504)
            #expect(response.code == "gaps")
        }
    }

    @Test("A transfer ends with its client")
    func clientLeaves() async throws {
        try await PageBench.run { bench in
            let client = try await bench.client()
            try await client.send("GET", "/api/v1/devices/pump/log", token: bench.token)
            let heard = try await bench.daemon.next("transfer")
            await client.channel.close()
            try await bench.daemon.untilEnded(heard.channel)
        }
    }
}
