import BlueZ
import DeviceKit
import LineProtocol
import Terminal
import Testing

@testable import pumpctl

@Suite struct ScanTableTests {
    @Test func `The table has a row per device with readable service names`() throws {
        let pump = device(1, name: "HMSoft", rssi: -52, services: ["1800", "FFE0"])
        let watch = device(2, rssi: -70, services: ["180D", "180F", "12345678-0000-0000-0000-000000000000"])
        let other = device(3, name: "Lamp", isConnected: true)
        #expect(
            ScanTable.table([pump, watch, other]).lines() == [
                "NAME    ADDRESS            SIGNAL     FAMILY  SERVICES",
                "HMSoft  00:00:00:00:00:01  -52 dBm    pump?   HM-10 serial",
                "-       00:00:00:00:00:02  -70 dBm    -       Heart Rate, Battery, 12345678…",
                "Lamp    00:00:00:00:00:03  connected  -       -",
            ])
    }

    @Test func `A device that is no longer received has no signal`() {
        #expect(ScanTable.table([device(1)]).lines()[1] == "-     00:00:00:00:00:01  -       -       -")
    }

    @Test(arguments: [200, 80, 60, 50, 45, 40, 30, 10, 2])
    func `No line is wider than the terminal, and the address is whole from 40 columns on`(width: Int) {
        let long = device(
            1, name: "A device with a very long name, as they go", rssi: -100, services: ["FFE0", "180A"])
        let wide = device(2, name: "泵泵泵泵泵泵泵泵泵泵泵泵泵泵泵泵泵泵泵", services: ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"])
        let lines = ScanTable.table([long, wide]).lines(width: width)
        #expect(lines.count == 3)
        for line in lines { #expect(line.columns <= width, "\(line)") }
        if width >= 40 {
            #expect(lines[1].contains("00:00:00:00:00:01"))
            #expect(lines[2].contains("00:00:00:00:00:02"))
        }
    }

    @Test func `In a narrow table services are dropped first, then the family`() {
        let pump = device(1, name: "HMSoft", rssi: -52, services: ["FFE0", "180A"])
        #expect(
            ScanTable.table([pump]).lines(width: 58)[1] == "HMSoft  00:00:00:00:00:01  -52 dBm  pump?   HM-10 serial,…")
        #expect(ScanTable.table([pump]).lines(width: 45)[1] == "HMSoft  00:00:00:00:00:01  -52 dBm  pump?")
        #expect(ScanTable.table([pump]).lines(width: 36)[1] == "HMSoft  00:00:00:00:00:01  -52 dBm")
    }

    @Test func `Control characters in a name are escaped`() {
        let names = [
            "\u{1B}[31mred": "\\x1b[31mred", "a\nb\r": "a\\x0ab\\x0d", "\u{9B}2J": "\\x9b2J", "\u{7F}": "\\x7f",
            "\u{202E}tfoSMH": "\\u{202e}tfoSMH", "a\u{2028}b": "a\\u{2028}b", "Pümpe 👩‍🔧": "Pümpe 👩‍🔧",
        ]
        for (name, shown) in names {
            #expect(name.printable() == shown)
            let line = ScanTable.line(.found, device(1, name: name))
            #expect(line == "+  \(shown)  00:00:00:00:00:01")
        }
    }

    @Test func `An ambiguous blank or dash as a name is quoted`() {
        for name in [" ", "-", "Lamp ", "Lamp  -"] {
            #expect(ScanTable.table([device(1, name: name)]).lines()[1].hasPrefix("'\(name)'"))
        }
        // A device that hides its name may advertise an empty name or zeros: it has no name.
        for name in ["", "\0\0\0"] { #expect(device(1, name: name).name == nil) }
    }

    /// A device whose address ends with `number`. Nil stands for a name or a signal strength that is unknown.
    private func device(
        _ number: Int, name: String? = nil, rssi: Int? = nil, services: [BluetoothUUID] = [], isConnected: Bool = false
    ) -> ScannedDevice {
        let digits = (number < 16 ? "0" : "") + String(number, radix: 16)
        guard let address = BluetoothAddress("00:00:00:00:00:\(digits)") else { preconditionFailure("no address") }
        return ScannedDevice(address, name: name, rssi: rssi, services: services, isConnected: isConnected)
    }
}
