import BlueZ
import Testing

/// The plugin reads the battery level of a phone that connects. An iPhone then asks its user to pair.
@Suite("bluetoothd's battery plugin")
struct BatteryTrapTests {
    @Test(
        arguments: [
            (["bluetoothd"], "", true), (["bluetoothd", "-n", "-P", "battery"], "", false),
            (["bluetoothd", "-P", "sap,battery"], "", false), (["bluetoothd", "-Pbattery"], "", false),
            (["bluetoothd", "--noplugin=battery,sap"], "", false), (["bluetoothd", "--noplugin", "*"], "", false),
            (["bluetoothd", "-P", "sap"], "", true), (["bluetoothd", "-P"], "", true),
            (["bluetoothd"], "[GATT]\nClient = false\n", false), (["bluetoothd"], "[GATT]\n#Client=false\n", true),
            (["bluetoothd"], "[General]\nClient=false\n[GATT]\nCache=always\n", true),
            (["bluetoothd"], "[GATT]\r\nClient=False\r\n[AVDTP]\r\n", false),
            (["bluetoothd"], "[GATT]\nClient=true", true),
        ] as [([String], String, Bool)])
    func `The battery plugin is a trap for iPhones unless a flag or setting turns it off`(
        commandLine: [String], configuration: String, isOpen: Bool
    ) {
        #expect(BatteryTrap(commandLine: commandLine, settings: DaemonSettings(configuration)).isOpen == isOpen)
    }
}
