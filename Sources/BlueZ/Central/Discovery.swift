internal import DBus

/// The discovery of one adapter, which all scans of a client share.
///
/// The discovery has its own connection to the bus: bluetoothd may refuse to stop a discovery, but always stops it when
/// its client leaves the bus.
final class Discovery: @unchecked Sendable {
    // @unchecked: all accesses are on the thread of the client's loop.

    /// The filters of the scans in progress, by the identifiers of their observers.
    var filters: [UInt64: ScanFilter] = [:]
    /// The connection over which the discovery was started; nil if there is no discovery.
    var bus: DBusConnection?
    /// The merged filter that bluetoothd has for this client.
    var filter: [String: DBusValue]?
    /// The last change that was requested from bluetoothd. The next change waits for its end.
    var change: Task<Result<Void, BLEError>, Never>?
}

extension BlueZ {
    /// Adjusts the adapter's discovery to the filters of all scans, or stops the discovery if there are no scans.
    ///
    /// - Returns: The task that adjusts the discovery, after earlier adjustments.
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

    /// Starts, changes or stops bluetoothd's discovery, as the filters of the scans require now.
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
        // The adapter may still be stopping an earlier discovery.
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
        // If bluetoothd refuses, the discovery ends with the connection.
        if let path = keeper.adapterPath(adapter) { try? await setDiscovering(false, at: path, over: bus) }
        await bus.close()
    }

    /// Starts or stops the discovery. Waits for the reply, at most for the default time-out of a call.
    ///
    /// bluetoothd 5.66 stores one pending call per adapter: if several clients call in the same moment, only the last
    /// one gets a reply. The discovery of the others starts or stops nevertheless, but bluetoothd may refuse to stop a
    /// discovery whose start was not answered. Therefore a change of the adapter's `Discovering` property counts as a
    /// reply as well.
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
            // `Discovering` does not change now, since another client's discovery runs. If bluetoothd refuses, it does
            // so at once, before it replies to this query. So a reply to the query means success.
            let arguments: [DBusValue] = [.string(BlueZName.adapter), .string("Discovering")]
            bus.ask(DBusCall(to: BlueZName.service, path, BlueZName.properties, "Get", arguments)) { answer in
                if case .success = answer { outcome.finish(.success(())) }
            }
        }
        try await outcome.wait(activity: activity)
        // When this query is answered, the mirror has all changes until now.
        _ = try? await self.bus.property("Discovering", of: BlueZName.adapter, at: path, of: BlueZName.service)
    }

    private static var scanning: String { "scanning" }
}

extension DBusConnection {
    /// Calls a method. `handler` gets the reply, in the order in which all messages arrive, or the error, also if the
    /// call can't be sent. Call this on the loop's thread.
    fileprivate nonisolated func ask(
        _ call: DBusCall, then handler: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void
    ) {
        assumeIsolated { bus in
            do throws(DBusError) { try bus.call(call, then: handler) } catch { handler(.failure(error)) }
        }
    }
}

/// Growing pauses for a limited number of retries.
struct BackOff {
    private var pause: Duration
    private var rest: Int

    /// Four pauses, of 0.25 s, 0.5 s, 1 s and 2 s.
    static let usual = BackOff(first: .milliseconds(250), count: 4)

    init(first: Duration, count: Int) {
        pause = first
        rest = count
    }

    /// Returns the next pause; nil to give up.
    mutating func next() -> Duration? {
        guard rest > 0 else { return nil }
        rest -= 1
        defer { pause *= 2 }
        return pause
    }
}
