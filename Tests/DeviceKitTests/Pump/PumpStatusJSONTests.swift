import DeviceKit
import LineProtocol
import TestSupport
import Testing

@Suite("Pump replies as JSON") struct PumpStatusJSONTests {
    private func json(_ line: String) throws -> String {
        switch PumpMessage(line: Array(line.utf8).span) {
        case .status(let status): return try sortedJSON(status)
        case .temperatures(let temperatures): return try sortedJSON(temperatures)
        default:
            Issue.record("neither a status nor temperatures: \(line)")
            return ""
        }
    }

    @Test(arguments: [
        (
            "STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:34.5C,Runtime:5m,Remaining:25m}",
            #"{"remaining_min":25,"runtime_min":5,"skin_temp_c":34.5,"speed_percent":70,"state":"on","water_temp_c":12}"#
        ),
        // A broken wire of the skin sensor: its value must not look like a temperature.
        (
            "STATUS:{State:ON,Speed:70%,WaterTemp:12.0C,SkinTemp:-127.0C}",
            #"{"sensor_faults":["skin_temp_c"],"skin_fault":"open","skin_temp_c":null,"speed_percent":70,"#
                + #""state":"on","water_temp_c":12}"#
        ),
        (
            "STATUS:{State:OFF,Speed:0%,SkinTemp:hot,Mood:good}",
            #"{"other":{"Mood":"good","SkinTemp":"hot"},"skin_temp_c":null,"speed_percent":0,"state":"off","#
                + #""temperatures_reported":false}"#
        ),
    ])
    func `Missing values are left out, and implausible ones are null`(line: String, object: String) throws {
        #expect(try json(line) == object)
    }

    @Test func `Temperatures have the same keys as a status`() throws {
        #expect(try sortedJSON(PumpTemperatures(single: ThermistorReading(celsius: 34.5))) == #"{"temp_c":34.5}"#)
        #expect(try sortedJSON(PumpTemperatures()) == #"{"temperatures_reported":false}"#)
        let broken = PumpTemperatures(water: ThermistorReading(celsius: .nan), skin: ThermistorReading(celsius: 30))
        #expect(
            try sortedJSON(broken) == #"{"sensor_faults":["water_temp_c"],"skin_temp_c":30,"water_temp_c":null}"#)
    }
}
