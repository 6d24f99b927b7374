import Testing

@testable import pumpctl

@Suite("The words that a shell gets from pumpctl")
struct CandidateTests {
    @Test(
        "bash gets the texts to insert: quoted, and without the part before its last word break",
        arguments: [
            // The line, the part at its end that bash replaces, the candidates, and the inserted texts.
            ("pumpctl ble:My", "My", ["ble:My Pump"], "My\\ Pump"),
            ("pumpctl ble:", "", ["ble:HM", "ble:A&B"], "HM|A\\&B"),
            ("pumpctl 'ble:My", "ble:My", ["ble:My Pump"], "ble:My Pump"),
            ("pumpctl 'ble:It", "ble:It", ["ble:It's"], "ble:It'\\''s"),
            ("pumpctl \"ble:$", "ble:$", ["ble:$A`B"], "ble:\\$A\\`B"),
            // bash would expand `!b` as a reference to its history.
            ("pumpctl \"ble:a", "ble:a", ["ble:a!b"], "ble:a\"\\!\"b"),
            ("pumpctl ble:My\\ P", "My\\ P", ["ble:My Pump"], "My\\ Pump"),
            ("pumpctl usb:1:2@", "@", ["usb:1:2@3"], "@3"),
            ("pumpctl --port=sim:st", "st", ["--port=sim:storm", "--port=sim:storm?"], "storm|storm\\?"),
            // A second word keeps the quotation marks open.
            ("pumpctl 'sim:storm?se", "sim:storm?se", ["sim:storm?seed="], "sim:storm?seed=|sim:storm?seed=…"),
            ("pumpctl ~/no", "~/no", ["~/not es"], "~/not\\ es"), ("pumpctl é", "é", ["été"], "été"),
        ])
    func bash(line: String, tail: String, candidates: [String], expected: String) {
        let answer = [Candidate](words: candidates).answer(to: .bash, TypedLine(line, in: .bash), replacing: tail)
        #expect(answer == expected.split(separator: "|").map { $0 + "\n" }.joined())
    }

    @Test("zsh and fish get descriptions, and zsh also whether a word can be continued")
    func descriptions() {
        let candidates = [Candidate(text: "ble:a", help: "A: b\n"), Candidate(text: "sim:")]
        let line = TypedLine("pumpctl ", in: .zsh)
        #expect(candidates.answer(to: .zsh, line, replacing: "") == "-ble\\:a:A: b\\x0a\n+sim\\:\n")
        #expect(candidates.answer(to: .fish, line, replacing: "") == "ble:a\tA: b\\x0a\nsim:\t\n")
    }

    @Test("Each candidate is offered once, and a candidate with control characters is not offered")
    func unprintable() {
        let candidates = [Candidate](words: ["ble:a", "ble:\u{1B}[2J", "ble:a\nb", "ble:\u{202E}x", "ble:a", "x"])
        #expect(candidates.continuing("ble:").map(\.text) == ["ble:a"])
    }
}
