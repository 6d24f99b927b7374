import DBus
import Testing

@testable import BlueZ

@Suite struct ObjectMirrorTests {
    private static let hci0: ObjectPath = "/org/bluez/hci0"
    private static let pump: ObjectPath = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF"

    private func interfaces(_ interfaces: [String: [String: DBusValue]]) -> DBusValue {
        .dictionary(
            DBusDictionary(
                keys: "s", values: "a{sv}",
                interfaces.sorted { $0.key < $1.key }.map { .init(.string($0.key), .properties($0.value)) }))
    }

    private func mirror() -> ObjectMirror {
        var mirror = ObjectMirror()
        mirror.replace(
            with: .dictionary(
                DBusDictionary(
                    keys: "o", values: "a{sa{sv}}",
                    [
                        .init(.objectPath(Self.hci0), interfaces([BlueZName.adapter: ["Powered": .boolean(true)]])),
                        .init(
                            .objectPath(Self.pump),
                            interfaces([BlueZName.device: ["Name": .string("HMSoft"), "RSSI": .int16(-40)]])),
                    ])))
        return mirror
    }

    @Test func `The mirror holds the managed objects`() {
        let mirror = mirror()
        #expect(mirror[Self.hci0, BlueZName.adapter] == ["Powered": .boolean(true)])
        #expect(mirror.objects(with: BlueZName.device).map(\.path) == [Self.pump])
        #expect(mirror.objects(with: BlueZName.device, below: "/org/bluez/hci1").isEmpty)
    }

    @Test func `The mirror follows added, changed and removed objects`() {
        var mirror = mirror()
        let other: ObjectPath = "/org/bluez/hci0/dev_00_00_00_00_00_01"
        let added = mirror.add([.objectPath(other), interfaces([BlueZName.device: ["Paired": .boolean(false)]])])
        #expect(added == [.added(other, BlueZName.device)])
        #expect(mirror[other, BlueZName.device] == ["Paired": .boolean(false)])

        let changed = mirror.change(
            Self.pump, [.string(BlueZName.device), .properties(["Connected": .boolean(true)]), .strings(["RSSI"])])
        #expect(changed == [.changed(Self.pump, BlueZName.device, ["Connected", "RSSI"])])
        let now: ObjectMirror.Properties = ["Name": .string("HMSoft"), "Connected": .boolean(true)]
        #expect(mirror[Self.pump, BlueZName.device] == now)

        let removed = mirror.remove([.objectPath(Self.pump), .strings([BlueZName.device, "org.bluez.Battery1"])])
        #expect(removed == [.removed(Self.pump, BlueZName.device, now)])
        #expect(mirror.objects[Self.pump] == nil)
    }

    @Test func `A device with resolved services counts as connected, even if that is not signalled`() {
        var mirror = mirror()
        let resolved = DBusValue.properties(["ServicesResolved": .boolean(true)])
        let changed = mirror.change(Self.pump, [.string(BlueZName.device), resolved, .strings([])])
        #expect(changed == [.changed(Self.pump, BlueZName.device, ["Connected", "ServicesResolved"])])
        #expect(mirror[Self.pump, BlueZName.device]?["Connected"] == .boolean(true))
        let gone = DBusValue.properties(["Connected": .boolean(false)])
        #expect(
            mirror.change(Self.pump, [.string(BlueZName.device), gone, .strings([])])
                == [.changed(Self.pump, BlueZName.device, ["Connected"])])
        #expect(mirror[Self.pump, BlueZName.device]?["Connected"] == .boolean(false))
    }

    @Test func `Replacing the objects drops the old ones`() {
        var mirror = mirror()
        mirror.replace(with: .dictionary(DBusDictionary(keys: "o", values: "a{sa{sv}}", [])))
        #expect(mirror.objects.isEmpty)
    }

    @Test func `Unknown objects and malformed signals are ignored`() {
        var mirror = mirror()
        let before = mirror.objects
        #expect(mirror.add([.string("x")]).isEmpty)
        #expect(mirror.remove([.objectPath("/a"), .strings(["b"])]).isEmpty)
        #expect(mirror.remove([]).isEmpty)
        #expect(mirror.change("/a", [.string(BlueZName.device), .properties([:]), .strings([])]).isEmpty)
        #expect(mirror.change(Self.pump, [.string(BlueZName.device), .uint32(1), .strings([])]).isEmpty)
        #expect(mirror.objects == before)
    }
}
