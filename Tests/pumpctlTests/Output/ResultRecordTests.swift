import Testing

@testable import pumpctl

@Suite("JSON objects of results") struct ResultRecordTests {
    private let values: ResultRecord = ["name": "x", "count": Int?.none, "list": ["a"], "isOn": true, "other": nil]

    @Test func `A nil value is null`() {
        #expect(Output.json(values) == #"{"count":null,"isOn":true,"list":["a"],"name":"x","other":null}"#)
    }

    @Test func `Unknown values can be left out`() {
        #expect(Output.json(values.known) == #"{"isOn":true,"list":["a"],"name":"x"}"#)
    }

    @Test func `An object can be extended with further keys`() {
        struct Port: Encodable { var path = "/dev/ttyUSB0" }
        #expect(Output.json(ResultRecord(Port(), with: ["ok": true])) == #"{"ok":true,"path":"/dev/ttyUSB0"}"#)
        #expect(Output.json(ResultRecord(Port(), with: ["event": nil])) == #"{"event":null,"path":"/dev/ttyUSB0"}"#)
    }
}
