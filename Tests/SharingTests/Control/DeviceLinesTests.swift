import Testing

@testable import Sharing

@Suite("Lines of a device's output")
struct DeviceLinesTests {
    @Test(
        "Output is cut into lines at line feeds, without line ends and empty lines",
        arguments: [
            ("OK\r\nPUMP:ON\r\n", ["OK", "PUMP:ON"]), ("OK\nPUMP:ON", ["OK", "PUMP:ON"]),
            ("\r\n\n\nOK\r\r\n\r", ["OK\r"]),
            ("a\rb\n", ["a\rb"]), ("\n", []), ("", []),
        ])
    func cutting(said: String, lines: [String]) {
        #expect(SharedDevice.lines(of: Array(said.utf8)).map { String(decoding: $0, as: UTF8.self) } == lines)
    }
}
