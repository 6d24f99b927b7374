import FakeBlueZ
import FirmwareSim
import Glibc
import TestSupport

// A bus with a bluetoothd that is none, and a pump behind an HM-10 in reach, for clients that are run by hand:
//
//     $ fake-bluez
//     DBUS_SYSTEM_BUS_ADDRESS=unix:path=/tmp/…/bus
//     $ DBUS_SYSTEM_BUS_ADDRESS=unix:path=/tmp/…/bus bluetoothctl scan on

let bus = try await PrivateBus()
let fake = try await FakeBlueZ.start(on: bus.address)
await fake.addAdapter("hci0", address: "00:00:5E:00:53:01")
await fake.addAdapter("hci1", address: "00:00:5E:00:53:02")
let pump = try await HM10(PumpFirmware(), pace: .realTime(ContinuousClock()))
await fake.add(pump.radio)
print("DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)")
fflush(nil)
try await pump.host.run()
