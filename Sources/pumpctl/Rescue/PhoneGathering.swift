import DescriptorIO
import LineProtocol
import Transports

/// Links to every phone in sight, one after the other as they come, up to what the adapter bears.
///
/// Each phone has a link and a claim of its own. One that fails, or leaves, is tried again later, and disturbs no other.
actor PhoneGathering {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// How long one phone may take to be connected: the others wait meanwhile.
    private static let connectTime = Duration.seconds(20)
    /// How long a phone that could not be connected is left alone.
    private static let restTime = Duration.seconds(8)
    /// How long a search without a find takes.
    static let searchTime = Duration.seconds(10)

    /// Serves a phone, until it leaves or there is nothing more to do. The link is closed for it.
    typealias Service = @Sendable (any Link) async throws -> Void

    private nonisolated let loop: EventLoop
    private let context: CommandContext
    private let survey: BLESurvey
    private let use: LinkUse
    private let service: Service
    /// Phones that are connected, or that are not to be connected for now.
    private var excluded: Set<String> = []
    private var linkCount = 0
    /// How many phones were served to the end of their service.
    private(set) var servedCount = 0
    /// Why the last one that failed did.
    private(set) var lastError: (any Error)?
    /// The search that is under way, and the wait for a connection to end.
    private var searching: Task<[BLESurvey.Sighting], any Error>?
    private var departures: [AsyncStream<Void>.Continuation] = []

    /// - Parameters:
    ///   - use: What the links are for.
    ///   - service: What is done with each phone.
    init(_ context: CommandContext, for use: LinkUse, _ service: @escaping Service) throws {
        self.context = context
        self.use = use
        self.service = service
        loop = context.loop
        survey = try BLESurvey(context.endpoint())
    }

    /// Serves whoever comes, until the task is cancelled.
    ///
    /// - Throws: `LinkError` where it can't be searched from the start; `CancellationError`; what the service throws but for
    ///   `LinkError`.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var hasSearched = false
            while true {
                do {
                    let phones = try await search(for: Self.searchTime)
                    if phones.isEmpty, !hasSearched {
                        context.output.note("pumpctl: no phone is in sight yet; waiting for one")
                    }
                    hasSearched = true
                    try await admit(phones, &group)
                } catch let error as LinkError where hasSearched && error.isPassing {
                    context.output.note("pumpctl: \(error); waiting until that is mended")
                    try await context.clock.sleep(for: Self.restTime)
                }
            }
        }
    }

    /// Serves each phone in sight once, and ends when all are served and no other comes in sight.
    ///
    /// - Parameter patience: How long the first may take to come in sight.
    /// - Throws: As ``run()``.
    func runOnce(for patience: Duration) async throws {
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
                context.output.note("pumpctl: \(phone.title) has to wait until another leaves: \(error)")
                try await untilSomebodyLeaves()
            } catch let error as LinkError where error.code != .cancelled {
                lastError = error
                context.output.note("pumpctl: \(phone.title): \(error)", hint: error.hint)
                if !isOnce { letRest(phone) }
                return nil
            }
        }
    }

    private func connect(_ phone: BLESurvey.Sighting) async throws -> any Link {
        let connecting = Task(executorPreference: loop) { [context, use] in
            try await context.openLink(phone.endpoint, for: use, note: context.output.note)
        }
        let timer = Task(executorPreference: loop) { [context] in
            if (try? await context.clock.sleep(for: Self.connectTime)) != nil { connecting.cancel() }
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
        tell("came", phone, "is connected")
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
        if !Task.isCancelled { tell("left", phone, isOnce ? "is served" : "has left") }
        if !isOnce { excluded.remove(phone.address) }
        if !isOnce { searching?.cancel() }
        for departure in departures { departure.yield() }
        try result.get()
    }

    private func letRest(_ phone: BLESurvey.Sighting) {
        Task(executorPreference: loop) { [context] in
            try await context.clock.sleep(for: Self.restTime)
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

    private func tell(_ event: String, _ phone: BLESurvey.Sighting, _ words: String) {
        context.output.note("pumpctl: \(phone.title) \(words)")
        context.output.record(PhoneRecord(event: event, port: "ble:\(phone.address)", name: phone.name))
    }
}

extension BLESurvey.Sighting {
    /// The phone as people are told of it.
    fileprivate var title: String { (name.map { "\($0.printable()) " } ?? "") + "(ble:\(address))" }
}

extension LinkError {
    /// Whether waiting may mend what keeps from searching.
    fileprivate var isPassing: Bool { ![.invalidEndpoint, .unsupported, .cancelled, .notPermitted].contains(code) }
}

/// A phone that has come or left, as programs are told of it.
private struct PhoneRecord: Encodable {
    var event: String
    var port: String
    var name: String?
}
