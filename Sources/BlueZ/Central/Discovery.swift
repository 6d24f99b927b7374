internal import DBus

/// The discovery of one adapter, which all scans of a client share.
///
/// It has a connection to the bus of its own: bluetoothd may refuse to end a discovery, but not when its client goes.
final class Discovery: @unchecked Sendable {
    // @unchecked: it is touched on the thread of its client's loop only.

    /// What each scan that goes on wants.
    var filters: [UInt64: ScanFilter] = [:]
    /// The connection over which bluetoothd was told to begin; nil where it was not.
    var bus: DBusConnection?
    /// The filter that bluetoothd has.
    var filter: [String: DBusValue]?
    /// The change that bluetoothd was asked for last: the next one waits for it.
    var change: Task<Result<Void, BLEError>, Never>?
}

extension BlueZ {
    /// Lets the adapter scan for what all who scan want, and stop when nobody does.
    @discardableResult
    func settle(
        _ discovery: Discovery, on adapter: BluetoothAddress
    ) -> Task<Result<Void, BLEError>, Never> {
        let change = Task(executorPreference: loop) { [previous = discovery.change] () -> Result<Void, BLEError> in
            _ = await previous?.value
            do throws(BLEError) {
                try await self.bringAbout(discovery, on: adapter)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        discovery.change = change
        return change
    }

    private func bringAbout(_ discovery: Discovery, on adapter: BluetoothAddress) async throws(BLEError) {
        guard !discovery.filters.isEmpty else { return await end(discovery, on: adapter) }
        let path = try poweredAdapter(adapter, activity: Self.scanning).path
        let filter = ScanFilter.merged(discovery.filters.values)
        if let bus = discovery.bus {
            if filter != discovery.filter { try await setFilter(filter, at: path, over: bus) }
            discovery.filter = filter
            return
        }
        let bus: DBusConnection
        do throws(DBusError) { bus = try await .open(address, on: loop, clock: clock) } catch {
            throw BLEError(error, activity: Self.scanning)
        }
        do throws(BLEError) {
            try await setFilter(filter, at: path, over: bus)
            try await begin(at: path, over: bus)
        } catch {
            await bus.close()
            throw error
        }
        discovery.bus = bus
        discovery.filter = filter
    }

    private func setFilter(
        _ filter: [String: DBusValue], at path: ObjectPath, over bus: DBusConnection
    ) async throws(BLEError) {
        let call = DBusCall(
            to: BlueZName.service, path, BlueZName.adapter, "SetDiscoveryFilter", [.properties(filter)])
        do throws(DBusError) { try await bus.call(call) } catch { throw BLEError(error, activity: Self.scanning) }
    }

    private func begin(at path: ObjectPath, over bus: DBusConnection) async throws(BLEError) {
        // The adapter may still be ending an earlier discovery.
        var pauses = BackOff.usual
        while true {
            do throws(BLEError) { return try await setDiscovering(true, at: path, over: bus) } catch {
                guard error.code == .busy, let pause = pauses.next() else { throw error }
                try? await clock.sleep(for: pause)
            }
        }
    }

    private func end(_ discovery: Discovery, on adapter: BluetoothAddress) async {
        guard let bus = discovery.bus else { return }
        discovery.bus = nil
        // Where that is refused it ends with its client.
        if let path = keeper.adapterPath(adapter) { try? await setDiscovering(false, at: path, over: bus) }
        await bus.close()
    }

    /// Has the discovery begin or end.
    ///
    /// An adapter of bluetoothd 5.66 has one call at a time to answer: of several clients that ask in the same moment only
    /// the last is answered. The discovery of the others begins or ends all the same; but one whose beginning was not
    /// answered they may not end. So it is also taken for an answer what the adapter tells.
    private func setDiscovering(
        _ isOn: Bool, at path: ObjectPath, over bus: DBusConnection
    ) async throws(BLEError) {
        let activity = isOn ? Self.scanning : "ending the scan"
        let outcome = Outcome<Void>()
        let keeper = keeper
        let isDone = { keeper.mirror[path, BlueZName.adapter]?["Discovering"]?.boolean == isOn }
        let observer = keeper.observe { change in
            guard case .changed(path, BlueZName.adapter, let names) = change, names.contains("Discovering"), isDone()
            else { return }
            outcome.finish(.success(()))
        }
        defer { keeper.stopObserving(observer) }
        let isOtherClients = isOn && isDone()
        let member = isOn ? "StartDiscovery" : "StopDiscovery"
        bus.ask(DBusCall(to: BlueZName.service, path, BlueZName.adapter, member)) { answer in
            outcome.finish(answer.map { _ in () }.mapError { BLEError($0, activity: activity) })
        }
        if isOtherClients {
            // What it refuses it refuses at once, before it answers this.
            let arguments: [DBusValue] = [.string(BlueZName.adapter), .string("Discovering")]
            bus.ask(DBusCall(to: BlueZName.service, path, BlueZName.properties, "Get", arguments)) { answer in
                if case .success = answer { outcome.finish(.success(())) }
            }
        }
        try await outcome.wait(activity: activity)
        // What it has told of until then is in the mirror when this is answered.
        _ = try? await self.bus.property("Discovering", of: BlueZName.adapter, at: path, of: BlueZName.service)
    }

    private static var scanning: String { "scanning" }
}

extension DBusConnection {
    /// Calls a method from its loop's thread; `handler` gets the answer in the order of the bus.
    fileprivate nonisolated func ask(
        _ call: DBusCall, then handler: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void
    ) {
        assumeIsolated { bus in
            do throws(DBusError) { try bus.call(call, then: handler) } catch { handler(.failure(error)) }
        }
    }
}

/// Pauses that grow, and an end of them.
struct BackOff {
    private var pause: Duration
    private var rest: Int

    /// 0.25 s and then twice as long each time, four times.
    static let usual = BackOff(first: .milliseconds(250), count: 4)

    init(first: Duration, count: Int) {
        pause = first
        rest = count
    }

    /// The next pause; nil when it is time to give up.
    mutating func next() -> Duration? {
        guard rest > 0 else { return nil }
        rest -= 1
        defer { pause *= 2 }
        return pause
    }
}
