internal import DBus

/// The discovery of one adapter: a connection to the bus may have one, which all its scans share.
final class Discovery: @unchecked Sendable {
    // @unchecked: it is touched on the thread of its client's loop only.

    /// What each scan that goes on wants.
    var filters: [UInt64: ScanFilter] = [:]
    /// Whether bluetoothd was told to begin.
    var isOn = false
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
        let activity = "scanning"
        guard !discovery.filters.isEmpty else {
            guard discovery.isOn else { return }
            discovery.isOn = false
            discovery.filter = nil
            let path = try poweredAdapter(adapter, activity: activity).path
            do throws(BLEError) { try await setDiscovering(false, at: path, activity: "ending the scan") } catch {
                guard error.code == .busy else { throw error }
                // One whose beginning it has not answered it lets nobody end: it goes on, and ends with its client.
                discovery.isOn = true
            }
            return
        }
        let path = try poweredAdapter(adapter, activity: activity).path
        let filter = ScanFilter.merged(discovery.filters.values)
        if filter != discovery.filter {
            try await call(
                path, BlueZName.adapter, "SetDiscoveryFilter", [.properties(filter)], activity: activity)
            discovery.filter = filter
        }
        guard !discovery.isOn else { return }
        // The adapter may still be ending an earlier discovery.
        var pauses = BackOff.usual
        while true {
            do throws(BLEError) {
                try await setDiscovering(true, at: path, activity: activity)
                discovery.isOn = true
                return
            } catch {
                guard error.code == .busy, let pause = pauses.next() else { throw error }
                try? await clock.sleep(for: pause)
            }
        }
    }

    /// Has the discovery begin or end.
    ///
    /// An adapter of bluetoothd 5.66 has one call at a time to answer: of several clients that ask in the same moment only
    /// the last is answered, and the others' discovery begins or ends all the same. So it is also taken for an answer what
    /// the adapter tells.
    private func setDiscovering(
        _ isOn: Bool, at path: ObjectPath, activity: String
    ) async throws(BLEError) {
        let outcome = Outcome<Void>(on: loop)
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
        keeper.call(DBusCall(to: BlueZName.service, path, BlueZName.adapter, member)) { answer in
            outcome.finish(answer.map { _ in () }.mapError { BLEError($0, activity: activity) })
        }
        if isOtherClients {
            // What it refuses it refuses at once, before it answers this.
            let arguments: [DBusValue] = [.string(BlueZName.adapter), .string("Discovering")]
            keeper.call(DBusCall(to: BlueZName.service, path, BlueZName.properties, "Get", arguments)) { answer in
                if case .success = answer { outcome.finish(.success(())) }
            }
        }
        try await outcome.wait(activity: activity)
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
