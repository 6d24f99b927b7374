public import BlueZ

/// A reference to a characteristic of a device, as a person writes it.
///
///     2A19            by its UUID; 0x2A19, and the full form of 36 characters, are also possible
///     180F/2A19       by the UUIDs of the service and of the characteristic
///     char0012        by its handle, in bluetoothd's notation
public struct GATTReference: Sendable, Hashable {
    /// The reference as it was written.
    public let text: String
    private let uuid: BluetoothUUID?
    private let service: BluetoothUUID?
    private let handle: UInt16?

    /// Parses a reference; nil if the text is invalid.
    public init?(_ text: String) {
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

    /// Finds the characteristic that the reference names.
    ///
    /// - Parameter services: The services of the device.
    /// - Throws: ``GATTReferenceError`` if no characteristic matches, or several do.
    public func find(in services: [GATTService]) throws(GATTReferenceError) -> GATTCharacteristic {
        let all = services.flatMap(\.characteristics)
        let fitting = all.filter { characteristic in
            guard let uuid else { return characteristic.handle == handle }
            return characteristic.uuid == uuid && (service == nil || characteristic.service == service)
        }
        if fitting.count == 1 { return fitting[0] }
        throw GATTReferenceError(reference: self, fitting: fitting, all: all)
    }
}

/// The error for a reference that does not match exactly one characteristic.
public struct GATTReferenceError: Error, Sendable, Hashable {
    /// The failed reference.
    public let reference: GATTReference
    /// The characteristics that match: none, or several.
    public let fitting: [GATTCharacteristic]
    /// All characteristics of the device.
    public let all: [GATTCharacteristic]
}

extension GATTReferenceError: CustomStringConvertible {
    public var description: String {
        if fitting.isEmpty { return "the device has no characteristic \(reference.text)" }
        let list = fitting.map { "\($0.handleName) in \($0.service)" }.joined(separator: ", ")
        return "the device has \(reference.text) \(fitting.count) times: \(list)"
    }
}

extension GATTCharacteristic {
    /// The text of a ``GATTReference`` that matches this characteristic alone, such as `char0012`; the UUID if
    /// bluetoothd reports no handle.
    public var handleName: String {
        guard let handle else { return "\(uuid)" }
        let digits = String(handle, radix: 16)
        return "char" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
