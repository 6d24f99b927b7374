public import LineProtocol

/// The contract of `Link`: requirements on every link, each with a check of its own.
///
/// A check opens a new link with its far end, uses both, and reports the first deviation as a ``Finding``. The contract
/// needs no test library: a test expects that there are no findings.
///
///     // A terminal discards the last bytes of a device that vanishes.
///     let contract = LinkContract(abilities: .all.subtracting(.keepsLastBytes)) {
///         let terminal = try PseudoTerminal()
///         let far = DescriptorFarEnd(taking: terminal.descriptor) { terminal.close() }
///         return (try await openMyLink(to: terminal.path), far)
///     }
///     for finding in await contract.findings() { print(finding) }
///
/// The contract is for links that carry a stream of bytes: `Link.keepsPacketBounds` is false.
public struct LinkContract: Sendable {
    /// Abilities that some carriers lack.
    public struct Abilities: OptionSet, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Bytes that the far end sent before it vanished can still be received. A terminal discards them.
        public static let keepsLastBytes = Abilities(rawValue: 1)
        /// Sending waits while the far end does not read.
        public static let holdsSenderBack = Abilities(rawValue: 2)
        /// The far end can't send more than the carrier's buffers hold while nobody receives.
        public static let holdsFarEndBack = Abilities(rawValue: 4)
        /// All abilities.
        public static let all: Abilities = [.keepsLastBytes, .holdsSenderBack, .holdsFarEndBack]
    }

    /// A requirement with its check.
    public struct Requirement: Sendable, CustomStringConvertible {
        /// The required behaviour as a sentence, such as `Lines pass in both directions`.
        public let description: String
        let needs: Abilities
        let check: @Sendable (LinkBench) async throws -> Void

        init(
            _ description: String, needs: Abilities = [], check: @escaping @Sendable (LinkBench) async throws -> Void
        ) {
            self.description = description
            self.needs = needs
            self.check = check
        }
    }

    /// A requirement that a link does not meet.
    public struct Finding: Sendable, CustomStringConvertible {
        /// The description of the requirement.
        public let requirement: String
        /// The deviation, such as `received: 3 bytes, expected 4; the first 3 are right`.
        public let problem: String

        /// The requirement and the deviation, in one line.
        public var description: String { "\(requirement): \(problem)" }
    }

    /// All requirements.
    public static let requirements = passing + backPressure + cancelling + closing + forwarding + vanishing

    let abilities: Abilities
    let clock: any Clock<Duration>
    let limit: Duration
    let executor: (any TaskExecutor)?
    let open: @Sendable () async throws -> (link: any Link, far: any FarEnd)

    /// Creates the contract of the links that `open` opens.
    ///
    /// - Parameters:
    ///   - abilities: The abilities of the carrier. Requirements that need others are left out.
    ///   - limit: The time after which a check counts as failed, because a call has not returned. Some checks send 1
    ///     MiB, which takes 91 s at 115200 baud.
    ///   - clock: The clock of the limit and of short waits. Its time must pass without calls of the test; for a
    ///     ``SimulatedLoop``, use the loop's ``SimulatedClock``.
    ///   - executor: The executor of the checks, such as a ``SimulatedLoop``; nil for any thread.
    ///   - open: Opens a new link, and returns it with its far end. Buffers between them must hold less than 1 MiB.
    public init(
        abilities: Abilities = .all, limit: Duration = .seconds(120), clock: any Clock<Duration> = ContinuousClock(),
        executor: (any TaskExecutor)? = nil,
        open: @escaping @Sendable () async throws -> (link: any Link, far: any FarEnd)
    ) {
        self.abilities = abilities
        self.limit = limit
        self.clock = clock
        self.executor = executor
        self.open = open
    }

    /// Checks all requirements that fit the carrier, one after the other, and returns the deviations.
    ///
    /// A link that does not prevent SIGPIPE may end the process when it sends to a vanished far end.
    public func findings() async -> [Finding] {
        var findings: [Finding] = []
        for requirement in Self.requirements {
            if let finding = await finding(on: requirement) { findings.append(finding) }
        }
        return findings
    }

    /// Checks one requirement, and returns the deviation; nil if the link meets the requirement, or the carrier lacks
    /// an ability for it.
    public func finding(on requirement: Requirement) async -> Finding? {
        guard abilities.isSuperset(of: requirement.needs) else { return nil }
        // The first outcome counts. A broken link may ignore the cancellation of the check, so this function does not
        // wait for the check's end.
        let (outcomes, source) = AsyncStream.makeStream(of: Finding?.self)
        let check = Task(executorPreference: executor) {
            let problem = await problem(with: requirement)
            source.yield(problem.map { Finding(requirement: requirement.description, problem: $0) })
        }
        let timer = Task(executorPreference: executor) {
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            source.yield(Finding(requirement: requirement.description, problem: "a call did not return in \(limit)"))
        }
        defer {
            check.cancel()
            timer.cancel()
        }
        for await outcome in outcomes { return outcome }
        return Finding(requirement: requirement.description, problem: "the check was cancelled")
    }

    private func problem(with requirement: Requirement) async -> String? {
        do {
            let (link, far) = try await open()
            var problem: String?
            do {
                try await requirement.check(LinkBench(link: link, far: far, abilities: abilities, clock: clock))
            } catch {
                problem = "\(error)"
            }
            far.vanish()
            await link.close()
            return problem
        } catch {
            return "the link could not be opened: \(error)"
        }
    }
}
