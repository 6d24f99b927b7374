import Testing

@testable import pumpctl

@Suite("Objects for programs") struct ResultRecordTests {
    private let values: ResultRecord = ["name": "x", "count": Int?.none, "list": ["a"], "isOn": true, "other": nil]

    @Test func `What is nil is null`() {
        #expect(Output.json(values) == #"{"count":null,"isOn":true,"list":["a"],"name":"x","other":null}"#)
    }

    @Test func `What is not known can be left out`() {
        #expect(Output.json(values.known) == #"{"isOn":true,"list":["a"],"name":"x"}"#)
    }

    @Test func `An object is told with more in it`() {
        struct Port: Encodable { var path = "/dev/ttyUSB0" }
        #expect(Output.json(ResultRecord(Port(), with: ["ok": true])) == #"{"ok":true,"path":"/dev/ttyUSB0"}"#)
        #expect(Output.json(ResultRecord(Port(), with: ["event": nil])) == #"{"event":null,"path":"/dev/ttyUSB0"}"#)
    }
}
