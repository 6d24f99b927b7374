import BlueZ

/// Which characteristic of a device is meant.
///
///     2A19            by its UUID; 0x2A19 is the same, and so are all 36 characters of a long one
///     180F/2A19       by the UUIDs of its service and its own
///     char0012        by its handle, as bluetoothd names it
struct GATTReference: Sendable, Equatable {
    static let rule = "a characteristic is written 2A19, 180F/2A19, or char0012"

    /// As it was written.
    let text: String
    private let uuid: BluetoothUUID?
    private let service: BluetoothUUID?
    private let handle: UInt16?

    /// nil where it is none.
    init?(_ text: String) {
        self.text = text
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count <= 2 else { return nil }
        if parts.count == 1, last.hasPrefix("char"), let handle = UInt16(last.dropFirst("char".count), radix: 16) {
            (self.handle, uuid, service) = (handle, nil, nil)
            return
        }
        guard let own = Self.uuid(last) else { return nil }
        let service = parts.count == 2 ? Self.uuid(parts[0]) : nil
        if parts.count == 2, service == nil { return nil }
        (handle, uuid, self.service) = (nil, own, service)
    }

    private static func uuid(_ text: Substring) -> BluetoothUUID? {
        let isShort = text.hasPrefix("0x") || text.hasPrefix("0X")
        return BluetoothUUID(isShort ? text.dropFirst(2) : text)
    }

    /// The characteristic that is meant.
    ///
    /// - Throws: `Failure` where there is none, or there are several.
    func find(in services: [GATTService], of device: String) throws(Failure) -> GATTCharacteristic {
        let all = services.flatMap(\.characteristics)
        let fitting = all.filter { characteristic in
            guard let uuid else { return characteristic.handle == handle }
            return characteristic.uuid == uuid && (service == nil || characteristic.service == service)
        }
        if fitting.count == 1 { return fitting[0] }
        guard fitting.isEmpty else {
            let list = fitting.map { "\($0.handleName) in \($0.service)" }.joined(separator: ", ")
            throw Failure(
                .noInput, code: "ambiguous_characteristic", "\(device) has \(text) \(fitting.count) times: \(list)",
                hint: "name one by its handle: \(fitting[0].handleName)", outcome: "not_sent")
        }
        let list = all.prefix(8).map { "\($0.uuid)" }.joined(separator: ", ")
        throw Failure(
            .noInput, code: "no_characteristic", "\(device) has no characteristic \(text)",
            hint: all.isEmpty
                ? "it has none at all: check that this is the device you mean"
                : "name one that it has: \(list)" + (all.count > 8 ? ", …; 'pumpctl gatt \(device)' lists all" : ""),
            outcome: "not_sent")
    }
}

extension GATTCharacteristic {
    /// The name by which ``GATTReference`` knows it whatever its UUID.
    var handleName: String {
        guard let handle else { return "\(uuid)" }
        let digits = String(handle, radix: 16)
        return "char" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
