import CaptureFormat
import TestSupport
import Testing

@Suite("Board resets on opening", .timeLimit(.minutes(5)))
struct BoardStartTests {
    private let folder = TemporaryFolder()
    /// The status of the running pump.
    private static let on = "STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"

    /// The replay of a running pump at a port whose opening may have reset the board. The pump replies from the third
    /// query on.
    ///
    /// - Parameter banner: The board's output before the third query; nil for none.
    private func port(saying banner: String? = nil) throws -> String {
        let file = try CaptureFile(at: folder.path("capture"), CaptureHeader(program: "test", family: "pump"))
        var facts = CarrierFacts(endpoint: "/dev/ttyUSB0", name: "/dev/ttyUSB0")
        facts.mayHaveReset = true
        func sent(_ text: String) -> CaptureEvent.Content { .sent(.init(Array(text.utf8))) }
        func received(_ text: String) -> CaptureEvent.Content { .received(.init(Array(text.utf8))) }
        var contents: [CaptureEvent.Content] = [.opened(facts), sent("TEMP\n"), sent("TEMP\n")]
        if let banner { contents.append(received(banner)) }
        contents += [
            sent("TEMP\n"), received("TEMP:34.5\r\n"), sent("TEMP\n"), received("TEMP:34.5\r\n"),
            sent("STATUS\n"), received(Self.on),
        ]
        for content in contents { try file.append(CaptureEvent(at: .zero, link: 1, content)) }
        return "replay:\(file.path)?pace=none"
    }

    @Test("A board that is only silent at first is reported as possibly reset")
    func silent() async throws {
        let ending = try await Pumpctl.run("--port", try port(), "status")
        #expect(ending.status == 0 && ending.output.lowercased().contains("on"), "\(ending)")
        #expect(!ending.errors.contains("was switched off") && !ending.errors.contains("has reset"), "\(ending)")
        #expect(ending.errors.contains("opening the port may have reset the board"), "\(ending)")
    }

    @Test("A board whose boot lines were received is reported as reset")
    func heard() async throws {
        let ending = try await Pumpctl.run("--port", try port(saying: "Ready for commands...\r\n"), "status")
        #expect(ending.status == 0, "\(ending)")
        #expect(
            ending.errors.contains("opening the port has reset the board, which switches the pump off"),
            "\(ending)")
        #expect(!ending.errors.contains("may have reset"), "\(ending)")
    }
}
