import Terminal
import Testing

@Suite("Comma-separated values")
struct CSVTests {
    @Test(
        "A field is quoted if it contains a comma, a quote or a line end",
        arguments: [
            ("a", "a"), ("", ""), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""),
            ("a\rb", "\"a\rb\""),
            ("a\r\nb", "\"a\r\nb\""),
        ])
    func quoted(text: String, field: String) {
        #expect(CSV.row([text]) == field)
    }

    @Test(
        "Text that a spreadsheet would run as a formula is escaped",
        arguments: [("=1+1", "'=1+1"), ("@x", "'@x"), ("-5.00", "-5.00"), ("-a", "'-a"), ("+1,2", "\"'+1,2\"")])
    func harmless(text: String, field: String) {
        #expect(CSV.row([text]) == field)
    }

    @Test("Fields of a row are separated by commas")
    func row() { #expect(CSV.row(["a", "", "b,c", "-1"]) == "a,,\"b,c\",-1") }
}
