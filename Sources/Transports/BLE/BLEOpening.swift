internal import BlueZ
internal import DBus
internal import DescriptorIO
internal import LineProtocol

/// Opens the device of a `ble:` endpoint within a time limit, in steps: search, claim, connect, pair, and, for a link,
/// subscribe. The steps for a link are in `link()`, and those for the device as a whole in `wholeDevice()`.
struct BLEOpening {
    /// The requirements in ``endpoint``, parsed.
    let wanted: BLEEndpoint
    /// The endpoint, whose text names the device in errors.
    let endpoint: Endpoint
    let bluez: BlueZ
    let use: BLEUse
    let locks: DeviceLocks
    /// The time since opening began.
    let elapsed: () -> Duration
    /// The time limit for opening; nil for the limits of the individual steps.
    private var limit: Duration? { use.openingLimit ?? (use.isPersistent ? ConnectPatience().total : nil) }
    /// The time that is left; nil without a limit. At least 1 ms, so that a step that begins too late fails by its own
    /// time limit.
    private var timeLeft: Duration? { limit.map { max($0 - elapsed(), .milliseconds(1)) } }

    /// Connects to bluetoothd and calls `body`. Disconnects from bluetoothd if `body` fails.
    static func run<Value: Sendable>(
        _ endpoint: Endpoint, on loop: EventLoop, bus: DBusBus, clock: (any Clock<Duration>)?, as use: BLEUse,
        locks: DeviceLocks, _ body: (BLEOpening) async throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        let wanted = try BLEEndpoint(endpoint, among: use.profiles)
        let clock = clock ?? EventLoopClock(loop)
        let elapsed = watch(clock)
        // If the system must start bluetoothd first, connecting may take half a minute.
        let bluez = try await within(use.openingLimit, of: use.openingLimit, endpoint, loop, clock) {
            () throws(BLEError) in
            try await BlueZ.open(bus, on: loop, clock: clock)
        }
        let opening = BLEOpening(
            wanted: wanted, endpoint: endpoint, bluez: bluez, use: use, locks: locks, elapsed: elapsed)
        do throws(LinkError) { return try await body(opening) } catch {
            await bluez.close()
            throw error
        }
    }

    /// Returns a function that measures the time from now on.
    private static func watch(_ clock: some Clock<Duration>) -> () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// The search for the device, within the time that is left.
    var search: BLESearch { BLESearch(wanted, memory: use.memory, patience: within(BLESearch.patience)) }

    /// Returns the shorter of a step's limit and the time that is left.
    func within(_ patience: Duration) -> Duration { timeLeft.map { min($0, patience) } ?? patience }

    /// Connects to a claimed device.
    func connect(_ device: Device, _ pairing: PairingAdvice) async throws(LinkError) -> ConnectedDevice {
        use.onStep?(.connecting(device.address))
        let usual = ConnectPatience()
        let patience = ConnectPatience(
            attempt: within(usual.attempt), total: within(usual.total), search: within(usual.search))
        let known = Set(use.profiles.all.flatMap(\.services))
        do throws(BLEError) { return try await device.connect(needing: known, patience: patience) } catch {
            var failure = LinkError(error, name: endpoint.text, pairing: pairing)
            if error.code == .timedOut {
                failure.detail =
                    "\(device.address) was not connected in \((limit ?? usual.total).inSeconds) s"
            }
            throw failure
        }
    }

    /// Claims a device.
    func claim(_ device: Device) async throws(LinkError) -> BLEClaim {
        var use = use
        use.patience = within(use.patience)
        return try await BLEClaim.take(device, as: use, in: locks, name: endpoint.text)
    }

    /// Performs a step that may take long, such as pairing with a connected device, within the time that is left.
    func finish<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(BLEError) -> Value, _ pairing: PairingAdvice
    ) async throws(LinkError) -> Value {
        try await Self.within(
            timeLeft, of: limit, endpoint, bluez.loop, bluez.clock, pairing: pairing, body)
    }

    /// Calls `body`, and cancels it when the time is over.
    ///
    /// - Parameters:
    ///   - rest: The time that is left; nil for no limit.
    ///   - limit: The limit of the whole opening, for the error.
    /// - Throws: `timedOut` when the time is over; otherwise the error of `body`.
    private static func within<Value: Sendable>(
        _ rest: Duration?, of limit: Duration?, _ endpoint: Endpoint, _ loop: EventLoop, _ clock: any Clock<Duration>,
        pairing: PairingAdvice? = nil, _ body: @escaping @Sendable () async throws(BLEError) -> Value
    ) async throws(LinkError) -> Value {
        // Start the clock before the tasks, which may begin late.
        let watch = SessionClock(clock)
        let work = Task(executorPreference: loop) { () -> Result<Value, BLEError> in
            do throws(BLEError) { return .success(try await body()) } catch { return .failure(error) }
        }
        let timer = rest.map { rest in
            Task(executorPreference: loop) { () -> Bool in
                guard (try? await watch.sleep(rest)) != nil, !Task.isCancelled else { return false }
                work.cancel()
                return true
            }
        }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        timer?.cancel()
        let isOver = await timer?.value ?? false
        do throws(BLEError) { return try result.get() } catch {
            guard error.code == .cancelled, !Task.isCancelled, isOver else {
                throw pairing.map { LinkError(error, name: endpoint.text, pairing: $0) }
                    ?? LinkError(error, name: endpoint.text)
            }
            throw LinkError(
                .timedOut, name: endpoint.text, activity: "open",
                detail: "\(error.activity) took longer than \((limit ?? .zero).inSeconds) s",
                hint: pairing.map(\.possibility))
        }
    }
}
