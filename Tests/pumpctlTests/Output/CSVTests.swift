import Testing

@testable import pumpctl

@Suite("Comma-separated values")
struct CSVTests {
    @Test(
        "A field is quoted where it would end otherwise",
        arguments: [
            ("a", "a"), ("", ""), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""),
            ("a\rb", "\"a\rb\""),
            ("a\r\nb", "\"a\r\nb\""),
        ])
    func quoted(text: String, field: String) {
        #expect(text.quotedForCSV() == field)
    }

    @Test(
        "What a stranger says is no command to a terminal or a spreadsheet",
        arguments: [
            ("=1+1", "'=1+1"), ("@x", "'@x"), ("-5.00", "-5.00"), ("-a", "'-a"), ("\u{1B}[2J\n", "\\x1b[2J\\x0a"),
        ])
    func harmless(text: String, field: String) {
        #expect(text.harmlessForCSV() == field)
    }
}
