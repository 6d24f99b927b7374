import TestSupport
import Testing

@testable import pumpctl

@Suite("Short options in one word")
struct PackedOptionTests {
    @Test(
        "are the same as each in a word of its own",
        arguments: [
            ("-vp X status", "-v -p X status"), ("-vf pump send A", "-v -f pump send A"),
            ("status -vh", "status -v -h"),
            ("send -- -vp", "send -- -vp"), ("-p X -help", "-p X -help"), ("--vp", "--vp"), ("-o -", "-o -"),
            ("rescue export -ox", "rescue export -ox"), ("speed -1", "speed -1"),
        ])
    func unpacking(line: String, same: String) {
        let words = line.split(separator: " ").map(String.init)
        #expect(PackedOptions.unpacked(words).joined(separator: " ") == same)
    }

    @Test("do not hide the command from its earlier spelling, nor an option that means nothing for it")
    func commands() async throws {
        #expect(try await Pumpctl.run("-vp", "sim:peer", "say", "hello").output == "said\n")
        expectFailure(
            try await Pumpctl.run("-vp", "X", "ports"), 64, saying: "--verbose cannot be used with", hint: "omit it")
    }
}
