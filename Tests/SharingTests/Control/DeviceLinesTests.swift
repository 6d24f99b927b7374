import Testing

@testable import Sharing

@Suite("The lines of what a device has said")
struct DeviceLinesTests {
    @Test(
        "are cut at line feeds, without their ends and without empty ones",
        arguments: [
            ("OK\r\nPUMP:ON\r\n", ["OK", "PUMP:ON"]), ("OK\nPUMP:ON", ["OK", "PUMP:ON"]),
            ("\r\n\n\nOK\r\r\n\r", ["OK\r"]),
            ("a\rb\n", ["a\rb"]), ("\n", []), ("", []),
        ])
    func cutting(said: String, lines: [String]) {
        #expect(SharedDevice.lines(of: Array(said.utf8)).map { String(decoding: $0, as: UTF8.self) } == lines)
    }
}
