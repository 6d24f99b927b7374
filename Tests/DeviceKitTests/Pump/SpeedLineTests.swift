import Testing

@testable import DeviceKit

/// The firmware reads the number after `SPEED:` with `atoi` into 16 bits, so that text counts as 0, text after the
/// number is ignored, and 65736 is 200. Leading zeros beyond three digits are refused too, although they are read
/// correctly.
@Suite("Speed lines that the firmware misreads")
struct SpeedLineTests {
    @Test(
        "Plain numbers from 0 to 255 are allowed, and so are other lines",
        arguments: [
            "SPEED:0", "SPEED:7", "SPEED:007", "SPEED:255", "speed:99", "Speed:100", "STATUS", "ON", "", "SPEED",
            " SPEED:abc", "SPE\0ED:abc", "STATUS\nSPEED:12\r\nTEMP", "\r\n",
        ])
    func allowed(text: String) {
        #expect(SpeedLineCheck.reason(against: Array(text.utf8)) == nil)
    }

    @Test(
        "A misread speed is refused with the value that the firmware would set",
        arguments: [
            ("SPEED:fast", 0), ("SPEED:", 0), ("speed:-0", 0), ("SPEED: 200", 200), ("SPEED:\t7", 7), ("SPEED:+9", 9),
            ("SPEED:5x", 5), ("SPEED:1e2", 1), ("SPEED:50%", 50), ("SPEED:200 ", 200), ("SPEED:0200", 200),
            ("SPEED:65736", 200), ("SPEED:65536", 0), ("SPEED:-65336", 200), ("SPEED:12\0junk", 12),
            ("SPEED:\0200", 0), ("SPEED:٣", 0), ("STATUS\nSPEED:fast", 0), ("STATUS\rspeed:5x", 5),
            ("SPEED:12\r\nSPEED:", 0), ("\n\nSPEED:x\n", 0),
        ])
    func refused(text: String, speed: Int) {
        let reason = SpeedLineCheck.reason(against: Array(text.utf8))
        #expect(reason?.contains("would set the speed to \(speed),") == true, "\(reason ?? "nothing")")
        #expect(reason?.contains("use SPEED:0 to SPEED:255") == true)
    }

    @Test(
        "A speed that the firmware refuses is refused",
        arguments: [
            ("SPEED:256", 256), ("SPEED:-1", -1), ("SPEED:999", 999), ("SPEED:40000", -25536),
            ("SPEED:98765432109876543210", 32490),
        ])
    func outOfRange(text: String, number: Int) {
        let reason = SpeedLineCheck.reason(against: Array(text.utf8))
        #expect(reason?.contains("as \(number), and refuses that") == true, "\(reason ?? "nothing")")
    }

    @Test("A speed in a text that is longer than the firmware's 63-byte buffer is refused")
    func tooLong() {
        // Bytes beyond the buffer may be lost, also in the middle of a line. The firmware also ends a line after 64
        // bytes without a line end, and the rest may then begin with SPEED.
        for text in [
            String(repeating: "SPEED:1\n", count: 9), String(repeating: "X", count: 64) + "SPEED:fast",
            String(repeating: "X", count: 57) + "SPEED:", String(repeating: "X", count: 70) + "\nspeed:20",
        ] {
            let reason = SpeedLineCheck.reason(against: Array(text.utf8))
            #expect(reason?.contains("63 bytes") == true, "\(text)")
        }
        let fitting = String(repeating: "STATUS\n", count: 7) + "SPEED:255"
        #expect(SpeedLineCheck.reason(against: Array(fitting.utf8)) == nil)
        #expect(SpeedLineCheck.reason(against: Array(repeating: 0x58, count: 100)) == nil)
    }
}
