import Glibc
import Testing

@testable import FirmwareSim

@Suite("Numbers with one decimal")
struct OneDecimalTests {
    @Test(
        "Values are padded, signed and rounded as in C",
        arguments: [
            (0, " 0.0"), (9.5, " 9.5"), (12, "12.0"), (34.5, "34.5"), (41.2, "41.2"), (100.06, "100.1"),
            (-0.0, "-0.0"), (-0.04, "-0.0"), (-5.5, "-5.5"), (-80, "-80.0"), (-273.15, "-273.1"),
            (0.25, " 0.2"), (0.75, " 0.8"), (9.95, " 9.9"), (9.96, "10.0"), (99.97, "100.0"),
            (.nan, " nan"), (-.nan, " nan"), (.infinity, " inf"), (-.infinity, "-inf"),
        ] as [(Float, String)])
    func value(_ value: Float, _ text: String) {
        #expect(oneDecimal(value) == text)
    }

    @Test("Values of every magnitude agree with the C library")
    func againstC() {
        // Every 40,503rd bit pattern of the positive numbers, some of every exponent; and the opposite numbers.
        for exponent in stride(from: Int32(0), to: 0x7F80_0000, by: 0x0000_9E37) {
            for pattern in [UInt32(exponent), UInt32(exponent) | 0x8000_0000] {
                let value = Float(bitPattern: pattern)
                #expect(oneDecimal(value) == formattedByC(value))
            }
        }
        for eighths in -8000...8000 {
            let value = Float(eighths) / 8
            #expect(oneDecimal(value) == formattedByC(value))
        }
        #expect(oneDecimal(.greatestFiniteMagnitude) == formattedByC(.greatestFiniteMagnitude))
    }

    private func formattedByC(_ value: Float) -> String {
        var buffer = [CChar](repeating: 0, count: 64)
        let count = withVaList([Double(value)]) { vsnprintf(&buffer, buffer.count, "%4.1f", $0) }
        return String(decoding: buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
