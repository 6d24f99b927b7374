/// The name, the services and the advertisement of a peripheral.
///
/// ```swift
/// let module = PeripheralDescription(
///     name: "HMSoft",
///     services: [LocalService("FFE0", [LocalCharacteristic("FFE1", [.read, .writeWithoutResponse, .notify])])])
/// ```
public struct PeripheralDescription: Sendable, Hashable {
    /// The advertised name; nil for an advertisement without a name.
    ///
    /// After connecting, a central may read another name: bluetoothd answers with the adapter's alias, and iPhones
    /// remember the alias.
    public var name: String?
    /// The services that centrals find after connecting.
    public var services: [LocalService]
    /// The services in the advertisement.
    public var advertisedServices: [BluetoothUUID]

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - name: The advertised name; nil for none.
    ///   - services: The services.
    ///   - advertisedServices: The services in the advertisement; nil for all services.
    public init(name: String?, services: [LocalService], advertisedServices: [BluetoothUUID]? = nil) {
        self.name = name
        self.services = services
        self.advertisedServices = advertisedServices ?? services.map(\.uuid)
    }

    /// The space that the advertisement takes.
    public var budget: AdvertisementBudget { AdvertisementBudget(name: name, services: advertisedServices) }

    /// The operation, for errors.
    var activity: String { name.map { "offering \($0)" } ?? "offering a device" }

    /// Checks that the peripheral can be offered.
    ///
    /// - Throws: ``BLEError`` with ``BLEError/Code/invalidArgument`` if the advertisement does not fit, two
    ///   characteristics have the same UUID, a value is too long, or there is no service.
    func check() throws(BLEError) {
        try budget.check(activity: activity)
        var known: Set<BluetoothUUID> = []
        for characteristic in services.flatMap(\.characteristics) {
            let uuid = characteristic.uuid
            guard known.insert(uuid).inserted else {
                throw invalid("two characteristics have the UUID \(uuid)")
            }
            guard characteristic.value.count <= LocalCharacteristic.longestValue else {
                throw invalid("the value of \(uuid) is longer than \(LocalCharacteristic.longestValue) bytes")
            }
        }
        if services.isEmpty { throw invalid("the device has no service") }
    }

    private func invalid(_ message: String) -> BLEError {
        BLEError(.invalidArgument, message: message, activity: activity)
    }
}

/// A service that this program offers.
public struct LocalService: Sendable, Hashable {
    /// The UUID of the service.
    public var uuid: BluetoothUUID
    /// The characteristics of the service.
    public var characteristics: [LocalCharacteristic]

    /// Creates a service.
    public init(_ uuid: BluetoothUUID, _ characteristics: [LocalCharacteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// A characteristic that this program offers. Its UUID must be unique within the peripheral.
public struct LocalCharacteristic: Sendable, Hashable {
    /// The length limit of a value in bytes, by the ATT specification.
    public static let longestValue = 512

    /// The operations that a characteristic supports, in bluetoothd's notation.
    public enum Flag: String, Sendable, Hashable, CaseIterable {
        /// The value can be read.
        case read
        /// The value can be written, and the write is confirmed.
        case write
        /// The value can be written without confirmation.
        case writeWithoutResponse = "write-without-response"
        /// Changes of the value are notified.
        case notify
        /// Changes of the value are indicated, and the central confirms them.
        case indicate
    }

    /// The way by which notifications reach centrals, and writes reach this program.
    public enum Delivery: Sendable, Hashable {
        /// Each notification goes to all subscribers, truncated to each one's MTU.
        case toAll
        /// Each subscriber has its own socket, and can be notified individually. Before BlueZ 5.69 all subscribers
        /// share one socket.
        ///
        /// If the characteristic has ``LocalCharacteristic/Flag/writeWithoutResponse``, writes arrive over a socket
        /// as well: a write is confirmed before it is handled, can't be refused, and may arrive after
        /// ``PeripheralEvent/disconnected(_:)``.
        case toEach
    }

    /// The UUID of the characteristic.
    public var uuid: BluetoothUUID
    /// The operations that the characteristic supports.
    public var flags: Set<Flag>
    /// The value for reads until another value is written, notified or set.
    public var value: [UInt8]
    /// The way by which notifications and writes are delivered.
    public var delivery: Delivery

    /// Creates a characteristic.
    public init(_ uuid: BluetoothUUID, _ flags: Set<Flag>, value: [UInt8] = [], delivery: Delivery = .toAll) {
        self.uuid = uuid
        self.flags = flags
        self.value = value
        self.delivery = delivery
    }

    var isWritable: Bool { flags.contains(.write) || flags.contains(.writeWithoutResponse) }
    var tells: Bool { flags.contains(.notify) || flags.contains(.indicate) }
}
