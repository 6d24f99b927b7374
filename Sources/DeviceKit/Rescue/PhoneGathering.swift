internal import DescriptorIO
public import LineProtocol
public import Transports

/// Connects to every phone in range, one after the other as they appear, up to the limit of the adapter.
///
/// Each phone has a link of its own, which may fail without effect on the links of other phones. A phone that fails or
/// leaves is connected again later, except in ``runOnce(for:)``.
public actor PhoneGathering {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The longest time to connect to one phone. Phones that are not connected yet wait during that time.
    private static let connectTime = Duration.seconds(20)
    /// The pause after a failed connection before the phone is tried again, and after a failed search.
    private static let restTime = Duration.seconds(8)
    /// The longest search for a phone.
    public static let searchTime = Duration.seconds(10)

    /// Serves a phone until it leaves or nothing is left to do. The gathering closes the link.
    public typealias Service = @Sendable (any Link) async throws -> Void

    private nonisolated let loop: EventLoop
    private let clock: any Clock<Duration>
    /// Searches for phones.
    private let survey: BLESurvey
    private let open: Reconnector.Opener
    private let tell: @Sendable (RelayEvent) -> Void
    private let service: Service
    /// The addresses of phones that a search ignores: connected phones, phones to which connecting has just failed, and
    /// in ``runOnce(for:)`` all phones that were tried.
    private var excluded: Set<String> = []
    /// The number of open links.
    private var linkCount = 0
    /// The number of phones whose service has ended without an error.
    public private(set) var servedCount = 0
    /// The error of the last phone that could not be connected or served; nil if there was none.
    public private(set) var lastError: (any Error)?
    /// The error that ends the gathering: the first error of a service other than a failure of its link, or a later
    /// `RescueStoreError`; nil if there is none.
    private var failure: (any Error)?
    /// The running search; nil if none is running.
    private var searching: Task<[BLESurvey.Sighting], any Error>?
    /// The stream of the caller that waits, or has waited last, for a phone to leave; empty if none has waited.
    private var departures: [AsyncStream<Void>.Continuation] = []

    /// Creates a gathering for an endpoint that means any device: `ble:*?family=rescue`.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - relay: The relay that receives the events.
    ///   - open: Opens a link to a phone.
    ///   - service: Serves each phone.
    /// - Throws: `LinkError` with `invalidEndpoint`.
    public init(
        _ endpoint: Endpoint, for relay: MessageRelay, open: @escaping Reconnector.Opener, _ service: @escaping Service
    ) throws(LinkError) {
        survey = try BLESurvey(endpoint, among: .families)
        self.open = open
        self.service = service
        loop = relay.loop
        clock = relay.clock
        tell = relay.tell
    }

    /// Serves phones until the task is cancelled.
    ///
    /// - Throws: `LinkError` if the first search fails, or if a later one fails for a reason that waiting does not end;
    ///   `CancellationError`; errors of the service other than `LinkError`.
    public func run() async throws {
        try await withServices { group in
            var hasSearched = false
            while true {
                do {
                    let phones = try await search(for: Self.searchTime)
                    if phones.isEmpty, !hasSearched {
                        tell(.nobodyInSight)
                    }
                    hasSearched = true
                    try await admit(phones, &group)
                } catch let error as LinkError where hasSearched && error.isPassing {
                    tell(.searchFails(error))
                    try await clock.sleep(for: Self.restTime)
                }
            }
        }
    }

    /// Serves phones for a time. Reaching the end of the time is no failure.
    ///
    /// - Throws: The errors of ``run()``.
    public func run(for time: Duration) async throws {
        let serving = Task(executorPreference: loop) { try await self.run() }
        let timer = Task(executorPreference: loop) { [clock] in
            if (try? await clock.sleep(for: time)) != nil { serving.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await serving.result
        } onCancel: {
            serving.cancel()
        }
        timer.cancel()
        if serving.isCancelled, !Task.isCancelled {
            // The caller must still learn that the last messages are not stored.
            if case .failure(let error as RescueStoreError) = result { throw error }
            return
        }
        try result.get()
    }

    /// Tries to serve each phone in range once, and ends when that is done and no further phone appears.
    ///
    /// - Parameter patience: The longest wait for the first phone.
    /// - Throws: The errors of ``run()``.
    public func runOnce(for patience: Duration) async throws {
        try await withServices { group in
            var patience = patience
            while true {
                let phones = try await search(for: patience)
                if phones.isEmpty { return }
                try await admit(phones, &group, isOnce: true)
                // The remaining phones advertise about once a second.
                patience = .seconds(2)
            }
        }
    }

    /// Runs `body`, which adds services to a group.
    ///
    /// - Throws: The `RescueStoreError` of any service: messages are not stored. Otherwise the error of `body`, or of
    ///   another service.
    private func withServices(
        _ body: (inout ThrowingDiscardingTaskGroup<any Error>) async throws -> Void
    ) async throws {
        do {
            try await withThrowingDiscardingTaskGroup { try await body(&$0) }
        } catch {
            throw failure as? RescueStoreError ?? error
        }
    }

    /// Returns the phones in range that are not excluded; none if no phone appears within `patience`, or if an excluded
    /// phone was released during the search.
    ///
    /// - Throws: Also the error of a service, which ends the gathering.
    private func search(for patience: Duration) async throws -> [BLESurvey.Sighting] {
        try Task.checkCancellation()
        if let failure { throw failure }
        let search = Task(executorPreference: loop) { [survey, excluded, loop] in
            try await survey.devices(except: excluded, for: patience, on: loop)
        }
        searching = search
        defer { searching = nil }
        let result = await withTaskCancellationHandler {
            await search.result
        } onCancel: {
            search.cancel()
        }
        try Task.checkCancellation()
        if let failure { throw failure }
        // The search was cancelled because a phone that it ignored may be connected again: the caller searches again.
        if search.isCancelled { return [] }
        return try result.get()
    }

    // MARK: Phones

    /// Connects to the phones one after the other, and starts to serve each in a task of the group.
    private func admit(
        _ phones: [BLESurvey.Sighting], _ group: inout ThrowingDiscardingTaskGroup<any Error>, isOnce: Bool = false
    ) async throws {
        for phone in phones where failure == nil {
            while let link = try await open(phone, isOnce: isOnce) {
                group.addTask(executorPreference: loop) { try await self.serve(phone, link, isOnce: isOnce) }
                break
            }
        }
    }

    /// Opens a link to a phone. Returns nil if opening fails. If the adapter accepts no more connections, waits until a
    /// phone leaves.
    private func open(_ phone: BLESurvey.Sighting, isOnce: Bool) async throws -> (any Link)? {
        excluded.insert(phone.address)
        while true {
            do {
                let link = try await connect(phone)
                linkCount += 1
                return link
            } catch let error as LinkError where error.code == .unavailable && linkCount > 0 {
                tell(.waits(phone, error))
                try await untilSomebodyLeaves()
            } catch let error as LinkError where error.code != .cancelled {
                lastError = error
                tell(.notConnected(phone, error))
                if !isOnce { letRest(phone) }
                return nil
            }
        }
    }

    /// Opens a link to a phone within ``connectTime``.
    private func connect(_ phone: BLESurvey.Sighting) async throws -> any Link {
        let connecting = Task(executorPreference: loop) { [open] in try await open(phone.endpoint) }
        let timer = Task(executorPreference: loop) { [clock] in
            if (try? await clock.sleep(for: Self.connectTime)) != nil { connecting.cancel() }
        }
        defer { timer.cancel() }
        let result = await withTaskCancellationHandler {
            await connecting.result
        } onCancel: {
            connecting.cancel()
        }
        if Task.isCancelled, case .success(let link) = result { await link.close() }
        try Task.checkCancellation()
        guard connecting.isCancelled, case .failure = result else { return try result.get() }
        throw LinkError(.timedOut, name: phone.endpoint.text, activity: "connect")
    }

    /// Serves a phone, and closes its link. A `LinkError` ends only this phone's service; other errors are thrown and
    /// end the gathering.
    private func serve(_ phone: BLESurvey.Sighting, _ link: any Link, isOnce: Bool) async throws {
        tell(.came(phone))
        let result: Result<Void, any Error>
        do {
            try await service(link)
            servedCount += 1
            result = .success(())
        } catch let error as LinkError where error.code != .cancelled {
            lastError = error
            result = .success(())
        } catch {
            if failure == nil || error is RescueStoreError { failure = error }
            result = .failure(error)
        }
        await link.close()
        linkCount -= 1
        if !Task.isCancelled { tell(.left(phone, isServed: isOnce)) }
        if !isOnce { excluded.remove(phone.address) }
        if !isOnce || failure != nil { searching?.cancel() }
        for departure in departures { departure.yield() }
        try result.get()
    }

    /// Lets the search find a phone again after ``restTime``.
    private func letRest(_ phone: BLESurvey.Sighting) {
        Task(executorPreference: loop) { [clock] in
            try await clock.sleep(for: Self.restTime)
            await self.endRest(of: phone.address)
        }
    }

    private func endRest(of address: String) {
        excluded.remove(address)
        searching?.cancel()
    }

    private func untilSomebodyLeaves() async throws {
        let (changes, departure) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        departures = [departure]
        for await _ in changes { return }
        throw CancellationError()
    }
}

extension LinkError {
    /// Whether a search that failed with this error may succeed later.
    fileprivate var isPassing: Bool { ![.invalidEndpoint, .unsupported, .cancelled, .notPermitted].contains(code) }
}
