// Lists the Bluetooth LE devices heard within five seconds: scan-ble
import BlueZ

let bluez = try await BlueZ.open()
let scan = Task {
    for try await event in try await bluez.scan() {
        if case .found(let device) = event { print(device.address, device.name ?? "?", device.rssi ?? 0) }
    }
}
try await Task.sleep(for: .seconds(5))
scan.cancel()
await bluez.close()
