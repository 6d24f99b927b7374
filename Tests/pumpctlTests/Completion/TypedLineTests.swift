import Testing

@testable import pumpctl

@Suite("A line as typed in a shell")
struct TypedLineTests {
    @Test(
        "Words lose their quotation marks and escapes, as in each shell",
        arguments: [
            // The line, the shell, the line's words up to the cursor, in brackets, and the open quotation mark.
            ("pumpctl --port ble:HM", .bash, "[pumpctl][--port][ble:HM]"),
            ("pumpctl  status ", .bash, "[pumpctl][status][]"),
            ("pumpctl send 'a b' \"c d\" ", .zsh, "[pumpctl][send][a b][c d][]"),
            ("pumpctl a\\ b", .bash, "[pumpctl][a b]"), ("pumpctl a\\", .bash, "[pumpctl][a]"),
            ("pumpctl ble:'My P", .bash, "[pumpctl][ble:My P]'"), ("pumpctl ''", .bash, "[pumpctl][]"),
            ("pumpctl '' x", .bash, "[pumpctl][][x]"), ("pumpctl \"a\\\"b", .zsh, "[pumpctl][a\"b]\""),
            ("pumpctl \"a\\b", .bash, "[pumpctl][a\\b]\""), ("pumpctl \"\\$x", .fish, "[pumpctl][$x]\""),
            ("pumpctl 'a\\'b", .bash, "[pumpctl][a\\b]"), ("pumpctl 'a\\'b", .fish, "[pumpctl][a'b]'"),
            ("pumpctl $HOME/x ~/y", .bash, "[pumpctl][$HOME/x][~/y]"),
            ("A=1 B='2 3' pumpctl -p=x", .bash, "[pumpctl][-p=x]"), ("pumpctl --port=x", .bash, "[pumpctl][--port=x]"),
            ("", .bash, "[]"),
        ] as [(String, CompletingShell, String)])
    func words(line: String, shell: CompletingShell, expected: String) {
        let typed = TypedLine(line, in: shell)
        let words = (typed.words + [typed.current]).map { "[\($0)]" }.joined()
        #expect(words + (typed.quote.map { String($0) } ?? "") == expected)
    }
}
