import Testing

@testable import Terminal

@Suite("Colour on terminals")
struct ColourTests {
    @Test(
        "Output is coloured unless TERM is dumb or NO_COLOR is set and not empty",
        arguments: [
            ([:], true), (["TERM": "xterm"], true), (["TERM": "dumb"], false), (["NO_COLOR": ""], true),
            (["NO_COLOR": "1"], false), (["NO_COLOR": "1", "TERM": "xterm"], false),
            (["NO_COLOR": "", "TERM": "dumb"], false),
        ] as [([String: String], Bool)])
    func colours(environment: [String: String], mayColour: Bool) {
        #expect(StandardStream.mayColour { environment[$0] } == mayColour)
    }
}
