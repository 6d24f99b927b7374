import LineProtocol
import Testing

@Suite struct StormMeasurementTests {
    @Test(
        arguments: [
            ("1 2 3 4.50", ["1", "2", "3", "4.50"]), ("A north 17 -0.25", ["A", "north", "17", "-0.25"]),
            (" 1  2\t3 1e3 ", ["1", "2", "3", "1e3"]), ("1 2 3 nan", ["1", "2", "3", "nan"]),
            ("1 2 3 -inf", ["1", "2", "3", "-inf"]), ("1 2 3 7", ["1", "2", "3", "7"]),
        ])
    func `A row with four fields, the last of them a number, is a measurement`(row: String, fields: [String]) throws {
        let measurement = try #require(StormMeasurement(row: Array(row.utf8)))
        #expect(isMeasurement(Array(row.utf8)))
        #expect([measurement.pipe, measurement.port, measurement.point, measurement.valueText] == fields)
        let value = try #require(Double(fields[3]))
        #expect(measurement.value == value || (measurement.value.isNaN && value.isNaN))
    }

    @Test(arguments: [
        "", "1 2 3", "1 2 3 4 5", "1 2 3 x", "1 2 3 0x10", "1 2 3 4,5", "1,2,3,4", "1 2 3 4.5C", "1 2 3 -",
        "1 2 3 4.5.6",
    ])
    func `A row with another number of fields, or without a number at the end, is not a measurement`(row: String) {
        #expect(StormMeasurement(row: Array(row.utf8)) == nil)
        #expect(!isMeasurement(Array(row.utf8)))
    }

    @Test func `A row that is not UTF-8 is not a measurement`() {
        let row = Array("1 2 ".utf8) + [0xFF] + Array(" 4".utf8)
        #expect(StormMeasurement(row: row) == nil)
        #expect(!isMeasurement(row))
    }

    private func isMeasurement(_ row: [UInt8]) -> Bool { StormMeasurement.isMeasurement(row.span) }
}
