import Testing

@testable import Sharing

@Suite("Rules of a shared rescue phone")
struct RescueRulesTests {
    @Test(
        "Each object goes to all clients as one line",
        arguments: [
            RulesTable("two at once", [#"{"a":1}{"b":2}"#], ["all: {\"a\":1}\r\n", "all: {\"b\":2}\r\n"]),
            RulesTable("cut anywhere", [#"{"a"#, #"":"}"#, #"\n"}"#], ["all: {\"a\":\"}\\n\"}\r\n"]),
            RulesTable("line ends between its parts", ["{\"a\":\r\n1\n}\n"], ["all: {\"a\":  1 }\r\n"]),
            RulesTable("behind one that was cut off", [#"{"a":{"b":2}"#], ["all: {\"b\":2}\r\n"]),
            RulesTable("noise goes nowhere", ["Hello\n[1]"], []),
        ])
    func objects(table: RulesTable) { #expect(table.run(RescueRules()) == table.pieces) }

    @Test("A message is passed to the phone unchanged")
    func request() {
        #expect(RescueRules().request(Array(#"{"a":1}"#.utf8)) == StreamRequest(bytes: Array(#"{"a":1}"#.utf8)))
    }
}
