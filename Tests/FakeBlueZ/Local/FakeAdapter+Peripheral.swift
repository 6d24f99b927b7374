internal import DBus

/// The adapter in the peripheral role, for the applications and advertisements of clients.
extension FakeAdapter {
    var gattManagerInterface: LiveInterface {
        let application = DBusArgument("application", "o")
        return LiveInterface(
            BlueZName.gattManager,
            methods: [
                bluez.method("RegisterApplication", [application, DBusArgument("options", "a{sv}")]) {
                    [self] call in
                    try await registerApplication(call.arguments[0].objectPath ?? .root, of: call.sender)
                    return []
                },
                bluez.method("UnregisterApplication", [application]) { [self] call in
                    let path = call.arguments[0].objectPath
                    guard let index = applications.firstIndex(where: { $0.client == call.sender && $0.path == path })
                    else { throw BlueZError.doesNotExist }
                    applications.remove(at: index).end()
                    return []
                },
            ])
    }

    var advertisingManagerInterface: LiveInterface {
        let advertisement = DBusArgument("advertisement", "o")
        return LiveInterface(
            BlueZName.advertisingManager,
            methods: [
                bluez.method("RegisterAdvertisement", [advertisement, DBusArgument("options", "a{sv}")]) {
                    [self] call in
                    try await registerAdvertisement(call.arguments[0].objectPath ?? .root, of: call.sender)
                    return []
                },
                bluez.method("UnregisterAdvertisement", [advertisement]) { [self] call in
                    let path = call.arguments[0].objectPath
                    guard
                        let index = advertisements.firstIndex(where: { $0.client == call.sender && $0.path == path })
                    else { throw BlueZError.doesNotExist }
                    advertisements.remove(at: index)
                    return []
                },
            ],
            properties: [
                .init("ActiveInstances", "y"), .init("SupportedInstances", "y"), .init("SupportedIncludes", "as"),
            ],
            [
                "ActiveInstances": .byte(0), "SupportedInstances": .byte(UInt8(clamping: advertisementLimit)),
                "SupportedIncludes": .strings(["tx-power", "appearance", "local-name"]),
            ])
    }

    private func registerApplication(_ path: ObjectPath, of client: String) async throws {
        func isThere() -> Bool { applications.contains { $0.client == client && $0.path == path } }
        if isThere() { throw BlueZError.alreadyExists }
        let application = try await Application.read(of: client, at: path, on: self)
        guard !isThere(), object != nil else {
            application.end()
            throw BlueZError.alreadyExists
        }
        applications.append(application)
    }

    private func registerAdvertisement(_ path: ObjectPath, of client: String) async throws {
        func isThere() -> Bool { advertisements.contains { $0.client == client && $0.path == path } }
        if isThere() { throw BlueZError.alreadyExists }
        guard advertisements.count < advertisementLimit else {
            throw BlueZError.notPermitted("Maximum advertisements reached")
        }
        guard let connection = bluez.connection,
            let properties = try? await connection.properties(
                of: BlueZName.advertisement, at: path, of: client)
        else { throw BlueZError.failed("Failed to parse advertisement.") }
        let advertisement = try RegisteredAdvertisement(of: client, at: path, properties, alias: name)
        guard isPowered else { throw BlueZError.failed("Failed to register advertisement") }
        if isThere() { throw BlueZError.alreadyExists }
        advertisements.append(advertisement)
    }

    /// Updates the radio's services from the registered applications.
    func showApplications() {
        let services = applications.flatMap(\.services)
        if ownRadio.services.map(ObjectIdentifier.init) != services.map(ObjectIdentifier.init) {
            ownRadio.services = services
        }
    }

    /// Updates the radio's advertisement from the registered ones that are on air, which it combines. If two of them
    /// differ in a value, that of the earlier registered one counts.
    func showAdvertisements() {
        let active = advertisements.filter { $0.isOnAir && isPowered }
        object?.set("ActiveInstances", of: BlueZName.advertisingManager, to: .byte(UInt8(clamping: active.count)))
        ownRadio.isConnectable = active.contains(where: \.isConnectable)
        var heard = Advertisement()
        for content in active.map(\.content) {
            heard.name = heard.name ?? content.name
            heard.services += content.services
            heard.manufacturerData.merge(content.manufacturerData) { first, _ in first }
            heard.serviceData.merge(content.serviceData) { first, _ in first }
            heard.appearance = heard.appearance ?? content.appearance
        }
        if ownRadio.advertisement != heard { ownRadio.advertisement = heard }
        if ownRadio.isAdvertising != !active.isEmpty { ownRadio.isAdvertising = !active.isEmpty }
    }

    /// Removes the applications and advertisements of the clients for which `isGone` returns true.
    func forgetLocal(where isGone: (String) -> Bool) {
        for application in applications where isGone(application.client) { application.end() }
        applications.removeAll { isGone($0.client) }
        advertisements.removeAll { isGone($0.client) }
    }

    /// Handles the connection of another adapter, the central, to this one.
    func accept(_ link: RadioLink, from central: FakeAdapter) {
        know(central.ownRadio).accept(link)
    }
}
