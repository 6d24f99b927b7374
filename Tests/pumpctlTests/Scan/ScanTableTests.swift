import BlueZ
import DeviceKit
import LineProtocol
import Testing

@testable import pumpctl

@Suite struct ScanTableTests {
    @Test func `A table has a line for each device, with names that people know`() throws {
        let pump = device(1, name: "HMSoft", rssi: -52, services: ["1800", "FFE0"])
        let watch = device(2, rssi: -70, services: ["180D", "180F", "12345678-0000-0000-0000-000000000000"])
        let other = device(3, name: "Lamp", isConnected: true)
        #expect(
            ScanTable.lines([pump, watch, other]) == [
                "NAME    ADDRESS            SIGNAL     FAMILY  SERVICES",
                "HMSoft  00:00:00:00:00:01  -52 dBm    pump?   HM-10 serial",
                "-       00:00:00:00:00:02  -70 dBm    -       Heart Rate, Battery, 12345678…",
                "Lamp    00:00:00:00:00:03  connected  -       -",
            ])
    }

    @Test func `What is not heard any more has no signal`() {
        #expect(ScanTable.lines([device(1)])[1] == "-     00:00:00:00:00:01  -       -       -")
    }

    @Test(arguments: [200, 80, 60, 50, 45, 40, 30, 10, 2])
    func `No line is wider than the terminal, and the address is whole as long as there is room`(width: Int) {
        let long = device(
            1, name: "A device with a very long name, as they go", rssi: -100, services: ["FFE0", "180A"])
        let wide = device(2, name: "泵泵泵泵泵泵泵泵泵泵泵泵泵泵泵泵泵泵泵", services: ["4FAFC201-1FB5-459E-8FCC-C5C9C331914B"])
        let lines = ScanTable.lines([long, wide], width: width)
        #expect(lines.count == 3)
        for line in lines { #expect(line.columns <= width, "\(line)") }
        if width >= 40 {
            #expect(lines[1].contains("00:00:00:00:00:01"))
            #expect(lines[2].contains("00:00:00:00:00:02"))
        }
    }

    @Test func `Where there is little room the services go first, then the family`() {
        let pump = device(1, name: "HMSoft", rssi: -52, services: ["FFE0", "180A"])
        #expect(ScanTable.lines([pump], width: 58)[1] == "HMSoft  00:00:00:00:00:01  -52 dBm  pump?   HM-10 serial,…")
        #expect(ScanTable.lines([pump], width: 45)[1] == "HMSoft  00:00:00:00:00:01  -52 dBm  pump?")
        #expect(ScanTable.lines([pump], width: 36)[1] == "HMSoft  00:00:00:00:00:01  -52 dBm")
    }

    @Test func `A stranger's name does nothing to the terminal`() {
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

    @Test func `A name that could be taken for none is in quotes`() {
        for name in [" ", "-", "Lamp "] { #expect(ScanTable.lines([device(1, name: name)])[1].hasPrefix("'\(name)'")) }
        // A name that is hidden in an advertisement is of zeros.
        for name in ["", "\0\0\0"] { #expect(device(1, name: name).name == nil) }
    }

    @Test func `Columns are counted as a terminal shows them`() {
        #expect("abc".columns == 3)
        #expect("泵".columns == 2)
        #expect("e\u{301}".columns == 1)
        #expect("👩‍🔧".columns == 2)
        #expect("abcdef".cut(to: 4) == "abc…")
        #expect("泵泵泵".cut(to: 4) == "泵…")
        #expect("abc".cut(to: 3) == "abc")
        #expect("abc".cut(to: 0) == "")
    }

    @Test func `A live table takes no more rows than the terminal has`() {
        let devices = (1...20).map { device($0, name: "Lamp") }
        let lines = LiveTable.lines(devices, 79, rows: 10)
        #expect(lines.count == 10)
        #expect(lines.last == "… and 12 more")
        #expect(LiveTable.lines(devices, 79, rows: nil).count == 21)
        #expect(LiveTable.lines([], 5, rows: 10) == ["scan…"])
    }

    private func device(
        _ number: Int, name: String? = nil, rssi: Int? = nil, services: [BluetoothUUID] = [], isConnected: Bool = false
    ) -> ScannedDevice {
        let digits = (number < 16 ? "0" : "") + String(number, radix: 16)
        guard let address = BluetoothAddress("00:00:00:00:00:\(digits)") else { preconditionFailure("no address") }
        return ScannedDevice(address, name: name, rssi: rssi, services: services, isConnected: isConnected)
    }
}
