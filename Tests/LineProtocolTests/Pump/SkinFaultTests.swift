import LineProtocol
import Testing

@Suite("Skin sensor faults")
struct SkinFaultTests {
    @Test(
        "A status shows the fault of the skin sensor, and skinFaultWhileOn only that of a running pump",
        arguments: [
            ("SkinTemp:5.0C", nil), ("SkinTemp:34.5C", nil), ("SkinTemp:45.0C", nil), ("Temp:34.5C", nil),
            ("SkinTemp:4.9C", .outOfRange), ("SkinTemp:45.1C", .outOfRange), ("Temp:46.0C", .outOfRange),
            ("SkinTemp:-273.0C", .open), ("SkinTemp:900.0C", .shorted),
            ("SkinTemp:?C", .unreadable), ("Temp:?C", .unreadable), ("Speed:70%", .missing),
        ] as [(String, SkinFault?)])
    func faults(field: String, fault: SkinFault?) {
        // The water thermistor says nothing about the skin.
        for water in ["", ",WaterTemp:30.0C", ",WaterTemp:-273.0C"] {
            #expect(status("STATUS:{State:ON,\(field)\(water)}").skinFault == fault)
            #expect(status("STATUS:{State:ON,\(field)\(water)}").skinFaultWhileOn == fault)
            #expect(status("STATUS:{State:OFF,\(field)\(water)}").skinFaultWhileOn == nil)
        }
    }
}
