/// What a device offers to centrals, as data.
///
/// ```swift
/// let module = PeripheralDescription(
///     name: "HMSoft",
///     services: [LocalService("FFE0", [LocalCharacteristic("FFE1", [.read, .writeWithoutResponse, .notify])])])
/// ```
public struct PeripheralDescription: Sendable, Hashable {
    /// What the advertisement calls it; nil for an advertisement without a name.
    ///
    /// Once connected, a central may read another: bluetoothd answers with the adapter's alias, and iPhones remember it.
    public var name: String?
    /// What centrals find once they are connected.
    public var services: [LocalService]
    /// The services that centrals see before they connect.
    public var advertisedServices: [BluetoothUUID]

    /// A device that advertises all its services, unless told which.
    public init(name: String?, services: [LocalService], advertisedServices: [BluetoothUUID]? = nil) {
        self.name = name
        self.services = services
        self.advertisedServices = advertisedServices ?? services.map(\.uuid)
    }

    /// What the advertisement takes of the room there is.
    public var budget: AdvertisementBudget { AdvertisementBudget(name: name, services: advertisedServices) }

    /// What its errors are about.
    var activity: String { name.map { "offering \($0)" } ?? "offering a device" }

    /// - Throws: ``BLEError`` with ``BLEError/Code/invalidArgument`` where it can't be offered as it is.
    func check() throws(BLEError) {
        try budget.check(activity: activity)
        var known: Set<BluetoothUUID> = []
        for characteristic in services.flatMap(\.characteristics) {
            let uuid = characteristic.uuid
            guard known.insert(uuid).inserted else {
                throw invalid("there are two characteristics \(uuid), which could not be told apart")
            }
            guard characteristic.value.count <= LocalCharacteristic.longestValue else {
                throw invalid("the value of \(uuid) is longer than \(LocalCharacteristic.longestValue) bytes")
            }
        }
        if services.isEmpty { throw invalid("it has no service") }
    }

    private func invalid(_ message: String) -> BLEError {
        BLEError(.invalidArgument, message: message, activity: activity)
    }
}

/// A service that this program offers.
public struct LocalService: Sendable, Hashable {
    public var uuid: BluetoothUUID
    public var characteristics: [LocalCharacteristic]

    public init(_ uuid: BluetoothUUID, _ characteristics: [LocalCharacteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// A characteristic that this program offers; its UUID is its only one in the device.
public struct LocalCharacteristic: Sendable, Hashable {
    /// The most bytes that a value has, by the specification of ATT.
    public static let longestValue = 512

    /// What a central may do with it, by bluetoothd's words.
    public enum Flag: String, Sendable, Hashable, CaseIterable {
        case read
        /// Written, and the central is told that it was.
        case write
        case writeWithoutResponse = "write-without-response"
        case notify
        /// Told of, and the central confirms it.
        case indicate
    }

    /// How notifications get to centrals, and what they write gets here.
    public enum Delivery: Sendable, Hashable {
        /// Each notification goes to all that have subscribed, cut to what fits each one's packets.
        case toAll
        /// Each subscriber has a socket of its own, by which it alone is answered. Before BlueZ 5.69 there is one socket
        /// for all of them.
        ///
        /// What is written comes through a socket too where it may be written without response: it is confirmed to the
        /// central before it was handled, can't be refused, and may come behind the news that the central has left.
        case toEach
    }

    public var uuid: BluetoothUUID
    public var flags: Set<Flag>
    /// What is read, until something is written or notified.
    public var value: [UInt8]
    public var delivery: Delivery

    public init(_ uuid: BluetoothUUID, _ flags: Set<Flag>, value: [UInt8] = [], delivery: Delivery = .toAll) {
        self.uuid = uuid
        self.flags = flags
        self.value = value
        self.delivery = delivery
    }

    var isWritable: Bool { flags.contains(.write) || flags.contains(.writeWithoutResponse) }
    var tells: Bool { flags.contains(.notify) || flags.contains(.indicate) }
}
