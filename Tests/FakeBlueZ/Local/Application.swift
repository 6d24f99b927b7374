internal import DBus

/// A GATT application registered by a client, with its objects as services on the radio.
@Radio
final class Application {
    let client: String
    let path: ObjectPath
    let services: [RadioService]
    private let attributes: [LocalCharacteristic]
    private var listening: Task<Void, Never>?

    /// Reads the objects of an application from its client. Objects that the client adds later are ignored.
    ///
    /// - Throws: `Failed` if the client does not reply, or no object is a service; `NotReady` if the fake is down; the
    ///   error of the connection if the fake goes down meanwhile.
    static func read(of client: String, at path: ObjectPath, on adapter: FakeAdapter) async throws -> Application {
        guard let connection = adapter.bluez.connection else { throw BlueZError.notReady }
        let call = DBusCall(to: client, path, BlueZName.objectManager, "GetManagedObjects")
        guard let objects = try? await connection.call(call).first?.dictionary?.entries else {
            throw BlueZError.failed("No object received")
        }
        let signals = try await connection.signals(
            matching: .propertiesChanged(sender: client, of: BlueZName.characteristic))
        let application = Application(client, path, ApplicationObjects(objects), on: adapter, connection)
        guard !application.services.isEmpty else { throw BlueZError.failed("No valid service object found") }
        application.listen(to: signals)
        return application
    }

    private init(
        _ client: String, _ path: ObjectPath, _ objects: ApplicationObjects, on adapter: FakeAdapter,
        _ connection: DBusConnection
    ) {
        self.client = client
        self.path = path
        var attributes: [LocalCharacteristic] = []
        services = objects.services.map { service in
            let local = objects.characteristics(of: service.path).map { characteristic in
                LocalCharacteristic(
                    characteristic, descriptors: objects.descriptors(of: characteristic.path), of: client, on: adapter,
                    connection)
            }
            attributes += local
            return RadioService(service.uuid, isPrimary: service.isPrimary, local.map(\.radio))
        }
        self.attributes = attributes
    }

    /// Notifies all subscribed centrals of each value that the client signals.
    private func listen(to signals: DBusSignals) {
        listening = Radio.begin { [attributes] in
            do {
                for try await signal in signals {
                    // `PropertiesChanged`: the interface, the changed properties, the names of the invalidated ones.
                    guard let value = signal.arguments[1].properties?["Value"]?.bytes else { continue }
                    attributes.first { $0.path == signal.path }?.say(value)
                }
            } catch {}  // the bus has closed, and the client with it
        }
    }

    func end() {
        listening?.cancel()
        for attribute in attributes { attribute.end() }
    }
}
