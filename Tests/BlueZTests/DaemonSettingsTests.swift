import BlueZ
import Testing

@Suite("bluetoothd's settings")
struct DaemonSettingsTests {
    private let settings = DaemonSettings(
        """
        # Name=comment
        Name=in no group
        [General]
          Name = a b = c\t
        [GATT]\r
        Channels=3
        #Channels=2
        Channels = 1
        Cache=
        [broken
        nonsense
        """)

    @Test(
        arguments: [
            ("General", "Name", "a b = c"), ("GATT", "Channels", "1"), ("GATT", "Cache", ""), ("GATT", "Name", nil),
            ("General", "Channels", nil), ("", "Name", "in no group"), ("GATT", "nonsense", nil),
        ] as [(String, String, String?)])
    func `A setting is looked up by group and key`(group: String, key: String, value: String?) {
        #expect(settings[group, key] == value)
    }
}
