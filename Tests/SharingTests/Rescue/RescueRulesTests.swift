import Testing

@testable import Sharing

@Suite("The rules of a shared rescue phone")
struct RescueRulesTests {
    @Test(
        "each object goes to all as one line",
        arguments: [
            RulesTable("two at once", [#"{"a":1}{"b":2}"#], ["all: {\"a\":1}\r\n", "all: {\"b\":2}\r\n"]),
            RulesTable("cut anywhere", [#"{"a"#, #"":"}"#, #"\n"}"#], ["all: {\"a\":\"}\\n\"}\r\n"]),
            RulesTable("line ends between its parts", ["{\"a\":\r\n1\n}\n"], ["all: {\"a\":  1 }\r\n"]),
            RulesTable("behind one that was cut off", [#"{"a":{"b":2}"#], ["all: {\"b\":2}\r\n"]),
            RulesTable("noise goes nowhere", ["Hello\n[1]"], []),
        ])
    func objects(table: RulesTable) { #expect(table.run(RescueRules()) == table.pieces) }

    @Test("a message goes to the phone as it is")
    func request() {
        #expect(RescueRules().request(Array(#"{"a":1}"#.utf8)) == StreamRequest(bytes: Array(#"{"a":1}"#.utf8)))
    }
}
