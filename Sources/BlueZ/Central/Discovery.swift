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
            try await call(path, BlueZName.adapter, "StopDiscovery", activity: "ending the scan")
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
                try await call(path, BlueZName.adapter, "StartDiscovery", activity: activity)
                discovery.isOn = true
                return
            } catch {
                guard error.code == .busy, let pause = pauses.next() else { throw error }
                try? await clock.sleep(for: pause)
            }
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
