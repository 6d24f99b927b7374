internal import DescriptorIO
public import LineProtocol
public import Transports

/// Links to every phone in sight, one after the other as they come, up to what the adapter bears.
///
/// Each phone has a link and a claim of its own. One that fails, or leaves, is tried again later, and disturbs no other.
public actor PhoneGathering {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// How long one phone may take to be connected: the others wait meanwhile.
    private static let connectTime = Duration.seconds(20)
    /// How long a phone that could not be connected is left alone.
    private static let restTime = Duration.seconds(8)
    /// How long a search without a find takes.
    public static let searchTime = Duration.seconds(10)

    /// Serves a phone, until it leaves or there is nothing more to do. The link is closed for it.
    public typealias Service = @Sendable (any Link) async throws -> Void

    private nonisolated let loop: EventLoop
    private let clock: any Clock<Duration>
    private let survey: BLESurvey
    private let open: Reconnector.Opener
    private let tell: @Sendable (RelayEvent) -> Void
    private let service: Service
    /// Phones that are connected, or that are not to be connected for now.
    private var excluded: Set<String> = []
    private var linkCount = 0
    /// How many phones were served to the end of their service.
    public private(set) var servedCount = 0
    /// Why the last one that failed did.
    public private(set) var lastError: (any Error)?
    /// The search that is under way, and the wait for a connection to end.
    private var searching: Task<[BLESurvey.Sighting], any Error>?
    private var departures: [AsyncStream<Void>.Continuation] = []

    /// Links to the phones that an endpoint of any device means: `ble:*?family=rescue`.
    ///
    /// - Parameters:
    ///   - relay: Told who comes and leaves.
    ///   - open: Opens a link to a phone.
    ///   - service: What is done with each phone.
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

    /// Serves whoever comes, until the task is cancelled.
    ///
    /// - Throws: `LinkError` where it can't be searched from the start; `CancellationError`; what the service throws but for
    ///   `LinkError`.
    public func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
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

    /// Serves whoever comes for so long. That the time is over is no failure.
    ///
    /// - Throws: As ``run()``.
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
            // What came to the last is told all the same where it is not kept.
            if case .failure(let error as RescueStoreError) = result { throw error }
            return
        }
        try result.get()
    }

    /// Serves each phone in sight once, and ends when all are served and no other comes in sight.
    ///
    /// - Parameter patience: How long the first may take to come in sight.
    /// - Throws: As ``run()``.
    public func runOnce(for patience: Duration) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var patience = patience
            while true {
                let phones = try await search(for: patience)
                if phones.isEmpty { return }
                try await admit(phones, &group, isOnce: true)
                // Those that are still to come advertise every second or so.
                patience = .seconds(2)
            }
        }
    }

    private func search(for patience: Duration) async throws -> [BLESurvey.Sighting] {
        try Task.checkCancellation()
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
        // Somebody has left, who may be in sight again.
        if search.isCancelled { return [] }
        return try result.get()
    }

    // MARK: Phones

    private func admit(
        _ phones: [BLESurvey.Sighting], _ group: inout ThrowingDiscardingTaskGroup<any Error>, isOnce: Bool = false
    ) async throws {
        for phone in phones {
            while let link = try await open(phone, isOnce: isOnce) {
                group.addTask(executorPreference: loop) { try await self.serve(phone, link, isOnce: isOnce) }
                break
            }
        }
    }

    /// The link to a phone; nil where there is none. Waits where the adapter takes no more, until a phone leaves.
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
            result = .failure(error)
        }
        await link.close()
        linkCount -= 1
        if !Task.isCancelled { tell(.left(phone, isServed: isOnce)) }
        if !isOnce { excluded.remove(phone.address) }
        if !isOnce { searching?.cancel() }
        for departure in departures { departure.yield() }
        try result.get()
    }

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
    /// Whether waiting may mend what keeps from searching.
    fileprivate var isPassing: Bool { ![.invalidEndpoint, .unsupported, .cancelled, .notPermitted].contains(code) }
}
