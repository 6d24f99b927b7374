import Testing

@testable import pumpctl

@Suite("Negative numbers on the command line")
struct NegativeNumberTests {
    @Test(
        "A negative number is a value",
        arguments: [
            ("message send --at -35.9,-79 x", "message send --at=-35.9,-79 x"),
            ("monitor --interval -1 --json", "monitor --interval=-1 --json"),
            ("--timeout -.5 status", "--timeout=-.5 status"),
            ("say -5", "say -- -5"),
            ("say --json -5", "say --json -- -5"),
            ("message send --at -1,-2 -5 -6", "message send --at=-1,-2 -- -5 -6"),
            ("say -- --at -5", "say -- --at -5"),
            ("speed -5 --json", "speed -5 --json"),
            ("-p /dev/ttyUSB0 -v send TEMP", "-p /dev/ttyUSB0 -v send TEMP"),
        ])
    func values(typed: String, read: String) {
        let words = typed.split(separator: " ").map(String.init)
        #expect(NegativeNumbers.asValues(in: words).joined(separator: " ") == read)
    }
}
