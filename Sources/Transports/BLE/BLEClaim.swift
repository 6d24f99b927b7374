internal import BlueZ
internal import DescriptorIO
internal import LineProtocol

/// This program's exclusive right to a BLE device.
///
/// A device has one owner among programs. Otherwise bluetoothd would signal each value to every program once per
/// subscriber, so that values would arrive several times, and the first program to disconnect would cut off the others.
struct BLEClaim: Sendable {
    /// The interval of attempts while another program holds the device for a short time.
    static let interval = Duration.milliseconds(50)
    /// The longest time that bluetoothd needs to disconnect after a link was closed: it waits 2 s, then asks the
    /// controller.
    static let disconnecting = Duration.seconds(5)

    /// The device's ``DeviceID``.
    let deviceID: String
    /// The lock on the device; nil if no folder for locks is usable.
    private let lock: DeviceLock?

    /// A note for people on this claim; nil if there is nothing to note.
    var note: String? {
        guard lock == nil else { return nil }
        return "no lock folder is writable: another program may use the device at the same time"
    }

    /// Claims the device. Waits while another program holds the device for a short time, up to ``BLEUse/patience``, and
    /// then until bluetoothd has disconnected the device after an earlier link.
    ///
    /// - Throws: `busy` with the holder; `cancelled`.
    static func take(
        _ device: Device, as use: BLEUse, in locks: DeviceLocks, name: String
    ) async throws(LinkError) -> BLEClaim {
        let id = DeviceID.ble(device.address, on: device.adapter, bus: await device.bus)
        var waited = Duration.zero
        var isTold = false
        while true {
            switch locks.attempt(id, as: use.isBrief ? .brief : .lasting) {
            case .unavailable: return BLEClaim(deviceID: id, lock: nil)
            case .taken(let lock):
                let claim = BLEClaim(deviceID: id, lock: lock)
                await claim.waitForDisconnection(of: device, by: locks.uptime())
                guard !Task.isCancelled else {
                    claim.release(isDisconnecting: true)
                    throw LinkError(.cancelled, name: name, activity: "open")
                }
                return claim
            // `brief` means that the holder ends soon. Any other note except `lasting` means that the holder is
            // closing, or has just opened the device.
            case .held(let holder, let note) where note != .lasting && waited < use.patience:
                if !isTold { use.onStep?(.waiting(device.address, holder: holder)) }
                isTold = true
                do { try await device.clock.sleep(for: interval) } catch {
                    throw LinkError(.cancelled, name: name, activity: "open")
                }
                waited += interval
            case .held(let holder, _): throw LinkError(busy: name, deviceID: id, holder: holder)
            }
        }
    }

    /// Waits until bluetoothd has ended the previous owner's connection: a program that connects earlier gets this
    /// connection, which is about to end.
    private func waitForDisconnection(of device: Device, by now: Duration) async {
        guard case .closing(let time) = lock?.inherited, time <= now, now - time < Self.disconnecting else { return }
        await device.waitUntilDisconnected(within: Self.disconnecting - (now - time))
    }

    /// Releases the lock: see ``DeviceLock/release(isDisconnecting:)``.
    func release(isDisconnecting: Bool) { lock?.release(isDisconnecting: isDisconnecting) }
}

extension LinkError {
    /// Creates the error for a device that another program holds.
    init(busy name: String, deviceID: String, holder: LinkHolder?) {
        self.init(
            .busy, name: name, activity: "open", detail: holder.map { "open in \($0)" } ?? "open in another program",
            hint: holder.map { HoldingProcess($0.processID).endingHint }
                ?? "end the program that has the device open, perhaps in a container",
            holder: holder, deviceID: deviceID)
    }

    /// Creates the error for a device that another program listens to, although this program has the claim: a program
    /// other than pumpctl, or one in another container.
    init(
        heardElsewhere characteristic: GATTCharacteristic, _ address: BluetoothAddress, _ claim: BLEClaim, name: String
    ) {
        self.init(
            .busy, name: name, activity: "open", detail: "another program is subscribed to \(characteristic.uuid)",
            hint: "stop that program; if there is none, disconnect the device: bluetoothctl disconnect \(address)",
            deviceID: claim.deviceID)
    }
}
