import CaptureFormat
import TestSupport
import Testing

@Suite("Family of a replayed capture", .timeLimit(.minutes(5)))
struct ReplayFamilyTests {
    private let folder = TemporaryFolder()

    /// Writes a capture of an LED board that is queried once, with `family` in the header; returns the endpoint of its
    /// replay.
    private func capture(_ family: String) throws -> String {
        let file = try CaptureFile(at: folder.path("capture"), CaptureHeader(program: "test", family: family))
        let contents: [CaptureEvent.Content] = [
            .opened(CarrierFacts(endpoint: "/dev/ttyUSB0", name: "/dev/ttyUSB0")),
            .sent(.init(Array("LED\n".utf8))), .received(.init(Array("LED:1\r\n".utf8))),
        ]
        for content in contents { try file.append(CaptureEvent(at: .zero, link: 1, content)) }
        return "replay:\(file.path)?pace=none"
    }

    @Test("A command for any device uses the family of the capture's header")
    func taken() async throws {
        let port = try capture("led")
        let list = try await Pumpctl.run("--port", port, "verify", "--list")
        #expect(list.output.hasPrefix("led.ask\n"), "\(list)")
        let sent = try await Pumpctl.run("--port", port, "send", "LED", "--quiet", "0.1")
        #expect(sent.status == 0 && sent.output == "LED:1\n", "\(sent)")
        #expect(sent.errors.isEmpty, "\(sent.errors)")
    }

    @Test("A capture can be read from a pipe or a FIFO", arguments: [false, true])
    func pipe(isNamed: Bool) async throws {
        let file = try capture("led").dropFirst("replay:".count).prefix { $0 != "?" }
        let fifo = folder.path("fifo")
        let script =
            isNamed
            ? "mkfifo '\(fifo)'; cat '\(file)' >'\(fifo)' & \"$0\" --port 'replay:\(fifo)?pace=none' \"$@\""
            : "cat '\(file)' | \"$0\" --port 'replay:/dev/stdin?pace=none' \"$@\""
        let sent = try await Pumpctl.start(
            ["send", "LED", "--quiet", "0.1"], program: ["/bin/sh", "-c", script, Executable.pumpctl]
        ).ending()
        #expect(sent.status == 0 && sent.output == "LED:1\n", "\(sent)")
        #expect(sent.errors.isEmpty, "\(sent.errors)")
    }

    @Test("--family overrides the header, with a warning if they differ")
    func named() async throws {
        let port = try capture("led")
        let sent = try await Pumpctl.run("--family", "storm", "--port", port, "send", "LED", "--quiet", "0.1")
        #expect(sent.status == 0 && sent.output == "LED:1\n", "\(sent)")
        #expect(sent.errors.contains("captured with the family led, and played back to a command for storm"))
        let list = try await Pumpctl.run("--family", "storm", "--port", port, "verify", "--list")
        #expect(list.output.hasPrefix("storm."), "\(list)")
    }

    @Test("A command of another family warns, and fails at the first difference")
    func command() async throws {
        let temp = try await Pumpctl.run("--port", try capture("led"), "temp")
        #expect(temp.errors.contains("captured with the family led, and played back to a command for pump"))
        expectFailure(temp, 74, saying: "expected \"LED\\n\"", hint: "")
    }

    @Test("A header without a known family is ignored", arguments: ["", "scale", "?"])
    func unknown(family: String) async throws {
        let port = try capture(family)
        let list = try await Pumpctl.run("--port", port, "verify", "--list")
        #expect(list.output.hasPrefix("pump."), "\(list)")
        let led = try await Pumpctl.run("--port", port, "led", "get")
        #expect(led.status == 0 && led.output == "led on\n" && led.errors.isEmpty, "\(led)")
    }

    @Test("A missing capture is reported as a missing device")
    func missing() async throws {
        let ending = try await Pumpctl.run("--port", "replay:\(folder.path("nothing"))", "send", "STATUS")
        expectFailure(ending, 66, saying: "no such port or device", hint: "")
    }
}
